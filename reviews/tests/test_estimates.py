"""What the audits say of all that was judged safe, by figures that were worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from classifier.models import PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Report, Sender
from reports.tests.sending import Client
from reviews.models import BlindAudit
from reviews.quality.draw import draw
from reviews.quality.estimates import Share, named_languages, read_estimates
from reviews.quality.exact_test import chance_of_as_many
from reviews.quality.intervals import clopper_pearson
from reviews.tests.harms import unguarded
from reviews.tests.sampling import decide, judge_safe, rate_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender(client_of_sender: Client, policy: PolicyVersion) -> Sender:  # noqa: ARG001
    rate_of("audits", 0.1)
    return Sender.objects.get()


def answer(language: str, *, cleared: int = 0, upheld: int = 0) -> None:
    """So many of the open audits of a language."""
    audits = BlindAudit.objects.filter(stratum__language=language, decision=None)
    reports = Report.objects.filter(pk__in=audits.values("report")).order_by("pk")
    for number, report in enumerate(reports[: cleared + upheld]):
        if number < cleared:
            decide(report, "no_violation")
        else:
            decide(report, "remove", "spam")


def counts(share: Share) -> tuple[int, int, int, int]:
    return share.population, share.drawn, share.answered, share.found


def told(shares: list[Share]) -> dict[str, tuple[Any, ...]]:
    return {share.label: (*counts(share), share.share) for share in shares}


def by_label(shares: list[Share]) -> dict[str, Share]:
    return {share.label: share for share in shares}


def test_before_anything_is_drawn_nothing_is_said() -> None:
    estimates = read_estimates()

    assert estimates.overall == Share("", 0, 0, 0, 0, None, None, None)
    assert (estimates.by_language, estimates.open, estimates.severe) == ([], 0, 0)


def test_what_is_drawn_and_not_answered_is_open_and_has_no_share(sender: Sender) -> None:
    judge_safe(sender.pk, 40)
    draw(actor_name="test")

    estimates = read_estimates()

    assert estimates.overall == Share("", 40, 4, 0, 0, None, None, None)
    assert estimates.open == 4


def test_each_answer_weighs_as_much_as_its_kind_was_drawn_from(sender: Sender) -> None:
    rate_of("audits", 0.5, language="ar")
    judge_safe(sender.pk, 100)
    judge_safe(sender.pk, 20, language="ar-EG")
    draw(actor_name="test")
    answer("en", cleared=9, upheld=1)
    answer("ar", cleared=3, upheld=2)

    estimates = read_estimates()

    # An English answer stands for 100 / 10; an Arabic one for 20 / 10, and as half are answered, for 4.
    assert counts(estimates.overall) == (120, 20, 15, 3)
    assert estimates.overall.share == pytest.approx((1 * 10 + 2 * 4) / 120)
    languages = by_label(estimates.by_language)
    assert languages["en"].share == pytest.approx(0.1)
    assert languages["ar"].share == pytest.approx(0.4)
    assert counts(languages["ar"]) == (20, 10, 5, 2)
    assert estimates.open == 5


def test_its_interval_is_that_of_the_effective_size(sender: Sender) -> None:
    rate_of("audits", 0.5, language="ar")
    judge_safe(sender.pk, 100)
    judge_safe(sender.pk, 20, language="ar-EG")
    draw(actor_name="test")
    answer("en", cleared=9, upheld=1)
    answer("ar", cleared=3, upheld=2)

    estimates = read_estimates()

    # Kish's: (10 * 10 + 5 * 4)^2 / (10 * 10^2 + 5 * 4^2); Korn and Graubard's is 15.7.
    effective = 120**2 / 1080
    found = 0.15 * effective
    assert estimates.overall.low == pytest.approx(
        stats.beta.ppf(0.025, found, effective - found + 1), abs=1e-9
    )
    assert estimates.overall.high == pytest.approx(
        stats.beta.ppf(0.975, found + 1, effective - found), abs=1e-9
    )
    # Within one kind all weigh the same.
    arabic = by_label(estimates.by_language)["ar"]
    assert (arabic.low, arabic.high) == pytest.approx(clopper_pearson(2, 5))


def test_without_a_miss_the_upper_bound_says_how_little_was_looked_at(sender: Sender) -> None:
    judge_safe(sender.pk, 100)
    draw(actor_name="test")
    answer("en", cleared=10)

    overall = read_estimates().overall

    assert (overall.share, overall.low) == (0, 0)
    assert overall.high == pytest.approx(1 - 0.025 ** (1 / 10))


def test_every_side_of_a_kind_is_told(sender: Sender, policy: PolicyVersion) -> None:
    judge_safe(sender.pk, 30, category="none", confidence=0.97, at=datetime(2026, 6, 3, tzinfo=UTC))
    newer = load_version(prompt="Another.").number
    judge_safe(
        sender.pk,
        20,
        category="other",
        confidence=0.5,
        version=newer,
        at=datetime(2026, 7, 3, tzinfo=UTC),
    )
    draw(actor_name="test")
    answer("en", cleared=3)
    answer("en", upheld=2)

    estimates = read_estimates()

    assert told(estimates.by_category) == {"none": (30, 3, 3, 0, 0), "other": (20, 2, 2, 2, 1)}
    assert told(estimates.by_band) == {"0.95-0.99": (30, 3, 3, 0, 0), "0.00-0.80": (20, 2, 2, 2, 1)}
    assert told(estimates.by_version) == {
        str(policy.number): (30, 3, 3, 0, 0),
        str(newer): (20, 2, 2, 2, 1),
    }
    assert told(estimates.by_month) == {"2026-06": (30, 3, 3, 0, 0), "2026-07": (20, 2, 2, 2, 1)}
    assert told(estimates.by_sender) == {"chat-app": (50, 5, 5, 2, pytest.approx(0.4))}


def test_it_is_narrowed_by_time_and_version(sender: Sender, policy: PolicyVersion) -> None:
    june, july = datetime(2026, 6, 3, tzinfo=UTC), datetime(2026, 7, 3, tzinfo=UTC)
    judge_safe(sender.pk, 30, at=june)
    newer = load_version(prompt="Another.").number
    judge_safe(sender.pk, 20, version=newer, at=july)
    draw(actor_name="test")

    def population(**narrowed: Any) -> int:
        return read_estimates(**narrowed).overall.population

    assert population(since=june) == population(until=None) == 50
    # July's draw begins with the month.
    assert population(since=datetime(2026, 7, 1, tzinfo=UTC)) == 20
    assert population(until=datetime(2026, 7, 1, tzinfo=UTC)) == 30
    assert population(version=policy.number) == 30
    assert population(version=newer) == 20


def test_a_severe_miss_is_counted_as_such(sender: Sender) -> None:
    judge_safe(sender.pk, 20)
    draw(actor_name="test")
    first, second = Report.objects.filter(audits__isnull=False).order_by("pk")
    decide(first, "remove", "spam")
    decide(second, "remove", "credible_threat")

    estimates = read_estimates()

    assert (estimates.overall.found, estimates.severe) == (2, 1)


def test_second_reviews_are_not_in_it(sender: Sender) -> None:
    rate_of("double_reviews", 1)
    (report,) = judge_safe(sender.pk, 1)
    decision = decide(report, "no_violation")
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reviews_decision SET effective_at = effective_at - interval '2 hours' WHERE id = %s",
            [decision.pk],
        )
    assert [row.of for row in draw(actor_name="test")] == ["double_reviews"]

    assert read_estimates().overall.population == 0


def test_however_many_kinds_there_are_it_is_one_statement(
    sender: Sender, django_assert_num_queries: Any
) -> None:
    for language in ("en", "ar", "fr", "de"):
        judge_safe(sender.pk, 10, language=language)
    draw(actor_name="test")

    with django_assert_num_queries(1):
        read_estimates()


# --- Languages that stand out


def share_of(label: str, answered: int, found: int) -> Share:
    return Share(label, answered * 50, answered, answered, found, None, None, None)


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
