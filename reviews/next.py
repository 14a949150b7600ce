"""What a reviewer is given next: the top of a list that nobody has and that they have not passed over."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from reports.audit import write_audit
from reports.models import Item, Severity
from reviews.claims import claim_item, end_claim_of, take
from reviews.filters import Filters, narrowed
from reviews.holds import keeping_from, kept_from
from reviews.models import Claim, Skip
from reviews.opting_out import not_opted_out
from reviews.preferences import preferences_of
from reviews.quality.mixing import (
    Of,
    by_chance,
    claim_sample,
    is_handed_blind,
    read_shares,
)
from reviews.queue import within_reach


def claim_next(
    *, name: Item.List, filters: Filters, reviewer: User, beside: int | None = None
) -> int | None:
    """Take the next item of an open list for a reviewer; its id, or None where there is none left.

    First what a colleague handed to them, from whichever list; then what they have in hand already,
    so that a closed tab is resumed; then the list's top, or by chance a sample in its place, where
    needs review has something to do and nothing critical. While the filters ask for verdicts nothing
    is blind, for they would tell them. `beside` is not taken anew.
    """
    for claim in _in_hand(name, filters, reviewer):
        if claim_item(
            item_id=claim.item_id,
            reviewer=reviewer,
            blind=claim.blind,
            double_review=claim.double_review_id,
        ):
            return claim.item_id
    free = claimable(name, filters=filters, reviewer=reviewer)
    if beside is not None:
        free = free.exclude(pk=beside)
    may_be_blind = name == Item.List.NEEDS_REVIEW and not filters.ask_for_verdicts()
    shares = read_shares() if may_be_blind else {}
    if by_chance(shares.get(Of.MIXED_IN, 0)) and _has_time_for_samples(free):
        sample = claim_sample(filters=filters, reviewer=reviewer, beside=beside)
        if sample is not None:
            return sample
    return _take_top(free, reviewer, blind_share=shares.get(Of.BLIND, 0))


def _has_time_for_samples(free: QuerySet[Item]) -> bool:
    """There is something else to do, and nothing critical: then a sample may come first."""
    rank = free.values_list("rank", flat=True).first()
    return rank is not None and rank < Severity.CRITICAL


def _take_top(free: QuerySet[Item], reviewer: User, *, blind_share: float) -> int | None:
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
                    if take(
                        item_id=item.pk,
                        reviewer=reviewer,
                        kept_by=kept_from(reviewer),
                        blind=is_handed_blind(item, share=blind_share),
                    ):
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


def _in_hand(name: Item.List, filters: Filters, reviewer: User) -> list[Claim]:
    """What was handed over, the first one first, and what else one has of this list.

    What one has blind is of needs review, wherever it stands; of no list whose filters tell of it.
    """
    claims = list(Claim.objects.in_force().filter(reviewer=reviewer).order_by("claimed_at"))
    if not claims:
        return []
    blind = Q(pk__in=[each.item_id for each in claims if each.blind])
    listed = Q(list=name)
    may_be_blind = name == Item.List.NEEDS_REVIEW and not filters.ask_for_verdicts()
    of_list = listed | blind if may_be_blind else listed & ~blind
    mine = Item.objects.filter(of_list, pk__in=[each.item_id for each in claims])
    here = set(narrowed(mine, name, filters).values_list("pk", flat=True))
    handed = [each for each in claims if each.handed_by_id]
    return handed + [each for each in claims if not each.handed_by_id and each.item_id in here]


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
