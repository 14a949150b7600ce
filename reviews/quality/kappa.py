"""How far two people agree beyond what chance would give: Cohen's kappa."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

from reviews.quality.intervals import CONFIDENCE, normal_quantile


@dataclass(frozen=True)
class Kappa:
    """`value` is None where chance alone would agree always: both said one and the same throughout.

    `low` and `high` are None there too, and where the sample has no spread to tell by, as with
    perfect agreement: an interval of no width would promise what few answers cannot.
    """

    value: float | None
    low: float | None
    high: float | None


def kappa(pairs: Iterable[tuple[str, str]], confidence: float = CONFIDENCE) -> Kappa:
    """Of what the first and what the second said about the same, one pair for each.

    The interval is by the large-sample variance of Fleiss, Cohen and Everitt (1969), "Large sample
    standard errors of kappa and weighted kappa"; it ends at -1 and 1.
    """
    counts = Counter(pairs)
    total = counts.total()
    if not total:
        return Kappa(None, None, None)
    cells = {pair: count / total for pair, count in counts.items()}
    first: defaultdict[str, float] = defaultdict(float)
    second: defaultdict[str, float] = defaultdict(float)
    for (one, other), share in cells.items():
        first[one] += share
        second[other] += share
    if len(first.keys() | second.keys()) == 1:
        return Kappa(None, None, None)
    agreed = sum(share for (one, other), share in cells.items() if one == other)
    chance = sum(share * second[label] for label, share in first.items())
    value = (agreed - chance) / (1 - chance)
    spread = sum(
        share * (1 - (first[one] + second[one]) * (1 - value)) ** 2
        for (one, other), share in cells.items()
        if one == other
    )
    spread += (1 - value) ** 2 * sum(
        share * (second[one] + first[other]) ** 2
        for (one, other), share in cells.items()
        if one != other
    )
    spread -= (value - chance * (1 - value)) ** 2
    # Below this it is what rounding left of nought.
    if spread < 1e-12:
        return Kappa(value, None, None)
    variance = spread / (total * (1 - chance) ** 2)
    half = normal_quantile(confidence) * sqrt(variance)
    return Kappa(value, max(-1.0, value - half), min(1.0, value + half))
