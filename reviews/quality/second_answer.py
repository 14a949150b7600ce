"""What a second person said to a decision, for the pages that show the decision."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from reviews.models import Decision, DoubleReview


def second_answer(decision: Decision | None) -> DoubleReview | None:
    """Once it can be taken back no more; None before, and where nobody was asked."""
    review: DoubleReview | None = getattr(decision, "double_review", None)
    if review is None or review.answered_at is None:
        return None
    final = review.answered_at + timedelta(seconds=settings.UNDO_SECONDS)
    return review if final <= timezone.now() else None
