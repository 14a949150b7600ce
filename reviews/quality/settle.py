"""A lead says which of two different answers stands: one transaction with its audit row."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from reports import lifecycle
from reports.audit import write_audit
from reports.models import Item
from reviews.decisions import StaleDecisionError, Wish, decide_item
from reviews.models import Action, Decision, DoubleReview

Side = DoubleReview.Side


class NotSettledError(Exception):
    """Nothing was written; the message says why."""


def settle(*, review_id: int, lead: User, side: DoubleReview.Side) -> Decision | None:
    """Say which of two answers stands, the first or the second; the same once more is once.

    The first: that is settled at once, and nothing is decided; a settlement stands. The second: the
    lead decides in the second person's words, which overrides the first decision, and answers with
    that row; another person may have to approve it. Like any decision it may be taken back, and so
    `settle_what_was_overridden` settles it once it is in effect. Raises `DoubleReview.DoesNotExist`,
    `NotSettledError`, and `HeldByAnotherError` where the item is in somebody's hands.
    """
    if side == Side.NEITHER:
        raise ValueError("neither is settled by the decision that overrides the first")
    named = DoubleReview.objects.select_related("decision").get(pk=review_id)
    with transaction.atomic():
        item = lifecycle.lock_item(named.decision.item_id)
        review = _lock(review_id)
        if side == Side.FIRST and (review.settled_by_id, review.side) == (lead.pk, side):
            return None
        _refuse(review, lead)
        stands = _standing(item) == review.decision_id
        if side == Side.SECOND:
            return _decide_as_the_second(review, lead, stands=stands)
        if not stands:
            raise _decided_anew()
        _write(review, item, lead=lead, side=side, settling=None)
    return None


def _decide_as_the_second(review: DoubleReview, lead: User, *, stands: bool) -> Decision:
    """What the lead has decided so already is taken for the same wish, sent twice."""
    newest = Decision.objects.filter(item=review.decision.item_id).latest("id")
    try:
        return decide_item(
            item_id=review.decision.item_id,
            reviewer=lead,
            wish=Wish(review.action_id or "", review.category, review.note),
            report_ids=review.decision.reports.values_list("pk", flat=True),
            last_decision_id=newest.pk if stands else review.decision_id,
            keeps_draft=True,
        )
    except StaleDecisionError:
        raise _decided_anew() from None


def settle_what_was_overridden() -> int:
    """Of those to settle: what a third person's decision in effect has settled meanwhile; how many.

    It settles for the answer that says the same, or else for neither. What one of the two decided
    anew is nobody's to settle, and waits for nobody; where they only approved what a third person
    proposed, or that person what they did, it is settled by that person.
    """
    differing = DoubleReview.objects.filter(agrees=False, settled_at=None)
    return sum(_settle_as_overridden(pk) for pk in differing.values_list("pk", flat=True))


def _settle_as_overridden(review_id: int) -> bool:
    item_id = DoubleReview.objects.values_list("decision__item", flat=True).get(pk=review_id)
    with transaction.atomic():
        item = lifecycle.lock_item(item_id)
        review = _lock(review_id)
        in_effect = Decision.objects.filter(pk=_standing(item), effective_at__lte=Now())
        settling = in_effect.select_related("action", "reviewer", "approves__reviewer").first()
        if review.settled_at or review.agrees is not False or settling is None:
            return False
        two = {review.decision.reviewer_id, review.reviewer_id}
        deciders = [row.reviewer for row in (settling.approves, settling) if row]
        third = next((person for person in deciders if person.pk not in two), None)
        resolves = settling.action is not None and settling.action.resolves
        if settling.pk == review.decision_id or third is None or not resolves:
            return False
        said = _said(settling.action, settling.category)
        side = Side.NEITHER
        if said == _said(review.decision.action, review.decision.category):
            side = Side.FIRST
        elif said == _said(review.action, review.category):
            side = Side.SECOND
        _write(review, item, lead=third, side=side, settling=settling)
    return True


def _lock(review_id: int) -> DoubleReview:
    reviews = DoubleReview.objects.select_related("decision__action", "action")
    return reviews.select_for_update(no_key=True, of=("self",)).get(pk=review_id)


def _standing(item: Item) -> int:
    """The newest row about the item that nobody took back; the first decision at least is one."""
    rows = Decision.objects.filter(item=item).standing().order_by("-id")
    return rows.values_list("pk", flat=True)[0]


def _refuse(review: DoubleReview, lead: User) -> None:
    if review.settled_at:
        raise NotSettledError(_("Somebody has settled it already."))
    if review.agrees is not False:
        raise NotSettledError(_("There are no two answers that differ any more."))
    lately = Now() - timedelta(seconds=settings.UNDO_SECONDS)
    if DoubleReview.objects.filter(pk=review.pk, answered_at__gt=lately).exists():
        raise NotSettledError(_("The second answer may still be taken back. Wait a moment."))
    if lead.pk in {review.decision.reviewer_id, review.reviewer_id}:
        raise NotSettledError(_("You are one of the two: somebody else settles it."))


def _decided_anew() -> NotSettledError:
    return NotSettledError(
        _("Since then somebody has decided anew about this item, which settles it.")
    )


def _said(action: Action | None, category: str) -> tuple[str, str]:
    """What was found: whether it is a violation, and which."""
    return (action.outcome, category if action.upholds else "") if action else ("", "")


def _write(
    review: DoubleReview,
    item: Item,
    *,
    lead: User,
    side: DoubleReview.Side,
    settling: Decision | None,
) -> None:
    review.side, review.settled_by, review.settling = side, lead, settling
    review.settled_at = Now()
    review.save(update_fields=["side", "settled_by", "settling", "settled_at"])
    write_audit(
        action="settled",
        of=item,
        actor=lead,
        detail={
            "double_review": review.pk,
            "side": side,
            "decision": review.decision_id,
            "settling": settling.pk if settling else None,
        },
    )
