"""What the audits say of all that was judged safe, by figures that were worked out by hand."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from scipy import stats

from classifier.models import PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Report, Sender
from reports.tests.sending import Client
from reports.tests.unguarded import unguarded
from reviews.models import BlindAudit, Claim
from reviews.quality.draw import draw
from reviews.quality.estimates import Share, read_estimates
from reviews.quality.intervals import clopper_pearson
from reviews.tests.sampling import decide, hours_ago, judge_safe, rate_of

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


def test_an_item_that_fifteen_people_reported_is_one_answer(sender: Sender) -> None:
    rate_of("audits", 1)
    (first,) = judge_safe(sender.pk, 1)
    same = judge_safe(sender.pk, 14, item=first.item_id)
    judge_safe(sender.pk, 1)
    draw(actor_name="test")
    decide(first, "remove", "spam", also=same)

    overall = read_estimates().overall

    assert counts(overall) == (2, 2, 1, 1)
    assert (overall.low, overall.high) == pytest.approx(clopper_pearson(1, 1))


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
    with unguarded() as cursor:
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


def test_answers_are_told_that_were_given_blind(sender: Sender) -> None:
    rate_of("audits", 1)
    seeing, blind, after_another, seen_before = judge_safe(sender.pk, 4)
    draw(actor_name="test")
    hold_blind(blind, "dana")
    for report in (seeing, blind):
        decide(report, "no_violation")
    # Somebody else decides meanwhile, so that dana is shown it; and dana opens the item anew, seeing.
    hold_blind(after_another, "dana")
    decide(after_another, "no_violation", by="noor")
    decide(after_another, "no_violation")
    hold_blind(seen_before, "dana", blind=False)
    decide(seen_before, "no_violation")

    estimates = read_estimates()

    assert (estimates.overall.answered, estimates.blind) == (4, 1)


def test_of_a_period_no_older_audit_is_read(sender: Sender) -> None:
    rate_of("audits", 1)
    judge_safe(sender.pk, 300, at=datetime(2026, 6, 3, tzinfo=UTC))
    judge_safe(sender.pk, 5, at=datetime(2026, 7, 3, tzinfo=UTC))
    draw(actor_name="test")

    before = audits_read()
    assert read_estimates(since=datetime(2026, 7, 1, tzinfo=UTC)).overall.drawn == 5

    assert 5 <= audits_read() - before < 50


def audits_read() -> int:
    """Rows of audits that this transaction has read so far, by an index wherever one serves."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
            " WHERE relname = 'reviews_blindaudit'"
        )
        (rows,) = cursor.fetchone()
        return int(rows)


def hold_blind(report: Report, name: str, *, blind: bool = True) -> None:
    """That the person took its item a minute ago, and let go of it."""
    person, _made = User.objects.get_or_create(username=name)
    claim = Claim.objects.create(
        item=report.item, reviewer=person, blind=blind, expires_at=hours_ago(-1)
    )
    Claim.objects.filter(pk=claim.pk).update(
        claimed_at=hours_ago(1 / 60), released_at=timezone.now()
    )
