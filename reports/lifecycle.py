"""The only writer of report status, floor and rank, and of an item's list, rank and times.

    pending -> needs_review | judged_safe -> resolved
    judged_safe, resolved -> needs_review

Every function here runs inside the caller's transaction; what it is given came from `lock`.
"""

from collections.abc import Collection, Sequence

from django.db import connection
from django.db.models.functions import Now

from reports.models import Item, Report, Severity

Status = Report.Status

# (status, does the verdict let it pass as safe?) -> the status afterwards.
# A machine raises an item to a person; it never takes one away from a person.
AFTER_VERDICT: dict[tuple[str, bool], str] = {
    (Status.PENDING, True): Status.JUDGED_SAFE,
    (Status.PENDING, False): Status.NEEDS_REVIEW,
    (Status.JUDGED_SAFE, True): Status.JUDGED_SAFE,
    (Status.JUDGED_SAFE, False): Status.NEEDS_REVIEW,
    (Status.NEEDS_REVIEW, True): Status.NEEDS_REVIEW,
    (Status.NEEDS_REVIEW, False): Status.NEEDS_REVIEW,
    (Status.RESOLVED, True): Status.RESOLVED,
    (Status.RESOLVED, False): Status.RESOLVED,
}

# (status, does the decision send it back to review?) -> the status afterwards.
# Sending back what nobody has judged yet changes nothing: it still waits for its verdict.
AFTER_DECISION: dict[tuple[str, bool], str] = {
    (Status.PENDING, False): Status.RESOLVED,
    (Status.NEEDS_REVIEW, False): Status.RESOLVED,
    (Status.JUDGED_SAFE, False): Status.RESOLVED,
    (Status.RESOLVED, False): Status.RESOLVED,
    (Status.PENDING, True): Status.PENDING,
    (Status.NEEDS_REVIEW, True): Status.NEEDS_REVIEW,
    (Status.JUDGED_SAFE, True): Status.NEEDS_REVIEW,
    (Status.RESOLVED, True): Status.NEEDS_REVIEW,
}


def lock(report_id: int) -> Report:
    """The report under a row lock, its item locked before it: the one order that everyone keeps."""
    lock_item(Report.objects.values_list("item_id", flat=True).get(pk=report_id))
    return Report.objects.select_for_update(no_key=True).get(pk=report_id)


def apply_verdict(*, report: Report, safe: bool, severity: Severity) -> None:
    """Move a locked report after its current classification was written. Never below its floor."""
    report.status = AFTER_VERDICT[report.status, safe]
    report.rank = max(report.floor, severity)
    report.save(update_fields=["status", "rank"])
    place_item(item_id=report.item_id)


def lock_item(item_id: int) -> None:
    """The item's row lock, to be taken before those of its reports."""
    Item.objects.select_for_update(no_key=True).get(pk=item_id)


def lock_reports(item_id: int, report_ids: Collection[int]) -> list[Report]:
    """Some of an item's reports under row locks; the caller holds the item's."""
    chosen = Report.objects.filter(item_id=item_id, pk__in=report_ids)
    return list(chosen.select_for_update(no_key=True).order_by("id"))


def apply_decision(*, item_id: int, reports: Sequence[Report], reopen: bool, upheld: bool) -> None:
    """Move locked reports of one item after a person's decision about them was written.

    `upheld`: the person found a violation, which later reports of the item or author may know.
    """
    for report in reports:
        report.status = AFTER_DECISION[report.status, reopen]
    Report.objects.bulk_update(reports, ["status"])
    Report.objects.filter(pk__in=[report.pk for report in reports]).update(
        upheld_at=Now() if upheld else None
    )
    place_item(item_id=item_id, decided=True)


def raise_floor(*, report: Report, to: Severity, rule: str) -> None:
    """Raise a locked report's floor, naming the rule; a second call with the same rule does nothing."""
    if rule in report.floor_rules:
        return
    report.floor_rules = [*report.floor_rules, rule]
    report.floor = max(report.floor, to)
    report.rank = max(report.rank, report.floor)
    if report.status == Status.JUDGED_SAFE:
        # Another version's verdict came first; above a floor nothing passes as safe.
        report.status = Status.NEEDS_REVIEW
    report.save(update_fields=["floor", "floor_rules", "rank", "status"])
    place_item(item_id=report.item_id)


def place_item(*, item_id: int, decided: bool = False) -> None:
    """Put the item into its one list, by its reports as they stand.

    `decided`: a person has just decided, so it stands first among the resolved.

    Needs review if any report of it does, else pending, else judged safe, else resolved. Rank and
    since come from its open reports (pending or in review); where none is open, from those judged
    safe; where all are resolved, from all of them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PLACE, {"item": item_id, "decided": decided})


_PLACE = """
UPDATE reports_item SET list = placed.list, rank = placed.rank, since = placed.since,
    due_at = placed.due_at,
    resolved_at = CASE
        WHEN placed.list <> 'resolved' THEN NULL
        WHEN %(decided)s OR resolved_at IS NULL THEN clock_timestamp()
        ELSE resolved_at
    END
FROM (
    SELECT
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
    FROM reports_report WHERE item_id = %(item)s
) AS placed
WHERE id = %(item)s
"""
