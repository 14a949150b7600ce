"""Intervals of shares are what SciPy says, and those of weighted shares cover the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reviews.quality.intervals import (
    Weights,
    beta_quantile,
    clopper_pearson,
    weighted,
)

counts = st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(counts)
def test_clopper_and_pearson_is_the_exact_one_of_scipy(count: tuple[int, int]) -> None:
    found, of = count
    expected = stats.binomtest(found, of).proportion_ci(0.95, method="exact")

    assert clopper_pearson(found, of) == pytest.approx(tuple(expected), abs=1e-11)


@given(st.floats(0.01, 3000), st.floats(0.01, 3000), st.floats(0.001, 0.999))
def test_quantiles_of_the_beta_distribution_are_those_of_scipy(
    a: float, b: float, probability: float
) -> None:
    below = stats.beta.cdf(beta_quantile(probability, a, b), a, b)

    assert below == pytest.approx(probability, abs=1e-6) or beta_quantile(
        probability, a, b
    ) == pytest.approx(stats.beta.ppf(probability, a, b), abs=1e-11)


def test_nothing_was_looked_at_so_anything_may_be() -> None:
    assert clopper_pearson(0, 0) == (0.0, 1.0)


def answers(*strata: tuple[float, int, int]) -> Weights:
    """Each stratum: what one answer stands for, how many answers, how many of them found something."""
    return Weights(
        answered=sum(count for _weight, count, _found in strata),
        weight=sum(weight * count for weight, count, _found in strata),
        found_weight=sum(weight * found for weight, _count, found in strata),
        squares=sum(weight**2 * count for weight, count, _found in strata),
        found_squares=sum(weight**2 * found for weight, _count, found in strata),
    )


def test_where_all_weigh_the_same_it_is_the_exact_one() -> None:
    assert weighted(answers((50, 300, 2))) == pytest.approx(clopper_pearson(2, 300))
    assert weighted(answers((50, 300, 0))) == pytest.approx((0, 1 - 0.025 ** (1 / 300)))


def test_unequal_weights_widen_it() -> None:
    even = answers((25, 400, 4))
    uneven = answers((5, 200, 2), (45, 200, 2))

    assert even.share == uneven.share == 0.01
    assert uneven.effective < 400
    assert weighted(uneven)[0] < weighted(even)[0]
    assert weighted(uneven)[1] > weighted(even)[1]


def test_finds_where_answers_weigh_most_widen_it_further() -> None:
    spread = answers((5, 200, 0), (45, 200, 2))
    kish = spread.weight**2 / spread.squares

    assert spread.effective < kish


def test_all_found_and_none_found_leave_one_side_open() -> None:
    assert weighted(answers((5, 10, 10), (9, 10, 10)))[1] == 1
    assert weighted(answers((5, 10, 0), (9, 10, 0)))[0] == 0


@pytest.mark.parametrize("missed", [0.002, 0.01, 0.1])
def test_it_covers_the_truth_as_often_as_it_says(missed: float) -> None:
    """Thirty kinds of 5 to 20,000 reports, two of a hundred and at least three of each looked at."""
    sizes = [5, 40, 150, 400, 900, 1500, 3000, 6000, 9000, 20000] * 3
    drawn = [max(3, -(-size // 50)) for size in sizes]
    bad = [round(missed * size) if size == 20000 else 0 for size in sizes]
    truth = sum(bad) / sum(sizes)
    runs = 500
    chance = np.random.default_rng(9)
    found = [
        chance.hypergeometric(wrong, size - wrong, looked_at, size=runs)
        for size, looked_at, wrong in zip(sizes, drawn, bad, strict=True)
    ]

    covered = 0
    for run in range(runs):
        strata = [
            (size / looked_at, looked_at, int(hits[run]))
            for size, looked_at, hits in zip(sizes, drawn, found, strict=True)
        ]
        low, high = weighted(answers(*strata))
        covered += low <= truth <= high

    assert covered >= 0.95 * runs
