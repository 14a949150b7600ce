"""New reports by several different people bring an item back that was judged safe or resolved.

So many as its sender says (`Sender.returns_from`), within the sender's time, all since the last
decision about the item that stands. Who had reported it before that decision was heard, and does
not count again; nor does a report without a reporter or one that was invalidated. While a return is
open there is no second. `reports.lifecycle` asks, and moves the one report that comes back.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models.functions import Now

from reports.models import Report, Return
from reports.reliability import read_reliability

MOST_COUNTED = 200
"""Beyond so many different people (or as many as bring back) nobody is counted."""


@dataclass(frozen=True)
class Due:
    """An item that several people bring back: their pseudonyms, and since when they were counted."""

    item_id: int
    since: datetime
    reporters: list[str]
    fresh: int


def find_due(leaving: Mapping[int, int], *, settled: bool) -> list[Due]:
    """Those of locked items that are to come back, in one statement.

    `leaving`: for each item how many of its reports would leave review now; what stays in review
    anyway is before people. `settled`: only items that have a judged-safe or resolved report.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _DUE,
            {
                "items": list(leaving),
                "leaving": list(leaving.values()),
                "settled": settled,
                "most": MOST_COUNTED,
            },
        )
        return [Due(*row) for row in cursor.fetchall()]


# Each step is only taken for the items that passed the one before: the count by the index alone,
# then the reports themselves.
_DUE = """
WITH asked AS MATERIALIZED (
    SELECT item.id, item.sender_id, sender.returns_from, decided.at AS decided_at,
        greatest(clock_timestamp() - sender.returns_within, decided.at) AS since
    FROM unnest(%(items)s::bigint[], %(leaving)s::int[]) AS asked (id, leaving)
    JOIN reports_item AS item ON item.id = asked.id
    JOIN reports_sender AS sender ON sender.id = item.sender_id
    CROSS JOIN LATERAL (
        SELECT max(created_at) AS at FROM reviews_decision AS decision
        WHERE item_id = item.id AND kind <> 'undo' AND NOT EXISTS (
            SELECT FROM reviews_decision WHERE overrides_id = decision.id AND kind = 'undo')
    ) AS decided
    WHERE NOT EXISTS (SELECT FROM reports_return WHERE item_id = item.id AND ended_at IS NULL)
        AND NOT EXISTS (SELECT FROM reports_report
            WHERE item_id = item.id AND status = 'needs_review' OFFSET asked.leaving)
        AND (NOT %(settled)s OR EXISTS (SELECT FROM reports_report
            WHERE item_id = item.id AND status IN ('judged_safe', 'resolved')
                AND invalidated_at IS NULL))
), reported AS MATERIALIZED (
    SELECT * FROM asked WHERE returns_from <= (
        SELECT count(*) FROM (SELECT FROM reports_report
            WHERE item_id = asked.id AND received_at > asked.since LIMIT asked.returns_from) AS newer)
)
SELECT reported.id, since, names, (
    SELECT count(*) FROM unnest(names) AS name WHERE (
        SELECT received_at FROM reports_report
        WHERE reporter_pseudonym = name AND reporter_pseudonym <> '' AND sender_id = reported.sender_id
        ORDER BY id LIMIT 1) > since)
FROM reported CROSS JOIN LATERAL (
    SELECT array_agg(name) AS names FROM (
        SELECT name FROM (
            SELECT DISTINCT reporter_pseudonym AS name FROM reports_report
            WHERE item_id = reported.id AND sender_id = reported.sender_id
                AND received_at > since AND reporter_pseudonym <> '' AND invalidated_at IS NULL
        ) AS different
        WHERE NOT EXISTS (SELECT FROM reports_report
            WHERE item_id = reported.id AND reporter_pseudonym = different.name
                AND received_at <= reported.decided_at)
        LIMIT greatest(returns_from, %(most)s)) AS unheard
) AS counted
WHERE cardinality(names) >= returns_from
"""


def open_return(due: Due, *, report: Report) -> Return:
    """Write down that the item came back by this report, and what is known of who brought it."""
    known = read_reliability(sender_id=report.item.sender_id, pseudonyms=due.reporters)
    return Return.objects.create(
        item_id=due.item_id,
        report=report,
        reporters=len(due.reporters),
        fresh=due.fresh,
        unreliable=sum(each.is_unreliable for each in known.values()),
        since=due.since,
    )


def end_return(item_id: int) -> None:
    """A person has decided about the item."""
    Return.objects.filter(item=item_id, ended_at=None).update(ended_at=Now())


def restore_return(item_id: int, *, since: datetime) -> None:
    """Open again what a decision of then ended that is taken back, unless a newer one is open."""
    of_item = Return.objects.filter(item=item_id)
    if not of_item.filter(ended_at=None).exists():
        ended = of_item.filter(ended_at__gte=since).order_by("-id").values("pk")[:1]
        Return.objects.filter(pk__in=ended).update(ended_at=None)


def brought_back_by(report_ids: Collection[int]) -> set[int]:
    """Those by which an open return brought their item back."""
    found = Return.objects.filter(report__any=report_ids, ended_at=None)
    return set(found.values_list("report", flat=True))
