"""The only writer of an item's list, rank and times: they follow from its reports as they stand."""

from collections.abc import Collection

from django.db import connection


def place_items(item_ids: Collection[int], *, decided: bool = False) -> None:
    """Put items into their one list each, by their reports as they stand.

    `decided`: a person has just decided, so they stand first among the resolved.

    Needs review if any report of it does, else pending, else judged safe, else resolved. Rank and
    since come from its open reports (pending or in review); where none is open, from those judged
    safe; where all are resolved, from all of them.
    """
    if item_ids:
        with connection.cursor() as cursor:
            cursor.execute(_PLACE, {"items": sorted(item_ids), "decided": decided})


_PLACE = """
UPDATE reports_item SET list = placed.list, rank = placed.rank, since = placed.since,
    due_at = placed.due_at,
    resolved_at = CASE
        WHEN placed.list <> 'resolved' THEN NULL
        WHEN %(decided)s OR resolved_at IS NULL THEN clock_timestamp()
        ELSE resolved_at
    END
FROM (
    SELECT item_id,
        CASE
            WHEN bool_or(status = 'needs_review') THEN 'needs_review'
            WHEN bool_or(status = 'pending') THEN 'pending'
            WHEN bool_or(status = 'judged_safe') THEN 'judged_safe'
            ELSE 'resolved'
        END AS list,
        coalesce(
            max(rank) FILTER (WHERE status IN ('needs_review', 'pending')),
            max(rank) FILTER (WHERE status = 'judged_safe'),
            max(rank)
        ) AS rank,
        coalesce(
            min(received_at) FILTER (WHERE status IN ('needs_review', 'pending')),
            min(received_at) FILTER (WHERE status = 'judged_safe'),
            min(received_at)
        ) AS since,
        min(due_at) FILTER (WHERE status = 'pending') AS due_at
    FROM reports_report WHERE item_id = ANY(%(items)s) GROUP BY item_id
) AS placed
WHERE id = placed.item_id
"""
