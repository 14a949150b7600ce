"""What a person decides about an item: one transaction with its audit row."""

from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from classifier.disagreements import settle_open
from reports import lifecycle
from reports.audit import write_audit
from reviews.claims import release_item
from reviews.drafts import forget_draft
from reviews.models import DecidedReport, Decision


class StaleDecisionError(Exception):
    """Somebody decided after the page was shown; `standing` is that decision. Nothing was written."""

    def __init__(self, standing: Decision) -> None:
        super().__init__(f"decision {standing.pk} came first")
        self.standing = standing


class NothingToDecideError(Exception):
    """None of the named reports belongs to the item."""


@dataclass(frozen=True)
class Wish:
    """What the form says. `category` is blank where the action needs none; texts may be blank."""

    action: Decision.Action
    category: str = ""
    note: str = ""
    reason: str = ""


def decide_item(
    *,
    item_id: int,
    reviewer: User,
    wish: Wish,
    report_ids: Collection[int],
    last_decision_id: int | None,
) -> Decision:
    """Decide about the reports whose content the reviewer had before them.

    `last_decision_id` is the item's newest decision as the page showed it; another one by now raises
    `StaleDecisionError`, unless it is this very wish of the same person, sent twice. An earlier
    decision is overridden, never edited, and for all reports that it was about. Reports that came in
    meanwhile are not touched: nobody has seen them.
    """
    with transaction.atomic():
        lifecycle.lock_item(item_id)
        standing = _standing(item_id)
        if standing is not None and standing.pk != last_decision_id:
            # About reports that it left out the same words say something new.
            if _says(standing, reviewer, wish) and set(report_ids) <= set(_covered(standing)):
                return standing
            raise StaleDecisionError(standing)
        reports = lifecycle.lock_reports(item_id, {*report_ids, *_covered(standing)})
        if not set(report_ids) & {report.pk for report in reports}:
            raise NothingToDecideError
        decision = Decision.objects.create(
            item_id=item_id,
            reviewer=reviewer,
            action=wish.action,
            category=wish.category,
            note=wish.note,
            reason=wish.reason,
            overrides=standing,
            effective_at=Now(),
        )
        DecidedReport.objects.bulk_create(
            [DecidedReport(decision=decision, report=report) for report in reports]
        )
        lifecycle.apply_decision(
            item_id=item_id,
            reports=reports,
            reopen=wish.action == Decision.Action.REOPEN,
            upheld=wish.action in Decision.UPHOLDS,
        )
        settle_open([report.pk for report in reports])
        release_item(item_id)
        forget_draft(item_id=item_id, reviewer=reviewer)
        write_audit(
            action="decided",
            of=decision.item,
            actor=reviewer,
            detail={
                "decision": decision.pk,
                "action": wish.action,
                "category": wish.category,
                "reports": [str(report.public_id) for report in reports],
                "overrides": standing.pk if standing else None,
            },
        )
    return decision


def _standing(item_id: int) -> Decision | None:
    return Decision.objects.filter(item_id=item_id).order_by("-id").first()


def _covered(standing: Decision | None) -> Collection[int]:
    """The reports that the standing decision was about, the reports of those it overrode included."""
    return [] if standing is None else standing.reports.values_list("pk", flat=True)


def _says(decision: Decision, reviewer: User, wish: Wish) -> bool:
    said = Wish(
        Decision.Action(decision.action),
        decision.category,
        decision.note or "",
        decision.reason or "",
    )
    return decision.reviewer_id == reviewer.pk and said == wish
