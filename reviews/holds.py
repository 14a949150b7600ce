"""What waits for something other than the next free reviewer, and who is not handed it."""

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from reviews.models import Hold


def keeping_from(reviewer: User) -> QuerySet[Hold]:
    """The holds in force whose items this person is not handed.

    What was put aside, what was escalated to others than them, and a proposal of their own.
    """
    kept = Q(kind=Hold.Kind.PUT_ASIDE) | Q(kind=Hold.Kind.SECOND_APPROVAL, placed_by=reviewer)
    if not reviewer.has_perm("reviews.decide_escalated"):
        kept |= Q(kind=Hold.Kind.ESCALATED)
    return Hold.objects.in_force().filter(kept)
