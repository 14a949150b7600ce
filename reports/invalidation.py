"""Reports of one reporter who acted in bad faith count for nothing: a plan first, then slice by slice.

All of the scope are marked: they say nothing any more of their item, author or reporter. Of those
in review or judged safe some are closed as well: nothing severe was found in them, nobody has a hand
in their item, no decision names them and no model is reading them. The others go their way: what is
pending waits for its verdict like any other. What was marked and is still open can be named again,
once it may be closed. Everything can be put back.
"""
# ruff: noqa: S608 - the statements are put together from our own constants

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models.functions import Now

from reports import lifecycle
from reports.audit import write_audit
from reports.models import InvalidatedReport, Invalidation, Report, Sender, Severity
from reports.peoples_hands import IN_PEOPLES_HANDS

SLICE = 200


@dataclass(frozen=True)
class Scope:
    """Which reports of the reporter: received in [`since`, `until`), of one type of item; None: all.

    `limit`: so many at most, the oldest first.
    """

    since: datetime | None = None
    until: datetime | None = None
    item_type: str | None = None
    limit: int | None = None

    def as_json(self) -> dict[str, str | int]:
        chosen = {name: value for name, value in asdict(self).items() if value}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in chosen.items()
        }


@dataclass(frozen=True)
class Plan:
    """What would be marked, by status, and what would become of the open ones."""

    reports: int
    items: int
    marked: int
    """Another invalidation marked them before; this one closes them."""
    pending: int
    """They are only marked, and wait for their verdict."""
    needs_review: int
    judged_safe: int
    resolved: int
    closed: int
    severe: int
    """They stay as they are: severe, or named by a decision, or in somebody's hands."""
    decided: int
    in_hand: int
    oldest: datetime | None
    newest: datetime | None
    newest_id: int
    """Nothing that comes later is touched."""

    @property
    def key(self) -> str:
        """Another one, and the plan is another."""
        return f"{self.newest_id}.{self.reports}.{self.closed}"


class DecidedJustNowError(Exception):
    """Decisions about so many of the reports may still be taken back: try again in a minute."""


def plan_invalidation(*, sender: Sender, pseudonym: str, scope: Scope) -> Plan:
    """What `begin_invalidation` and `carry_out` would do; changes nothing."""
    with connection.cursor() as cursor:
        cursor.execute(_PLAN, _parameters(sender, pseudonym, scope))
        return Plan(*cursor.fetchone())


def begin_invalidation(  # noqa: PLR0913 - whose reports, which, why, and who says so
    *,
    sender: Sender,
    pseudonym: str,
    scope: Scope,
    plan: Plan,
    reason: str,
    actor: User | None = None,
    actor_name: str = "",
) -> Invalidation:
    """Write down what is going to be done, with the one audit row; `carry_out` does it."""
    with transaction.atomic():
        invalidation = Invalidation.objects.create(
            sender=sender,
            pseudonym=pseudonym,
            scope=scope.as_json(),
            reason=reason,
            actor=actor,
            actor_name=actor_name or (actor.get_username() if actor else ""),
        )
        write_audit(
            action="reports_invalidated",
            of=invalidation,
            actor=actor,
            actor_name=actor_name,
            detail={
                "sender": sender.name,
                "reporter": pseudonym,
                **scope.as_json(),
                "reports": plan.reports,
                "to_close": plan.closed,
            },
        )
    return invalidation


def carry_out(*, invalidation: Invalidation, scope: Scope, plan: Plan) -> Iterator[int]:
    """Mark the plan's reports and close what may be closed, a slice in a transaction; yields how many.

    What another invalidation marked meanwhile and may not be closed is left alone. Interrupted, the
    rest is for a new one: together they do what one would have done.
    """
    wanted = _parameters(invalidation.sender, invalidation.pseudonym, scope)
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_SLICE, {**wanted, "after": last, "newest": plan.newest_id})
            ids = [row[0] for row in cursor.fetchall()]
        if not ids:
            return
        last = ids[-1]
        yield _mark(invalidation, ids)


