"""What waits for particular people, counted by list, and whether there is anybody for it."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, IntegerField, QuerySet, Subquery

from reports.counting import COUNTED_AT_MOST
from reports.models import Item
from reviews.decisions import DECIDE_ESCALATED
from reviews.handing import colleagues_of
from reviews.models import Hold


@dataclass(frozen=True)
class Held:
    """Items that wait so, by open list; each exact up to the bound and one more beyond it."""

    kind: Hold.Kind
    lists: dict[Item.List, int]
    nobody: bool
    """Nobody is there whom they wait for; of proposals: for the reader's own."""

    @property
    def count(self) -> int:
        return sum(self.lists.values())


def leads() -> QuerySet[User]:
    """Who may decide escalated items and is active, by name."""
    people = User.objects.with_perm(
        DECIDE_ESCALATED, backend="django.contrib.auth.backends.ModelBackend"
    )
    return people.order_by("username")


def nobody_for(kind: Hold.Kind, *, but: User) -> bool:
    """Whether what waits so, placed by this person, waits for nobody; not for what has a time."""
    if kind == Hold.Kind.PUT_ASIDE:
        return False
    others = leads() if kind == Hold.Kind.ESCALATED else colleagues_of(but)
    return not others.exists()


def read_held(reader: User) -> list[Held]:
    """What is escalated and what is proposed, each where there is any; escalated first.

    In one statement, for it stands above each open list.
    """
    waiting = Hold.objects.filter(ended_at=None)
    own = waiting.filter(kind=Hold.Kind.SECOND_APPROVAL, placed_by=reader)
    counts = {
        f"{kind}_{name}": _Counted(waiting.filter(kind=kind, item__list=name).values("pk"))
        for kind in KINDS
        for name in LISTS
    }
    found: dict[str, Any] = dict(
        User.objects.filter(pk=reader.pk)
        .annotate(
            **counts, led=Exists(leads()), own=Exists(own), others=Exists(colleagues_of(reader))
        )
        .values()
        .get()
    )
    lone = {
        Hold.Kind.ESCALATED: not found["led"],
        Hold.Kind.SECOND_APPROVAL: found["own"] and not found["others"],
    }
    every = [
        Held(
            kind, {name: count for name in LISTS if (count := found[f"{kind}_{name}"])}, lone[kind]
        )
        for kind in KINDS
    ]
    return [held for held in every if held.lists]


KINDS = Hold.Kind.ESCALATED, Hold.Kind.SECOND_APPROVAL
LISTS = Item.List.NEEDS_REVIEW, Item.List.PENDING


class _Counted(Subquery):
    """How many rows, up to the bound and one more."""

    template = f"(SELECT count(*) FROM (%(subquery)s LIMIT {COUNTED_AT_MOST + 1}) AS rows)"  # noqa: S608 - a number of our own
    output_field = IntegerField()
