"""Who has an item in hand: one person at a time, until they let go or their time runs out.

Claims are made under the item's lock, so whoever holds that lock sees them all, and what a batch
records takes nothing away that is in somebody's hands. Renewing needs no lock: what has run out
is not renewed.
"""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Least, Now

from reports.audit import write_audit
from reports.models import Item
from reviews.holds import keeping_from
from reviews.models import LONGEST_CLAIM, Claim, Hold

HOLDS = timedelta(minutes=10)


class HeldByAnotherError(Exception):
    """Somebody else has the item; `claim` says who and until when. Nothing was written."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(f"claim {claim.pk} is in force")
        self.claim = claim


def claim_item(*, item_id: int, reviewer: User) -> bool:
    """Take an item that nobody has, or go on with what one has; says whether one has it then.

    Not where somebody else has it, where it waits for another person, and where it is resolved or
    not there. Who opens what was put aside means to have it now.
    """
    kept_by = keeping_from(reviewer).exclude(kind=Hold.Kind.PUT_ASIDE)
    with transaction.atomic():
        item = lock_open_item(item_id)
        return item is not None and take_locked(item=item, reviewer=reviewer, kept_by=kept_by)


def lock_open_item(item_id: int) -> Item | None:
    """The item under its lock, in the caller's transaction; None for one resolved or not there."""
    unresolved = Item.objects.exclude(list=Item.List.RESOLVED).filter(pk=item_id)
    return unresolved.select_for_update(no_key=True).first()


def take_locked(*, item: Item, reviewer: User, kept_by: QuerySet[Hold], audit: bool = True) -> bool:
    """As `claim_item`, for an unresolved item that the caller has locked; `kept_by`: what forbids it.

    `audit` is False where a row of the caller's says it all.
    """
    standing = claim_in_force(item.pk)
    if standing is not None:
        return standing.reviewer_id == reviewer.pk and renew_claim(item.pk, reviewer)
    if kept_by.filter(item=item).exists():
        return False
    end_what_ran_out(item)
    claim = Claim.objects.create(item=item, reviewer=reviewer, expires_at=Now() + HOLDS)
    if audit:
        write_audit(action="claimed", of=item, actor=reviewer, detail={"claim": claim.pk})
    return True


def end_what_ran_out(item: Item) -> None:
    """The claim that nobody has any more ended when its time did; under the item's lock."""
    over = Claim.objects.filter(item=item, released_at=None, expires_at__lte=Now())
    over.update(released_at=F("expires_at"))


def claim_in_force(item_id: int) -> Claim | None:
    held = Claim.objects.in_force().filter(item=item_id)
    return held.select_related("reviewer", "handed_by").first()


def renew_claim(item_id: int, reviewer: User) -> bool:
    """`HOLDS` from now on for a claim in force, at most to its longest; False where one has none."""
    renewed = Least(Now() + HOLDS, F("claimed_at") + LONGEST_CLAIM)
    mine = Claim.objects.in_force().filter(item=item_id, reviewer=reviewer)
    return bool(mine.update(expires_at=Greatest("expires_at", renewed)))


def give_back(*, item_id: int, reviewer: User) -> bool:
    """Let go of an item, or take back what one handed over. False where there is nothing to end."""
    ends = Q(reviewer=reviewer) | Q(handed_by=reviewer)
    with transaction.atomic():
        item = Item.objects.select_for_update(no_key=True).get(pk=item_id)
        held = Claim.objects.in_force().filter(ends, item=item)
        ended = bool(held.update(released_at=Now()))
        if ended:
            write_audit(action="released", of=item, actor=reviewer)
    return ended


def end_claim_of(item: Item, reviewer: User) -> bool:
    """End the claim in force that one has; under the item's lock."""
    held = Claim.objects.in_force().filter(item=item, reviewer=reviewer)
    return bool(held.update(released_at=Now()))


def refuse_if_held(item_id: int, reviewer: User) -> None:
    """Under the item's lock: raises `HeldByAnotherError` where somebody else has it in hand."""
    claim = claim_in_force(item_id)
    if claim is not None and claim.reviewer_id != reviewer.pk:
        raise HeldByAnotherError(claim)


def release_item(item_id: int) -> None:
    """Nobody holds the item any more; inside the caller's transaction, under the item's lock."""
    Claim.objects.filter(item=item_id, released_at=None).update(released_at=Now())
