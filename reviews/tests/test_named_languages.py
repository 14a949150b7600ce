"""A language is named where more is missed in it than in the rest, however it was drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reviews.quality.estimates import Share, named_languages
from reviews.quality.exact_test import chance_of_as_many
from reviews.quality.intervals import Weights


def share_of(label: str, answered: int, found: int) -> Share:
    return weighing(label, (50, answered, found))


def weighing(label: str, *strata: tuple[float, int, int]) -> Share:
    """Of strata: what an answer stands for, how many answers, and how many of them found something."""
    of, found = (sum(counts) for counts in list(zip(*strata, strict=True))[1:])
    if not of:
        return Share(label, 0, 0, 0, 0, None, None, None)
    weights = Weights(
        answered=of,
        weight=sum(weight * count for weight, count, _found in strata),
        found_weight=sum(weight * many for weight, _count, many in strata),
        squares=sum(weight**2 * count for weight, count, _found in strata),
        found_squares=sum(weight**2 * many for weight, _count, many in strata),
    )
    return Share(label, of, of, of, found, weights.share, None, None, weights.effective)


def test_a_language_with_more_misses_than_chance_gives_is_named() -> None:
    shares = [share_of("ar", 300, 6), share_of("en", 900, 1), share_of("fr", 300, 0)]
    chance = stats.fisher_exact([[6, 294], [1, 1199]], alternative="greater").pvalue
    assert chance < 0.05 / 3

    assert named_languages(shares) == ["ar"]


def test_what_chance_may_give_names_none() -> None:
    shares = [share_of("ar", 300, 2), share_of("en", 900, 1), share_of("fr", 300, 0)]
    chance = stats.fisher_exact([[2, 298], [1, 1199]], alternative="greater").pvalue
    assert chance > 0.05 / 3  # and more so for the others

    assert named_languages(shares) == []


def test_the_more_languages_the_more_it_takes() -> None:
    pair = [share_of("ar", 300, 4), share_of("en", 900, 1)]
    rest = [share_of(f"x{number}", 1, 0) for number in range(40)]

    assert named_languages(pair) == ["ar"]
    assert named_languages(pair + rest) == []


def test_two_languages_that_stand_out_are_both_named() -> None:
    shares = [share_of("ar", 300, 12), share_of("fa", 300, 12), share_of("en", 2000, 1)]

    assert named_languages(shares) == ["ar", "fa"]


def test_a_language_is_not_named_for_how_it_was_drawn() -> None:
    """A hundredth is spam, of which a tenth is missed; in Arabic all of it was drawn."""
    plain = [share_of("en", 2020, 4), share_of("ar", 3000, 102)]
    assert named_languages(plain) == ["ar"]

    english = weighing("en", (50, 2000, 2), (50, 20, 2))
    arabic = weighing("ar", (50, 2000, 2), (1, 1000, 100))

    assert english.share == pytest.approx(arabic.share, abs=1e-4)
    assert named_languages([english, arabic]) == []


def test_where_shares_are_alike_chance_names_a_language_in_one_look_of_twenty() -> None:
    """Three languages, each of 20,000 items, 3 in 1,000 missed; 500 of each are missed far more often."""
    chance = np.random.default_rng(9)
    wrong = 0
    for _look in range(400):
        shares = [
            weighing(
                language,
                (20_000 / of, of, int(chance.hypergeometric(60, 19_940, of))),
                (500 / of_spam, of_spam, int(chance.hypergeometric(50, 450, of_spam))),
            )
            for language, of, of_spam in [("ar", 400, 500), ("en", 1000, 25), ("fr", 1000, 25)]
        ]
        wrong += bool(named_languages(shares))

    assert wrong <= 0.05 * 400


def test_a_language_with_a_larger_share_is_named_however_it_was_drawn() -> None:
    english = weighing("en", (50, 1200, 4), (1, 1000, 100))
    arabic = weighing("ar", (20, 1500, 23), (50, 10, 1))

    assert named_languages([english, arabic]) == ["ar"]


@pytest.mark.parametrize("shares", [[], [share_of("ar", 50, 9)], [share_of("ar", 0, 0)]])
def test_with_nothing_to_compare_none_is_named(shares: list[Share]) -> None:
    assert named_languages(shares) == []


@given(st.integers(0, 300), st.integers(0, 4000), st.integers(0, 300), st.integers(0, 4000))
def test_the_chance_is_that_of_fishers_test_in_scipy(
    found: int, not_found: int, rest_found: int, rest_not_found: int
) -> None:
    table = [[found, not_found], [rest_found, rest_not_found]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue

    assert chance_of_as_many(
        found, found + not_found, rest_found=rest_found, rest_of=rest_found + rest_not_found
    ) == pytest.approx(expected, rel=1e-7, abs=1e-12)