def _mark(invalidation: Invalidation, ids: list[int]) -> int:
    with transaction.atomic():
        reports = lifecycle.lock_many(ids)
        if not Invalidation.objects.select_for_update().filter(pk=invalidation.pk, revoked_at=None):
            return 0  # taken back by somebody meanwhile
        with connection.cursor() as cursor:
            cursor.execute(_FATES, [ids])
            fates = dict(cursor.fetchall())
        InvalidatedReport.objects.bulk_create(
            InvalidatedReport(
                invalidation=invalidation, report_id=each, status_before=reports[each].status
            )
            for each in fates
        )
        Report.objects.filter(pk__any=list(fates)).update(invalidated_at=Now())
        lifecycle.close([reports[each] for each, fate in fates.items() if fate == "closed"])
    return len(fates)


def revoke_invalidation(
    *, invalidation: Invalidation, actor: User | None = None, actor_name: str = ""
) -> Iterator[int]:
    """Put its reports back as they were, or as a verdict says since, slice by slice; yields how many.

    Each counts again, unless another invalidation that stands names it. What a decision resolved
    since stays resolved, and what a later invalidation closed stays closed. Interrupted, the same
    call does the rest. Raises `DecidedJustNowError` at the end where a decision may still be taken
    back.
    """
    last = 0
    while ids := _left(invalidation, after=last):
        yield _put_back(invalidation, ids)
        last = ids[-1]
    with transaction.atomic():
        # All of the reporter's, for of two that name one report the last to be revoked unmarks it.
        theirs = Invalidation.objects.filter(
            sender=invalidation.sender_id, pseudonym=invalidation.pseudonym, revoked_at=None
        )
        if invalidation not in theirs.select_for_update().order_by("pk"):
            return
        if left := len(_left(invalidation, after=0)):
            raise DecidedJustNowError(left)
        theirs.filter(pk=invalidation.pk).update(revoked_at=Now())
        write_audit(
            action="invalidation_revoked", of=invalidation, actor=actor, actor_name=actor_name
        )


def _left(invalidation: Invalidation, *, after: int) -> list[int]:
    """Ids of the next reports that are still to be put back or to count again."""
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, {"invalidation": invalidation.pk, "after": after})
        return [row[0] for row in cursor.fetchall()]


def _put_back(invalidation: Invalidation, ids: list[int]) -> int:
    with transaction.atomic():
        reports = lifecycle.lock_many(ids)
        with connection.cursor() as cursor:
            cursor.execute(_WAS, {"invalidation": invalidation.pk, "reports": ids})
            rows = cursor.fetchall()
        lifecycle.put_back(
            reports=[reports[row[0]] for row in rows if row[2]],
            before={row[0]: row[1] for row in rows},
            safe={row[0]: row[4] for row in rows},
        )
        again = [row[0] for row in rows if row[3]]
        Report.objects.filter(pk__any=again).update(invalidated_at=None)
    return len(rows)


def _parameters(sender: Sender, pseudonym: str, scope: Scope) -> dict[str, Any]:
    return {"sender": sender.pk, "reporter": pseudonym, **asdict(scope)}


_FATE = f"""
CASE
    WHEN report.status IN ('pending', 'resolved') THEN report.status
    WHEN report.rank >= {Severity.HIGH} THEN 'severe'
    WHEN EXISTS (SELECT FROM reviews_decidedreport WHERE report_id = report.id) THEN 'decided'
    WHEN {IN_PEOPLES_HANDS} OR EXISTS (SELECT FROM classifier_job
        WHERE report_id = report.id AND lease_until > clock_timestamp()) THEN 'in_hand'
    ELSE 'closed'
END
"""
_MAY_BE_NAMED = f"(report.invalidated_at IS NULL OR {_FATE} = 'closed')"

