"""What waits for something other than the next free reviewer, and who is not handed it."""

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from reviews.in_hand import Waiting
from reviews.models import Hold
from reviews.roles import DECIDE_ESCALATED


def kept_from(reviewer: User, *, put_aside: bool = True) -> set[Hold.Kind]:
    """The kinds of holds whose items this person is not handed; of proposals, only their own."""
    kinds = {Hold.Kind.SECOND_APPROVAL}
    if put_aside:
        kinds.add(Hold.Kind.PUT_ASIDE)
    if not reviewer.has_perm(DECIDE_ESCALATED):
        kinds.add(Hold.Kind.ESCALATED)
    return kinds


def keeping_from(reviewer: User) -> QuerySet[Hold]:
    """The holds in force whose items this person is not handed.

    What was put aside, what was escalated to others than them, and a proposal of their own.
    """
    own = Q(kind=Hold.Kind.SECOND_APPROVAL) & ~Q(placed_by=reviewer)
    return Hold.objects.in_force().filter(kind__in=kept_from(reviewer)).exclude(own)


def waits_for_another(waiting: Waiting, reviewer: User) -> bool:
    """Whether this person may not take what waits so: escalated to others, or their own proposal."""
    own = waiting.kind != Hold.Kind.SECOND_APPROVAL or waiting.placed_by_id == reviewer.pk
    return own and waiting.kind in kept_from(reviewer, put_aside=False)
