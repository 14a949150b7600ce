"""The only writer of report status, floor and rank; each move places the item anew.

    pending -> needs_review | judged_safe -> resolved
    judged_safe, resolved -> needs_review
    needs_review -> judged_safe, by a newer policy and while no person has had a hand in it
    back to what it was, where a decision is taken back

Every function here runs inside the caller's transaction; what it is given came from `lock`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection
from django.db.models.functions import Now

from reports import returns
from reports.models import Item, Report, Severity
from reports.peoples_hands import held_for_people, in_peoples_hands, resolved_by_people
from reports.placing import place_items

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


@dataclass(frozen=True)
class NewVerdict:
    """What lifecycle has to know of a current classification: does it pass as safe, how severe."""

    safe: bool
    severity: Severity


def lock(report_id: int) -> Report:
    """The report under a row lock, its item locked before it: the one order that everyone keeps."""
    return lock_many([report_id])[report_id]


def lock_many(report_ids: Collection[int]) -> dict[int, Report]:
    """Reports under row locks, by id; their items before them. Each kind in the order of its ids.

    Raises `Report.DoesNotExist` where one is missing.
    """
    items = Report.objects.filter(pk__any=report_ids).values("item_id")
    locked = Item.objects.filter(pk__in=items).select_for_update(no_key=True).order_by("id")
    list(locked.values_list("pk"))
    reports = Report.objects.filter(pk__any=report_ids).select_for_update(no_key=True)
    found = {report.pk: report for report in reports.only(*_READ).order_by("id")}
    if missing := set(report_ids) - set(found):
        raise Report.DoesNotExist(f"reports {sorted(missing)}")
    return found


# What is read of a locked report. A slice of a batch locks hundreds.
_READ = ("item", "status", "floor", "floor_rules", "rank", "upheld_at", "invalidated_at")


def apply_verdicts(
    *,
    reports: Mapping[int, Report],
    verdicts: Mapping[int, NewVerdict],
    historical: bool = False,
    may_pass: bool = True,
    taken: Collection[int] = (),
) -> set[int]:
    """Move locked reports after their current classifications were written. Never below a floor.

    `historical`: the verdicts are a batch's. They do not move what a person decided, nor what an
    older version had judged safe; ids of those where they find a violation are returned, to be
    listed. A report in review that passes as safe leaves it where no person has a hand in it, and
    only if the verdicts `may_pass` any. Of those `taken` from people so, a violation gives back.
    What an invalidation closed goes to people if an answer that was under way finds it severe,
    whoever has its item.
    """
    disagree: set[int] = set()
    passing = {
        report_id
        for report_id, verdict in verdicts.items()
        if historical
        and may_pass
        and verdict.safe
        and reports[report_id].status == Status.NEEDS_REVIEW
    }
    passing -= in_peoples_hands(passing) if passing else set()
    waiting = {
        report_id
        for report_id, verdict in verdicts.items()
        if verdict.safe and reports[report_id].status == Status.PENDING
    }
    held = held_for_people(waiting)
    kept = _kept_by_reporters([reports[each] for each in sorted(passing | waiting - held)])
    passing -= kept
    held |= kept
    closed = {
        report_id
        for report_id, verdict in verdicts.items()
        if not historical
        and verdict.severity >= Severity.HIGH
        and reports[report_id].status == Status.RESOLVED
        and reports[report_id].invalidated_at
    }
    closed -= resolved_by_people(closed)
    moved: list[Report] = []
    for report_id, verdict in verdicts.items():
        report = reports[report_id]
        before = report.status, report.rank
        report.rank = max(report.floor, verdict.severity)
        if report_id in passing:
            report.status = Status.JUDGED_SAFE
        elif report_id in closed:
            report.status = Status.NEEDS_REVIEW
        elif historical and report_id not in taken and _is_disagreement(report, verdict):
            disagree.add(report_id)
        else:
            passes = verdict.safe and report_id not in held
            report.status = AFTER_VERDICT[report.status, passes]
        if (report.status, report.rank) != before:
            moved.append(report)
    if moved:
        with connection.cursor() as cursor:
            cursor.execute(
                _MOVE,
                [
                    [report.pk for report in moved],
                    [str(report.status) for report in moved],
                    [int(report.rank) for report in moved],
                ],
            )
    place_items({report.item_id for report in moved})
    return disagree


def _kept_by_reporters(passing: Sequence[Report]) -> set[int]:
    """Of locked reports that would pass as safe: one of each item that several people bring back."""
    of_item: dict[int, list[Report]] = {}
    for report in passing:
        of_item.setdefault(report.item_id, []).append(report)
    leaving = {
        item_id: sum(each.status == Status.NEEDS_REVIEW for each in reports)
        for item_id, reports in of_item.items()
    }
    kept: set[int] = set()
    for due in returns.find_due(leaving, settled=False) if leaving else ():
        report = max(of_item[due.item_id], key=lambda each: (each.rank, each.pk))
        returns.open_return(due, report=report)
        kept.add(report.pk)
    return kept


def bring_back(item_id: int) -> None:
    """Send a report of a locked item back to people, once several of them reported the item anew.

    Called as a report comes in. Of those judged safe or resolved it is the most severe, then newest.
    """
    for due in returns.find_due({item_id: 0}, settled=True):
        settled = Report.objects.filter(
            item=item_id, status__in=[Status.JUDGED_SAFE, Status.RESOLVED], invalidated_at=None
        ).order_by("-rank", "-received_at", "-id")
        report = settled.select_related("item").select_for_update(of=("self",), no_key=True)[0]
        Report.objects.filter(pk=report.pk).update(status=Status.NEEDS_REVIEW)
        _settle_disagreements([report.pk])
        returns.open_return(due, report=report)


def _settle_disagreements(report_ids: Collection[int]) -> None:
    """What batches found in locked reports is before people now."""
    with connection.cursor() as cursor:
        cursor.execute(_SETTLE, [list(report_ids)])


# By the table's name, as in `reports.peoples_hands`.
_SETTLE = """
UPDATE classifier_disagreement SET state = 'settled', ended_at = statement_timestamp()
WHERE report_id = ANY(%s) AND state = 'open'
"""

_MOVE = """
UPDATE reports_report AS report SET status = moved.status, rank = moved.rank
FROM unnest(%s::bigint[], %s::text[], %s::smallint[]) AS moved (id, status, rank)
WHERE report.id = moved.id
"""


def _is_disagreement(report: Report, verdict: NewVerdict) -> bool:
    """A violation where the older version, or a person, found none."""
    if report.status == Status.JUDGED_SAFE:
        return not verdict.safe
    found_none = report.status == Status.RESOLVED and report.upheld_at is None
    return found_none and not verdict.safe and verdict.severity > Severity.NONE


def lock_item(item_id: int) -> Item:
    """The item under its row lock, to be taken before those of its reports."""
    return Item.objects.select_for_update(no_key=True).get(pk=item_id)


def lock_reports(item_id: int, report_ids: Collection[int]) -> list[Report]:
    """Some of an item's reports under row locks; the caller holds the item's."""
    chosen = Report.objects.filter(item_id=item_id, pk__any=report_ids)
    return list(chosen.select_for_update(no_key=True).order_by("id"))


def apply_decision(
    *, item_id: int, reports: Sequence[Report], reopen: bool, upheld: bool | None
) -> None:
    """Move locked reports of one item after a person's decision about them was written.

    `upheld`: the person found a violation, which later reports of the item or author may know; None
    for what is only proposed, which leaves that as it was.
    """
    for report in reports:
        report.status = AFTER_DECISION[report.status, reopen]
    Report.objects.bulk_update(reports, ["status"])
    if upheld is not None:
        Report.objects.filter(pk__in=[report.pk for report in reports]).update(
            upheld_at=Now() if upheld else None
        )
    returns.end_return(item_id)
    place_items({item_id}, decided=True)


@dataclass(frozen=True)
class Before:
    """How a report stood before a decision."""

    status: str
    upheld_at: datetime | None


def status_without_decision(was: str, *, safe: bool | None) -> str:
    """What a report's status would be had nobody decided: as it `was`, or as a verdict since says.

    `safe`: whether the current verdict lets it pass; None where it has none.
    """
    if was == Status.PENDING and safe is not None:
        return AFTER_VERDICT[was, safe]
    return was


def take_back(
    *,
    reports: Sequence[Report],
    before: Mapping[int, Before],
    safe: Mapping[int, bool],
    disputed: Collection[int],
    returned: Collection[int],
) -> None:
    """Put locked reports of one item back to how they stood before a decision.

    `safe` says of those with a current verdict whether it lets them pass; of the others that were
    judged safe, only those pass again whose verdict is `disputed`, and none whose floor rose since.
    Of those in which a person had found no violation, the `returned` stay before people: a newer
    verdict brought them there since. So does the one by which people brought the item back.
    """
    brought = returns.brought_back_by([report.pk for report in reports])
    held = held_for_people([report.pk for report in reports])
    for report in reports:
        was = before[report.pk]
        passes = safe.get(report.pk)
        report.status = status_without_decision(was.status, safe=passes)
        doubted = not passes and report.pk not in disputed
        if report.status == Status.JUDGED_SAFE and (doubted or report.floor or report.pk in held):
            report.status = Status.NEEDS_REVIEW
        came_back = report.pk in brought or (was.upheld_at is None and report.pk in returned)
        if report.status == Status.RESOLVED and came_back:
            report.status = Status.NEEDS_REVIEW
        report.upheld_at = was.upheld_at
    Report.objects.bulk_update(reports, ["status", "upheld_at"])
    place_items({report.item_id for report in reports})


def reopen(reports: Collection[Report]) -> None:
    """Send locked reports back to people, because a newer verdict found what none had found before.

    Their rank is right already: it follows the verdict, whatever the status.
    """
    Report.objects.filter(pk__in=[report.pk for report in reports]).update(
        status=Status.NEEDS_REVIEW
    )
    place_items({report.item_id for report in reports})


def close(reports: Collection[Report]) -> None:
    """Resolve locked reports that an invalidation names and no decision does."""
    Report.objects.filter(pk__any=[report.pk for report in reports]).update(status=Status.RESOLVED)
    place_items({report.item_id for report in reports})


def put_back(
    *, reports: Sequence[Report], before: Mapping[int, str], safe: Mapping[int, bool]
) -> None:
    """Put locked reports back to how they stood before they were closed, or as a verdict says since.

    `safe`: whether the current verdict lets it pass, or did so before a batch disagreed.
    """
    for report in reports:
        report.status = before[report.pk]
        if report.status == Status.JUDGED_SAFE and (report.floor or not safe[report.pk]):
            report.status = Status.NEEDS_REVIEW
    Report.objects.bulk_update(reports, ["status"])
    _settle_disagreements([each.pk for each in reports if each.status == Status.NEEDS_REVIEW])
    place_items({report.item_id for report in reports})


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
    place_items({report.item_id})
