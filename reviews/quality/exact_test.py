"""Whether more was found in one part than in the rest, beyond what chance gives: Fisher's exact test."""

from collections.abc import Mapping
from fractions import Fraction
from math import comb


def chance_of_as_many(found: int, of: int, *, rest_found: int, rest_of: int) -> float:
    """How likely at least so many finds fall into this part were all equally likely; one-sided."""
    every, finds = of + rest_of, found + rest_found
    as_many = sum(
        comb(finds, here) * comb(every - finds, of - here)
        for here in range(found, min(finds, of) + 1)
    )
    return float(Fraction(as_many, comb(every, of)))


def holm(chances: Mapping[str, float], *, level: float) -> set[str]:
    """Which of several tests stand out although so many were made (Holm 1979)."""
    named: set[str] = set()
    for place, (label, chance) in enumerate(sorted(chances.items(), key=lambda each: each[1])):
        if chance > level / (len(chances) - place):
            break
        named.add(label)
    return named
