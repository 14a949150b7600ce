"""Who has an item and what it waits for, read along with the items and in the same statement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import F, FilteredRelation, Q, QuerySet
from django.db.models.functions import Now

from reports.models import Item
from reviews.models import Claim, Hold


@dataclass(frozen=True)
class InHand:
    """A claim in force: who has the item, until when, and who handed it to them (blank: nobody)."""

    reviewer_id: int
    who: str
    until: datetime
    handed_by_id: int | None = None
    handed_by: str = ""
    note: str = ""

    @classmethod
    def by(cls, claim: Claim) -> "InHand":
        giver = claim.handed_by
        return cls(
            claim.reviewer_id,
            claim.reviewer.get_username(),
            claim.expires_at,
            giver.pk if giver else None,
            giver.get_username() if giver else "",
            claim.note,
        )


@dataclass(frozen=True)
class Waiting:
    """A hold in force: its kind, who placed it, why, and until when (None: until it is ended)."""

    kind: Hold.Kind
    placed_by_id: int
    who: str
    placed_at: datetime
    until: datetime | None
    note: str


def with_hands(items: QuerySet[Item]) -> QuerySet[Any]:
    """The items with what `in_hand_of` and `waiting_of` read; at most one claim and one hold each."""
    open_hold = Q(holds__ended_at=None) & (Q(holds__until=None) | Q(holds__until__gt=Now()))
    in_force = Q(claims__released_at=None, claims__expires_at__gt=Now())
    return items.annotate(
        its_claim=FilteredRelation("claims", condition=in_force),
        its_hold=FilteredRelation("holds", condition=open_hold),
    ).annotate(**{name: F(source) for name, source in _READ.items()})


_READ = {
    "claim_reviewer": "its_claim__reviewer_id",
    "claim_who": f"its_claim__reviewer__{User.USERNAME_FIELD}",
    "claim_until": "its_claim__expires_at",
    "claim_giver": "its_claim__handed_by_id",
    "claim_giver_name": f"its_claim__handed_by__{User.USERNAME_FIELD}",
    "claim_note": "its_claim__note",
    "hold_kind": "its_hold__kind",
    "hold_placed_by": "its_hold__placed_by_id",
    "hold_who": f"its_hold__placed_by__{User.USERNAME_FIELD}",
    "hold_placed_at": "its_hold__placed_at",
    "hold_until": "its_hold__until",
    "hold_note": "its_hold__note",
}


def in_hand_of(row: Any) -> InHand | None:
    if row.claim_reviewer is None:
        return None
    return InHand(
        row.claim_reviewer,
        row.claim_who,
        row.claim_until,
        row.claim_giver,
        row.claim_giver_name or "",
        row.claim_note,
    )


def waiting_of(row: Any) -> Waiting | None:
    if row.hold_kind is None:
        return None
    return Waiting(
        Hold.Kind(row.hold_kind),
        row.hold_placed_by,
        row.hold_who,
        row.hold_placed_at,
        row.hold_until,
        row.hold_note,
    )
