"""What a person decides about an item: one transaction with its audit row."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from classifier.disagreements import settle_open
from classifier.models import PolicyVersion
from reports import lifecycle
from reports.audit import write_audit
from reports.models import Item, Report, Severity
from reviews.claims import refuse_if_held, release_item
from reviews.drafts import forget_draft
from reviews.models import Action, DecidedReport, Decision, DoubleReview, Hold
from reviews.quality.answers import refresh_answers
from reviews.roles import DECIDE_ESCALATED

if TYPE_CHECKING:
    from collections.abc import Sequence

Kind = Decision.Kind


class StaleDecisionError(Exception):
    """Somebody decided after the page was shown; `standing` is that row. Nothing was written."""

    def __init__(self, standing: Decision) -> None:
        super().__init__(f"decision {standing.pk} came first")
        self.standing = standing


class ToSettleError(Exception):
    """Two people found different things, and who wishes to decide anew is one of them."""


class EscalatedError(Exception):
    """The item is escalated, and this person may not decide such. Nothing was written."""

    def __init__(self, hold: Hold) -> None:
        super().__init__(f"item {hold.item_id} is escalated")
        self.hold = hold


class NothingToDecideError(Exception):
    """None of the named reports belongs to the item."""


@dataclass(frozen=True)
class Wish:
    """What the form says. `category` is blank where the action needs none; texts may be blank."""

    action: str
    """The slug of an `Action`."""
    category: str = ""
    note: str = ""
    reason: str = ""


def approval_of(proposal: Decision, *, note: str) -> Wish:
    """The wish of a second person who agrees to what stands proposed, in its words."""
    return Wish(proposal.action_id or "", proposal.category, note, proposal.reason or "")


def decide_item(  # noqa: PLR0913 - what is wished, and what its writer had seen
    *,
    item_id: int,
    reviewer: User,
    wish: Wish,
    report_ids: Collection[int],
    last_decision_id: int | None,
    keeps_draft: bool = False,
) -> Decision:
    """Decide about the reports whose content the reviewer had before them.

    `last_decision_id` is the item's newest row as the page showed it; another one by now raises
    `StaleDecisionError`, unless it is this very wish of the same person, sent twice. An earlier
    decision is overridden, never edited, and for all reports that it was about. Reports that came in
    meanwhile are not touched: nobody has seen them.

    Where the action needs a second person about content of this severity, the row is a proposal and
    the item waits in review for somebody else. Who wishes what somebody else proposed, and of no
    other reports, approves it. `keeps_draft`: the reviewer's draft says something else than the
    wish, and stays theirs. Raises `HeldByAnotherError`, `EscalatedError`, `ToSettleError` and
    `NothingToDecideError` as well.
    """
    with transaction.atomic():
        item = lifecycle.lock_item(item_id)
        newest = Decision.objects.filter(item=item_id).order_by("-id").first()
        if newest is not None and newest.pk != last_decision_id:
            # About reports that it left out the same words say something new.
            if _says(newest, reviewer, wish) and set(report_ids) <= _covered(newest):
                return newest
            raise StaleDecisionError(newest)
        refuse_if_held(item_id, reviewer)
        _refuse_if_escalated(item_id, reviewer)
        standing = Decision.objects.filter(item=item_id).standing().order_by("-id").first()
        _refuse_if_to_settle(item, standing, reviewer)
        covered = _covered(standing)
        repeats = (
            newest is not None and _says(newest, reviewer, wish) and set(report_ids) <= covered
        )
        if newest is not None and repeats and newest.kind == Kind.PROPOSAL:
            return newest  # it waits for somebody else already
        agrees = _agrees(standing, reviewer, wish) and set(report_ids) <= covered
        proposal = standing if agrees else None
        wanted = covered if proposal else {*report_ids, *covered}
        reports = lifecycle.lock_reports(item_id, wanted)
        if not proposal and not set(report_ids) & {report.pk for report in reports}:
            raise NothingToDecideError
        return _write(
            item=item,
            reviewer=reviewer,
            wish=wish,
            reports=reports,
            overrides=newest,
            approves=proposal,
            keeps_draft=keeps_draft,
        )


def _write(  # noqa: PLR0913 - one row has so many sides
    *,
    item: Item,
    reviewer: User,
    wish: Wish,
    reports: "Sequence[Report]",
    overrides: Decision | None,
    approves: Decision | None,
    keeps_draft: bool,
) -> Decision:
    """The row and all that follows from it, under the locks of the item and the reports."""
    action = Action.objects.get(pk=wish.action)
    version, category_severity = weigh(wish.category)
    severity = max(item.rank, category_severity)
    proposed = approves is None and action.needs_second(severity)
    decision = Decision.objects.create(
        item=item,
        reviewer=reviewer,
        kind=Kind.PROPOSAL if proposed else Kind.DECISION,
        action=action,
        category=wish.category,
        policy_version=version,
        severity=severity,
        note=wish.note,
        reason=wish.reason,
        overrides=overrides,
        approves=approves,
        effective_at=None if proposed else Now() + timedelta(seconds=settings.UNDO_SECONDS),
    )
    DecidedReport.objects.bulk_create(
        DecidedReport(
            decision=decision,
            report=report,
            status_before=report.status,
            upheld_before=report.upheld_at,
        )
        for report in reports
    )
    # After the decision's own time: an undo knows by it what the decision ended.
    Hold.objects.filter(item=item, ended_at=None).update(ended_at=Now())
    waits = waits_after(decision)
    if waits:
        Hold.objects.create(item=item, kind=waits, placed_by=reviewer, note=wish.note)
    lifecycle.apply_decision(
        item_id=item.pk,
        reports=reports,
        reopen=proposed or not action.resolves,
        upheld=None if proposed else action.upholds,
    )
    settle_open([report.pk for report in reports])
    refresh_answers([report.pk for report in reports])
    release_item(item.pk)
    if not keeps_draft:
        forget_draft(item_id=item.pk, reviewer=reviewer)
    write_audit(
        action=_audited_as(decision),
        of=item,
        actor=reviewer,
        detail={
            "decision": decision.pk,
            "action": wish.action,
            "category": wish.category,
            "reports": [str(report.public_id) for report in reports],
            "overrides": overrides.pk if overrides else None,
        },
    )
    return decision


def waits_after(decision: Decision) -> Hold.Kind | None:
    """For whom the item waits after it."""
    if decision.kind == Kind.PROPOSAL:
        return Hold.Kind.SECOND_APPROVAL
    escalates = decision.action and decision.action.outcome == Action.Outcome.ESCALATES
    return Hold.Kind.ESCALATED if escalates else None


def _audited_as(decision: Decision) -> str:
    if decision.approves_id:
        return "approved"
    waits = waits_after(decision)
    if waits == Hold.Kind.SECOND_APPROVAL:
        return "proposed"
    return "escalated" if waits else "decided"


def _refuse_if_escalated(item_id: int, reviewer: User) -> None:
    open_hold = Hold.objects.filter(item=item_id, ended_at=None, kind=Hold.Kind.ESCALATED)
    if not reviewer.has_perm(DECIDE_ESCALATED) and (hold := open_hold.first()):
        raise EscalatedError(hold)


def _refuse_if_to_settle(item: Item, standing: Decision | None, reviewer: User) -> None:
    """Of what is resolved: what is open again is decided like anything else, for more is known."""
    if standing is None or item.list != Item.List.RESOLVED:
        return
    if DoubleReview.objects.that_differ_for(reviewer).filter(decision=standing).exists():
        raise ToSettleError


def _agrees(standing: Decision | None, reviewer: User, wish: Wish) -> bool:
    """Whether somebody else proposed the same; the notes for colleagues may differ."""
    if standing is None or standing.kind != Kind.PROPOSAL or standing.reviewer_id == reviewer.pk:
        return False
    proposed = (standing.action_id, standing.category, standing.reason or "")
    return proposed == (wish.action, wish.category, wish.reason)


def weigh(category: str) -> tuple[PolicyVersion | None, int]:
    """The active version that names the category, and how severe it holds it to be."""
    policy = PolicyVersion.objects.active() if category else None
    try:
        return policy, policy.category(category)["severity"] if policy else Severity.NONE
    except KeyError:
        return None, Severity.NONE


def _covered(standing: Decision | None) -> set[int]:
    """The reports that the standing row was about, the reports of those it overrode included."""
    return set() if standing is None else set(standing.reports.values_list("pk", flat=True))


def _says(decision: Decision, reviewer: User, wish: Wish) -> bool:
    said = (decision.action_id, decision.category, decision.note or "", decision.reason or "")
    wished = (wish.action, wish.category, wish.note, wish.reason)
    return decision.reviewer_id == reviewer.pk and said == wished
