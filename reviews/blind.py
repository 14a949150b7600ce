"""What a reviewer has blind: they see neither what a machine said nor what others decided.

Blind is whose newest claim on an item is, until somebody decides about it; whether that claim still
stands or not, so that letting go and opening the item again tells nothing. One's own answer ends it
once it can be taken back no more: who is told and then answers anew has not answered blind.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject, Now

from reports.models import Item
from reviews.models import Claim, Decision, DoubleReview

LEFT_OUT = timedelta(days=1)
"""For so long after it was claimed, lists leave out what is blind: their search stays bounded."""


@dataclass(frozen=True)
class Blind:
    """`stood`: the newest row about the item when it was claimed, None for none.

    `double_review`: the second review that it was handed out for, None for other work. `answered`:
    they have given their answer, and may still take it back.
    """

    stood: int | None
    double_review: int | None
    answered: bool


class BlindWorkError(Exception):
    """What is done blind is decided, skipped or released. Nothing was written."""


def blind_claims(reader: User | int) -> QuerySet[Claim]:
    """The claims by which this person works blind, in force or not; at most one an item."""
    later = Claim.objects.filter(item=OuterRef("item"), reviewer=reader, pk__gt=OuterRef("pk"))
    lately = Now() - timedelta(seconds=settings.UNDO_SECONDS)
    decided = _decided().exclude(reviewer=reader, created_at__gt=lately)
    answered = _answered().exclude(reviewer=reader, answered_at__gt=lately)
    return Claim.objects.filter(
        ~Exists(later), ~Exists(decided), ~Exists(answered), reviewer=reader, blind=True
    )


def _decided() -> QuerySet[Decision]:
    """Since a claim."""
    return Decision.objects.filter(item=OuterRef("item"), created_at__gt=OuterRef("claimed_at"))


def _answered() -> QuerySet[DoubleReview]:
    """The second review of a claim, once it has its answer."""
    return DoubleReview.objects.filter(pk=OuterRef("double_review"), answered_at__isnull=False)


def in_hand_blind(reader: User | int) -> QuerySet[Claim, int]:
    """Ids of the items: what pages of this reader leave out, for it would tell them the answers.

    Also what they let go of or have just answered, `LEFT_OUT` at most after it came into their hands.
    """
    lately = blind_claims(reader).filter(claimed_at__gt=Now() - LEFT_OUT)
    return lately.values_list("item", flat=True)


def with_blindness(items: QuerySet[Any], reader: User) -> QuerySet[Any]:
    """The items with what `blindness_of` reads of each."""
    stood = (
        Decision.objects.filter(item=OuterRef("item"), created_at__lt=OuterRef("claimed_at"))
        .order_by("-pk")
        .values("pk")[:1]
    )
    own = Exists(_decided().filter(reviewer=reader)) | Exists(_answered().filter(reviewer=reader))
    told = JSONObject(
        stood=Subquery(stood),
        double_review="double_review_id",
        answered=ExpressionWrapper(own, BooleanField()),
    )
    claims = blind_claims(reader).filter(item=OuterRef("pk"))
    told_of: QuerySet[Any] = items.annotate(its_blindness=Subquery(claims.values(told=told)))
    return told_of


def blindness_of(row: Any) -> Blind | None:
    told: dict[str, Any] | None = row.its_blindness
    return Blind(**told) if told else None


def read_blindness(*, item_id: int, reader: User) -> Blind | None:
    row = with_blindness(Item.objects.filter(pk=item_id), reader).first()
    return blindness_of(row) if row else None


def second_review_by(reader: User, *, item_id: int) -> int | None:
    """Id of the newest second review that this person gave about a decision on the item."""
    answered = DoubleReview.objects.filter(reviewer=reader, answered_at__isnull=False)
    of_item = answered.filter(decision__item=item_id).order_by("-answered_at")
    return of_item.values_list("pk", flat=True).first()
