"""What a second person would decide, who has not seen the first decision; it overrides nothing."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from reports import lifecycle
from reports.audit import write_audit
from reviews.blind import read_blindness
from reviews.claims import refuse_if_held, release_item, take
from reviews.decisions import StaleDecisionError, Wish, weigh
from reviews.drafts import forget_draft
from reviews.models import Action, Decision, DoubleReview, Draft
from reviews.undo import NotTheirsError, TooLateError


def answer_double_review(*, review_id: int, reviewer: User, wish: Wish) -> DoubleReview:
    """Keep what this person would decide, and whether both found the same.

    What they would tell the author stands below their note. The same answer sent twice is one. Raises
    `HeldByAnotherError`, and `StaleDecisionError` with what stands where another person has answered
    or the first decision was overridden meanwhile: then nobody is asked for a second answer any more.
    """
    named = DoubleReview.objects.select_related("decision__action").get(pk=review_id)
    first, item_id = named.decision, named.decision.item_id
    note = "\n\n".join(filter(None, [wish.note, wish.reason]))
    with transaction.atomic():
        item = lifecycle.lock_item(item_id)
        review = DoubleReview.objects.select_for_update(no_key=True).get(pk=review_id)
        if review.answered_at is not None:
            said = (review.reviewer_id, review.action_id, review.category, review.note)
            if said == (reviewer.pk, wish.action, wish.category, note):
                return review
            raise StaleDecisionError(first)
        standing = Decision.objects.filter(item=item_id).standing().latest("id")
        if standing.pk != first.pk:
            raise StaleDecisionError(standing)
        refuse_if_held(item_id, reviewer)
        action = Action.objects.get(pk=wish.action)
        review.reviewer = reviewer
        review.action = action
        review.category = wish.category
        _version, category_severity = weigh(wish.category)
        review.severity = max(item.rank, first.severity or 0, category_severity)
        review.note = note
        review.answered_at = Now()
        review.agrees = _finding(action, wish.category) == _finding(first.action, first.category)
        review.save()
        release_item(item_id)
        forget_draft(item_id=item_id, reviewer=reviewer)
        write_audit(
            action="second_reviewed",
            of=item,
            actor=reviewer,
            detail={
                "double_review": review.pk,
                "decision": first.pk,
                "action": wish.action,
                "category": wish.category,
                "agrees": review.agrees,
            },
        )
    review.refresh_from_db(fields=["answered_at"])
    return review


def take_back_answer(*, review_id: int, reviewer: User) -> DoubleReview:
    """Empty a second review again and give it back into its reviewer's hands, with what they typed.

    The same request twice is one. Raises `DoubleReview.DoesNotExist`, `NotTheirsError`, and
    `TooLateError` once the time to undo is over or a lead has settled it.
    """
    item_id = DoubleReview.objects.values_list("decision__item", flat=True).get(pk=review_id)
    with transaction.atomic():
        item = lifecycle.lock_item(item_id)
        review = DoubleReview.objects.select_for_update(no_key=True).get(pk=review_id)
        if review.answered_at is None:
            theirs = read_blindness(item_id=item_id, reader=reviewer)
            if theirs is None or theirs.double_review != review_id:
                raise NotTheirsError
            return review
        if review.reviewer_id != reviewer.pk:
            raise NotTheirsError
        lately = Now() - timedelta(seconds=settings.UNDO_SECONDS)
        in_time = DoubleReview.objects.filter(pk=review_id, answered_at__gt=lately, settled_at=None)
        if not in_time.exists():
            raise TooLateError
        typed = {"action": review.action_id, "category": review.category, "note": review.note}
        review.reviewer = review.action = review.severity = None
        review.answered_at = review.agrees = None
        review.category = review.note = ""
        review.save()
        Draft.objects.update_or_create(
            item=item, reviewer=reviewer, defaults={**typed, "reason": "", "saved_at": Now()}
        )
        take(
            item_id=item_id,
            reviewer=reviewer,
            kept_by=(),
            audit=False,
            blind=True,
            double_review=review_id,
        )
        write_audit(
            action="second_review_undone",
            of=item,
            actor=reviewer,
            detail={"double_review": review_id},
        )
    return review


def _finding(action: Action | None, category: str) -> str | None:
    """The violation that was found, blank for none; None where there is no finding: it goes on."""
    if action is None or not action.resolves:
        return None
    return category if action.upholds else ""