_THEIRS = f"""
FROM reports_report AS report JOIN reports_item AS item ON item.id = report.item_id
WHERE report.sender_id = %(sender)s
    AND report.reporter_pseudonym = %(reporter)s AND report.reporter_pseudonym <> ''
    AND (%(since)s::timestamptz IS NULL OR report.received_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR report.received_at < %(until)s)
    AND (%(item_type)s::text IS NULL OR item.type = %(item_type)s)
    AND {_MAY_BE_NAMED}
"""


def _count(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


_STATUSES = ("pending", "needs_review", "judged_safe", "resolved")
_PLAN = f"""
WITH theirs AS MATERIALIZED (
    SELECT report.id, report.item_id, report.status, report.received_at, report.invalidated_at,
        {_FATE} AS fate
    {_THEIRS}
    ORDER BY report.id LIMIT %(limit)s
)
SELECT count(*), count(DISTINCT item_id), count(invalidated_at),
    {", ".join(_count(f"status = '{each}'") for each in _STATUSES)},
    {", ".join(_count(f"fate = '{each}'") for each in ("closed", "severe", "decided", "in_hand"))},
    min(received_at), max(received_at), coalesce(max(id), 0)
FROM theirs
"""

_SLICE = f"""
SELECT report.id {_THEIRS} AND report.id > %(after)s AND report.id <= %(newest)s
ORDER BY report.id LIMIT {SLICE}
"""

_FATES = f"""
SELECT report.id, {_FATE} FROM reports_report AS report
WHERE report.id = ANY(%s) AND {_MAY_BE_NAMED}
"""

_NAMED_BY = """EXISTS (SELECT FROM reports_invalidatedreport AS also
    JOIN reports_invalidation AS whole ON whole.id = also.invalidation_id
    WHERE also.report_id = report.id AND whole.revoked_at IS NULL AND {})"""
_CLOSED_BY_IT = f"""(report.status = 'resolved' AND one.status_before <> 'resolved'
    AND NOT EXISTS (SELECT FROM reviews_decidedreport
        WHERE report_id = report.id AND is_resolved_by(decision_id))
    AND NOT {_NAMED_BY.format("whole.id > one.invalidation_id")})"""
_COUNTS_AGAIN = f"NOT {_NAMED_BY.format('whole.id <> one.invalidation_id')}"
# A decision that may still be taken back would bring its reports to how they stand now.
_UNDOABLE = """EXISTS (SELECT FROM reviews_decidedreport AS named
    JOIN reviews_decision AS decision ON decision.id = named.decision_id
    WHERE named.report_id = report.id AND decision.effective_at > clock_timestamp())"""
_ITS = """
FROM reports_invalidatedreport AS one JOIN reports_report AS report ON report.id = one.report_id
"""
_STILL_MARKED = "one.invalidation_id = %(invalidation)s AND report.invalidated_at IS NOT NULL"

_LEFT = f"""
SELECT report.id {_ITS}
WHERE {_STILL_MARKED} AND report.id > %(after)s
    AND ({_UNDOABLE} OR {_CLOSED_BY_IT} OR {_COUNTS_AGAIN})
ORDER BY report.id LIMIT {SLICE}
"""

# Of each: how it stood, whether it is to be put back, whether it counts again, and whether its
# current verdict lets it pass; one that a batch disagrees about passed before.
_WAS = f"""
SELECT report.id, one.status_before, {_CLOSED_BY_IT}, {_COUNTS_AGAIN},
    current.safe OR EXISTS (SELECT FROM classifier_disagreement
        WHERE classification_id = current.id AND state = 'open')
{_ITS}
LEFT JOIN classifier_classification AS current
    ON current.report_id = report.id AND NOT current.superseded
WHERE {_STILL_MARKED} AND report.id = ANY(%(reports)s)
    AND NOT {_UNDOABLE} AND ({_CLOSED_BY_IT} OR {_COUNTS_AGAIN})
"""
