import pytest
from scipy.stats import binomtest

from reports.wilson import wilson


def test_the_interval_is_the_one_that_scipy_gives() -> None:
    for of in (1, 2, 5, 30, 1_000):
        for found in {0, 1, of // 3, of // 2, of - 1, of}:
            theirs = binomtest(found, of).proportion_ci(method="wilson")
            assert wilson(found=found, of=of) == pytest.approx((theirs.low, theirs.high))


def test_of_nothing_counted_the_share_may_be_anything() -> None:
    assert wilson(found=0, of=0) == (0.0, 1.0)


def test_more_than_all_cannot_be_found() -> None:
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(found=3, of=2)
