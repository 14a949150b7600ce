"""Cohen's kappa and its interval are what scikit-learn and statsmodels say."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from reviews.quality.kappa import Kappa, kappa

labels = st.sampled_from(["none", "spam", "threat", "hate"])
said = st.lists(
    st.one_of(st.tuples(labels, labels), labels.map(lambda label: (label, label))),
    min_size=1,
    max_size=80,
)


@given(said)
def test_it_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    assume(len({label for pair in pairs for label in pair}) > 1)
    expected = cohen_kappa_score(*zip(*pairs, strict=True))

    assert kappa(pairs).value == pytest.approx(expected, abs=1e-12)


@given(said)
def test_its_interval_is_that_of_statsmodels(pairs: list[tuple[str, str]]) -> None:
    found = kappa(pairs)
    assume(found.low is not None)
    names = sorted({label for pair in pairs for label in pair})
    table = np.zeros((len(names), len(names)))
    for first, second in pairs:
        table[names.index(first), names.index(second)] += 1
    expected = cohens_kappa(table)

    assert (found.low, found.high) == pytest.approx(
        (max(-1, expected.kappa_low), min(1, expected.kappa_upp)), abs=1e-9
    )


def test_the_example_of_a_textbook() -> None:
    # Of 50 both said yes to 20 and no to 15; five the second alone, ten the first alone.
    pairs = [("yes", "yes")] * 20 + [("no", "yes")] * 5 + [("yes", "no")] * 10 + [("no", "no")] * 15

    assert kappa(pairs).value == pytest.approx(0.4)


@pytest.mark.parametrize("pairs", [[], [("none", "none")] * 40])
def test_it_is_undefined_where_both_say_one_and_the_same_throughout(
    pairs: list[tuple[str, str]],
) -> None:
    assert kappa(pairs) == Kappa(None, None, None)


def test_what_one_of_them_said_once_and_the_other_never_has_no_interval() -> None:
    assert kappa([("True", "False")] + [("False", "False")] * 12) == Kappa(0, None, None)


def test_perfect_agreement_has_no_interval() -> None:
    assert kappa([("none", "none"), ("spam", "spam")] * 3) == Kappa(1, None, None)


def test_where_chance_explains_all_it_is_nought() -> None:
    pairs = [(one, other) for one in ("none", "spam") for other in ("none", "spam")]

    assert kappa(pairs * 5).value == pytest.approx(0)
