"""Who has an item, what it waits for and who brought it back, read along with it in one statement."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import JSONObject

from reports.models import Item, Return
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
    """The items with what `in_hand_of`, `waiting_of` and `returned_of` read of each.

    By subqueries, which are asked for the rows that are shown; joins would take part in the search.
    """
    this = {"item": OuterRef("pk")}
    return items.annotate(
        its_claim=Subquery(_as_json(Claim.objects.in_force().filter(**this), _OF_CLAIM)),
        its_hold=Subquery(_as_json(Hold.objects.in_force().filter(**this), _OF_HOLD)),
        its_return=Subquery(
            _as_json(Return.objects.filter(**this, ended_at=None), fields_of_return())
        ),
    )


_NAME = User.USERNAME_FIELD
_OF_CLAIM = {
    "reviewer_id": "reviewer_id",
    "who": f"reviewer__{_NAME}",
    "until": "expires_at",
    "handed_by_id": "handed_by_id",
    "handed_by": f"handed_by__{_NAME}",
    "note": "note",
}
_OF_HOLD = {
    "kind": "kind",
    "placed_by_id": "placed_by_id",
    "who": f"placed_by__{_NAME}",
    "placed_at": "placed_at",
    "until": "until",
    "note": "note",
}


def fields_of_return() -> dict[str, str]:
    """What `read_return` wants to have of one, by name."""
    names = ("reporters", "fresh", "unreliable", "since", "returned_at")
    return {name: name for name in names}


def read_return(found: dict[str, Any]) -> Return:
    """A return out of JSON: what is shown of it, without its item and report."""
    times = {name: datetime.fromisoformat(found[name]) for name in ("since", "returned_at")}
    return Return(**{**found, **times})


def _as_json(rows: QuerySet[Any], fields: dict[str, str]) -> QuerySet[Any, Any]:
    return rows.order_by().values(found=JSONObject(**fields))


def in_hand_of(row: Any) -> InHand | None:
    found = row.its_claim
    return found and InHand(
        **{
            **found,
            "until": datetime.fromisoformat(found["until"]),
            "handed_by": found["handed_by"] or "",
        }
    )


def waiting_of(row: Any) -> Waiting | None:
    found = row.its_hold
    return found and Waiting(
        **{
            **found,
            "kind": Hold.Kind(found["kind"]),
            "placed_at": datetime.fromisoformat(found["placed_at"]),
            "until": found["until"] and datetime.fromisoformat(found["until"]),
        }
    )


def returned_of(row: Any) -> Return | None:
    """The open return: several people brought the item back, and nobody has decided since."""
    return read_return(row.its_return) if row.its_return else None
