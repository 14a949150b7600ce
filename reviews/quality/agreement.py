"""How far two people agree who decide about the same without seeing each other's answer."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from reviews.models import Action, DoubleReview
from reviews.quality.intervals import Ratio
from reviews.quality.kappa import Kappa, kappa

# What the second says who sends it on: no finding of the first is the same.
ESCALATED = "(escalated)"

Said = tuple[str, str]


@dataclass(frozen=True)
class Agreement:
    label: str
    """A category (blank: no violation), a language, or the first name of a pair."""
    agreed: Ratio
    """How many of the answered ones; of a category, of those where either said it, both did."""
    kappa: Kappa
    """Of a category, one against the rest, over everything answered."""
    other: str = ""
    """The second name of a pair."""


@dataclass(frozen=True)
class Overturned:
    """How often a lead settled against the first, of what agreed or is settled."""

    count: int
    of: int
    unsettled: int
    """Differ, and nobody has settled which stands."""

    @property
    def share(self) -> float | None:
        """None while any is unsettled: those who differ are just those that may be overturned."""
        return None if self.unsettled else Ratio(self.count, self.of).share

    @property
    def low(self) -> float | None:
        """As if every unsettled one were settled for the first; `high`: as if none were."""
        return Ratio(self.count, self.of + self.unsettled).low

    @property
    def high(self) -> float | None:
        return Ratio(self.count + self.unsettled, self.of + self.unsettled).high


@dataclass(frozen=True)
class Agreements:
    overall: Agreement
    by_category: list[Agreement]
    by_language: list[Agreement]
    by_pair: list[Agreement]
    overturned: Overturned
    open: int
    """Drawn and not answered, of decisions that still stand: of others nobody is asked any more."""


class _Answer(NamedTuple):
    language: str
    first_outcome: str
    first_category: str
    first_name: str
    outcome: str
    category: str
    name: str
    side: str
    agrees: bool | None

    @property
    def said(self) -> Said:
        return (
            _finding(self.first_outcome, self.first_category),
            _finding(self.outcome, self.category),
        )

    @property
    def people(self) -> tuple[str, str]:
        one, other = sorted([self.first_name, self.name])
        return one, other

    @property
    def said_by_people(self) -> Said:
        """In the order of their names: in a pair, each is the first one at times."""
        first, second = self.said
        return (first, second) if self.people[0] == self.first_name else (second, first)


def read_agreement(*, since: datetime | None = None, until: datetime | None = None) -> Agreements:
    """Of first decisions that took effect in [since, until). Two statements.

    By plain counts: second reviews are drawn at nearly one rate.
    """
    within = Q()
    if since:
        within &= Q(decision__effective_at__gte=since)
    if until:
        within &= Q(decision__effective_at__lt=until)
    reviews = DoubleReview.objects.filter(within)
    rows = reviews.filter(answered_at__isnull=False).values_list(
        "stratum__language",
        "decision__action__outcome",
        "decision__category",
        "decision__reviewer__username",
        "action__outcome",
        "category",
        "reviewer__username",
        "side",
        "agrees",
    )
    answers = [_Answer(*row) for row in rows.order_by("id")]
    said = [answer.said for answer in answers]
    categories = {finding for pair in said for finding in pair} - {ESCALATED}
    sides = DoubleReview.Side
    overturned = sum(answer.side in {sides.SECOND, sides.NEITHER} for answer in answers)
    unsettled = sum(not (answer.agrees or answer.side) for answer in answers)
    return Agreements(
        overall=_agreement("", said),
        by_category=[_one_against_the_rest(category, said) for category in sorted(categories)],
        by_language=_by(answers, lambda each: (each.language, ""), lambda each: each.said),
        by_pair=_by(answers, lambda each: each.people, lambda each: each.said_by_people),
        overturned=Overturned(overturned, len(answers) - unsettled, unsettled),
        open=reviews.filter(answered_at=None).whose_first_stands().count(),
    )


def _finding(outcome: str, category: str) -> str:
    if outcome == Action.Outcome.ESCALATES:
        return ESCALATED
    return category if outcome == Action.Outcome.UPHOLDS else ""


def _by(
    answers: Iterable[_Answer],
    key: Callable[[_Answer], tuple[str, str]],
    said: Callable[[_Answer], Said],
) -> list[Agreement]:
    parts: dict[tuple[str, str], list[Said]] = {}
    for answer in answers:
        parts.setdefault(key(answer), []).append(said(answer))
    return [_agreement(label, parts[label, other], other) for label, other in sorted(parts)]


def _agreement(label: str, said: list[Said], other: str = "") -> Agreement:
    agreed = sum(first == second for first, second in said)
    return Agreement(label, Ratio(agreed, len(said)), kappa(said), other)


def _one_against_the_rest(category: str, said: list[Said]) -> Agreement:
    whether = [(first == category, second == category) for first, second in said]
    either, both = sum(map(any, whether)), sum(map(all, whether))
    return Agreement(
        category,
        Ratio(both, either),
        kappa((str(first), str(second)) for first, second in whether),
    )
