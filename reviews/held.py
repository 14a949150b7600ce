"""What stands above the open lists: what waits for particular people, and what nobody is handed."""

import json
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, IntegerField, QuerySet, Subquery, TextField
from django.db.models.functions import Cast

from classifier.models import PolicyVersion
from reports.counting import COUNTED_AT_MOST
from reports.models import Item
from reviews.handing import colleagues_of
from reviews.models import Hold
from reviews.opting_out import OPTED_OUT, handed_to_nobody, in_every, reviewers
from reviews.queue import in_order
from reviews.roles import DECIDE_ESCALATED


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
    return User.objects.with_perm(DECIDE_ESCALATED).order_by("username")


def nobody_for(kind: Hold.Kind, *, but: User) -> bool:
    """Whether what waits so, placed by this person, waits for nobody; not for what has a time."""
    if kind == Hold.Kind.PUT_ASIDE:
        return False
    others = leads() if kind == Hold.Kind.ESCALATED else colleagues_of(but)
    return not others.exists()


@dataclass(frozen=True)
class Gaps:
    """`held` by kind, escalated first, each where there is any.

    The rest is for who leads alone, above needs review.
    """

    held: list[Held]
    untaken: list[str]
    """Categories, by their ids, that every reviewer opted out of."""
    unhanded: int | None
    """Id of the first item of needs review that their opt-outs keep from every reviewer, of the
    first `LOOKED_AT`."""


def read_gaps(reader: User, policy: PolicyVersion | None, *, above: Item.List) -> Gaps:
    """What the list `above` which it stands tells; in one statement, for it is asked with each page."""
    waiting = Hold.objects.filter(ended_at=None)
    own = waiting.filter(kind=Hold.Kind.SECOND_APPROVAL, placed_by=reader)
    asked: dict[str, Any] = {
        f"{kind}_{name}": _Counted(waiting.filter(kind=kind, item__list=name).values("pk"))
        for kind in KINDS
        for name in LISTS
    }
    asked |= {"led": Exists(leads()), "own": Exists(own), "others": Exists(colleagues_of(reader))}
    if above == Item.List.NEEDS_REVIEW and reader.has_perm(DECIDE_ESCALATED):
        first = in_order(Item.List.NEEDS_REVIEW)
        top = Item.objects.filter(pk__in=first.values("pk")[:LOOKED_AT])
        asked["unhanded"] = Subquery(
            handed_to_nobody(top).order_by("-rank", "since", "id").values("pk")[:1]
        )
        asked["opt_outs"] = ArraySubquery(reviewers().values(each=Cast(OPTED_OUT, TextField())))
    found: dict[str, Any] = dict(User.objects.filter(pk=reader.pk).values(**asked).get())
    lone = {
        Hold.Kind.ESCALATED: not found["led"],
        Hold.Kind.SECOND_APPROVAL: found["own"] and not found["others"],
    }
    held = [
        Held(
            kind, {name: count for name in LISTS if (count := found[f"{kind}_{name}"])}, lone[kind]
        )
        for kind in KINDS
    ]
    opt_outs = [json.loads(each or "[]") for each in found.get("opt_outs", [])]
    return Gaps(
        [each for each in held if each.lists], in_every(opt_outs, policy), found.get("unhanded")
    )


LOOKED_AT = 100
KINDS = Hold.Kind.ESCALATED, Hold.Kind.SECOND_APPROVAL
LISTS = Item.List.NEEDS_REVIEW, Item.List.PENDING


class _Counted(Subquery):
    """How many rows, up to the bound and one more."""

    template = f"(SELECT count(*) FROM (%(subquery)s LIMIT {COUNTED_AT_MOST + 1}) AS rows)"  # noqa: S608 - a number of our own
    output_field = IntegerField()
