"""Who has an item in hand: one person at a time, until they let go or their time runs out.

Claims are made under the item's lock, so whoever holds that lock sees them all, and what a batch
records takes nothing away that is in somebody's hands. Renewing needs no lock: what has run out
is not renewed.
"""

from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Greatest, Least, Now

from reports.audit import write_audit
from reports.models import Item
from reviews.holds import kept_from
from reviews.models import LONGEST_CLAIM, Claim, Hold
from reviews.roles import DECIDE_ESCALATED
from reviews.standing import is_overridden

HOLDS = timedelta(minutes=10)


class HeldByAnotherError(Exception):
    """Somebody else has the item; `claim` says who and until when. Nothing was written."""

    def __init__(self, claim: Claim) -> None:
        super().__init__(f"claim {claim.pk} is in force")
        self.claim = claim


def claim_item(
    *, item_id: int, reviewer: User, blind: bool = False, double_review: int | None = None
) -> bool:
    """Take an item that nobody has, or go on with what one has; says whether one has it then.

    Not where somebody else has it, where it waits for another person, and where it is not there or
    resolved, but for a second review of what stands. Who opens what was put aside means to have it
    now.
    """
    return take(
        item_id=item_id,
        reviewer=reviewer,
        kept_by=kept_from(reviewer, put_aside=False),
        blind=blind,
        double_review=double_review,
    )


def lock_open_item(item_id: int) -> Item | None:
    """The item under its lock, in the caller's transaction; None for one resolved or not there."""
    unresolved = Item.objects.exclude(list=Item.List.RESOLVED).filter(pk=item_id)
    return unresolved.select_for_update(no_key=True).first()


def take(  # noqa: PLR0913 - a claim has so many sides
    *,
    item_id: int,
    reviewer: User,
    kept_by: Collection[Hold.Kind],
    audit: bool = True,
    listed: Item.List | None = None,
    blind: bool = False,
    double_review: int | None = None,
) -> bool:
    """As `claim_item`; `kept_by`: the kinds of holds that forbid it, a proposal only one's own.

    One round trip, for it stands before each opened page. `audit` is False where a row of the
    caller's says it all; `listed`: only while the item stands in this list. What one has in hand
    stays blind, or not, as it is.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _TAKE,
            {
                "item": item_id,
                "reviewer": reviewer.pk,
                "name": reviewer.get_username(),
                "kinds": [kind.value for kind in kept_by],
                "holds": HOLDS.total_seconds(),
                "longest": LONGEST_CLAIM.total_seconds(),
                "audit": audit,
                "list": listed and listed.value,
                "blind": blind,
                "double_review": double_review,
            },
        )
        cursor.nextset()
        return bool(cursor.fetchone()[0])


# Two statements in one transaction. The second begins once the item is locked, so it sees a hold
# that came to be while the first one waited: a statement that waits reads on as when it began.
# What ran out gives way first. A claim of one's own that stands is only renewed.
_TAKE = f"""
SELECT FROM reports_item WHERE id = %(item)s FOR NO KEY UPDATE;
WITH item AS (
    SELECT id FROM reports_item
    WHERE id = %(item)s AND list = coalesce(%(list)s, list) AND (list <> 'resolved'
        OR EXISTS (SELECT FROM reviews_doublereview AS review
            JOIN reviews_decision AS reviewed ON reviewed.id = review.decision_id
            WHERE review.id = %(double_review)s::bigint AND answered_at IS NULL
                AND reviewed.item_id = reports_item.id AND NOT {is_overridden("reviewed")}))
), over AS (
    UPDATE reviews_claim SET released_at = expires_at
    WHERE item_id IN (SELECT id FROM item)
        AND released_at IS NULL AND expires_at <= clock_timestamp()
    RETURNING id
), taken AS (
    INSERT INTO reviews_claim AS claim
        (item_id, reviewer_id, claimed_at, expires_at, blind, double_review_id)
    SELECT id, %(reviewer)s, clock_timestamp(), clock_timestamp() + make_interval(secs => %(holds)s),
        %(blind)s, %(double_review)s::bigint
    FROM item CROSS JOIN (SELECT count(*) FROM over) AS gave_way
    WHERE EXISTS (SELECT FROM reviews_claim AS mine
            WHERE mine.item_id = item.id AND mine.reviewer_id = %(reviewer)s
                AND released_at IS NULL AND expires_at > clock_timestamp())
        OR NOT EXISTS (SELECT FROM reviews_hold AS hold
            WHERE hold.item_id = item.id AND ended_at IS NULL
                AND (until IS NULL OR until > clock_timestamp())
                AND kind = ANY(%(kinds)s)
                AND (kind <> 'second_approval' OR placed_by_id = %(reviewer)s))
    ON CONFLICT (item_id) WHERE released_at IS NULL DO UPDATE
        SET expires_at = greatest(claim.expires_at, least(
            clock_timestamp() + make_interval(secs => %(holds)s),
            claim.claimed_at + make_interval(secs => %(longest)s)))
        WHERE claim.reviewer_id = excluded.reviewer_id AND claim.expires_at > clock_timestamp()
    RETURNING id, item_id, xmax = 0 AS is_new
), noted AS (
    INSERT INTO reports_auditentry (actor_id, actor_name, action, object_type, object_id, detail)
    SELECT %(reviewer)s, %(name)s, 'claimed', 'item', item_id, jsonb_build_object('claim', id)
    FROM taken WHERE is_new AND %(audit)s
)
SELECT EXISTS (SELECT FROM taken)
"""  # noqa: S608 - our own constant


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


def free_item(*, item_id: int, lead: User, holder_id: int) -> bool:
    """Take an item out of the hands of a named person, for who is away keeps it from everybody.

    False where that person has it no more: whoever has it now keeps it. Raises `PermissionDenied`
    for who does not lead.
    """
    if not lead.has_perm(DECIDE_ESCALATED):
        raise PermissionDenied
    with transaction.atomic():
        item = Item.objects.select_for_update(no_key=True).get(pk=item_id)
        held = Claim.objects.in_force().filter(item=item, reviewer=holder_id)
        ended = bool(held.update(released_at=Now()))
        if ended:
            write_audit(action="released", of=item, actor=lead, detail={"from": holder_id})
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
