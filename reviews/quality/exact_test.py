"""Whether more was found in one part than in the rest, beyond what chance gives: Fisher's exact test."""

from collections.abc import Mapping
from math import exp, lgamma


def chance_of_as_many(found: int, of: int, *, rest_found: int, rest_of: int) -> float:
    """How likely at least so many finds fall into this part were all equally likely; one-sided."""
    finds, every = found + rest_found, of + rest_of
    if found * every > finds * of:
        return _at_least(found, of, finds=finds, every=every)
    # From the side where the terms are not all but nought: fewer here are more in the rest.
    return 1 - _at_least(rest_found + 1, rest_of, finds=finds, every=every)


def _at_least(found: int, of: int, *, finds: int, every: int) -> float:
    """The upper tail of the hypergeometric distribution, each term by the one before it."""
    most = min(finds, of)
    if found > most:
        return 0.0
    term = exp(
        _log_ways(finds, found) + _log_ways(every - finds, of - found) - _log_ways(every, of)
    )
    total = term
    for here in range(found, most):
        term *= (finds - here) * (of - here) / ((here + 1) * (every - finds - of + here + 1))
        total += term
    return total


def _log_ways(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)


def holm(chances: Mapping[str, float], *, level: float) -> set[str]:
    """Which of several tests stand out although so many were made (Holm 1979)."""
    named: set[str] = set()
    for place, (label, chance) in enumerate(sorted(chances.items(), key=lambda each: each[1])):
        if chance > level / (len(chances) - place):
            break
        named.add(label)
    return named
