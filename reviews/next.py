"""What a reviewer is given next: the top of a list that nobody has and that they have not passed over."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from reports.audit import write_audit
from reports.models import Item
from reviews.claims import claim_item, end_claim_of, take
from reviews.filters import Filters, narrowed
from reviews.holds import keeping_from, kept_from
from reviews.models import Claim, Skip
from reviews.opting_out import not_opted_out
from reviews.preferences import preferences_of
from reviews.queue import within_reach


def claim_next(
    *, name: Item.List, filters: Filters, reviewer: User, beside: int | None = None
) -> int | None:
    """Take the next item of an open list for a reviewer; its id, or None where there is none left.

    First what a colleague handed to them, from whichever list; then what they have in hand already,
    so that a closed tab is resumed; then the list's top. `beside` is not taken anew.
    """
    for item_id in _in_hand(name, filters, reviewer):
        if claim_item(item_id=item_id, reviewer=reviewer):
            return item_id
    free = claimable(name, filters=filters, reviewer=reviewer)
    if beside is not None:
        free = free.exclude(pk=beside)
    while True:
        found = False
        # Past what others are just taking; where that is all there is, what they leave.
        for skip_locked in (True, False):
            top = free.select_for_update(no_key=True, skip_locked=skip_locked, of=("self",))
            with transaction.atomic():
                item = top.first()
                if item is not None:
                    found = True
                    # This statement sees what came to be after the search had begun.
                    if take(item_id=item.pk, reviewer=reviewer, kept_by=kept_from(reviewer)):
                        return item.pk
        if not found:
            return None


def claimable(name: Item.List, *, filters: Filters, reviewer: User) -> QuerySet[Item]:
    """What of a list may be handed to this reviewer, in the list's order; nobody has it in hand."""
    this = {"item": OuterRef("pk")}
    chooses = bool(preferences_of(reviewer).opted_out)
    items = within_reach(name, filters, each=chooses).filter(
        ~Exists(Claim.objects.in_force().filter(**this)),
        ~Exists(Skip.objects.filter(**this, reviewer=reviewer)),
        ~Exists(keeping_from(reviewer).filter(**this)),
    )
    return not_opted_out(items, reviewer)


def _in_hand(name: Item.List, filters: Filters, reviewer: User) -> list[int]:
    """Ids of items: what was handed over, the first one first, and what else one has of this list."""
    claims = Claim.objects.in_force().filter(reviewer=reviewer).order_by("claimed_at")
    given = dict(claims.values_list("item", "handed_by"))
    if not given:
        return []
    mine = narrowed(Item.objects.filter(list=name, pk__in=given), name, filters)
    here = set(mine.values_list("pk", flat=True))
    handed = [item_id for item_id, giver in given.items() if giver]
    return handed + [item_id for item_id in given if item_id in here and item_id not in handed]


def skip_item(*, item_id: int, reviewer: User) -> None:
    """Pass an item over: it is free for others, and not given to this reviewer until they start anew.

    Raises `Item.DoesNotExist`.
    """
    with transaction.atomic():
        item = Item.objects.select_for_update(no_key=True).get(pk=item_id)
        _skip, fresh = Skip.objects.get_or_create(item=item, reviewer=reviewer)
        let_go = end_claim_of(item, reviewer)
        if fresh or let_go:
            write_audit(action="skipped", of=item, actor=reviewer)


def skipped_by(reviewer: User) -> QuerySet[Skip, int]:
    """Ids of items."""
    return Skip.objects.filter(reviewer=reviewer).values_list("item", flat=True)


def forget_skips(reviewer: User) -> None:
    """What was passed over may come again."""
    Skip.objects.filter(reviewer=reviewer).delete()
