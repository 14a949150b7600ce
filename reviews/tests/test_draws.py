"""Samples are drawn kind by kind, as the rates say, from all that was judged since the last time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from classifier.models import Classification, PolicyVersion
from classifier.tests.situations import load_version
from conftest import check_constraints_now
from reports.models import AuditEntry, Report, Sender
from reports.tests.sending import Client, make_sender
from reports.tests.unguarded import unguarded
from reviews.models import BlindAudit, DoubleReview, Draw, SamplingRate, Stratum
from reviews.quality.draw import draw, plan_draw
from reviews.tests.sampling import decide, hours_ago, judge_safe, rate_of
from reviews.undo import undo_decision

pytestmark = pytest.mark.django_db


@pytest.fixture
def sender(client_of_sender: Client, policy: PolicyVersion) -> Sender:  # noqa: ARG001
    rate_of("audits", 0.02, at_least=3)
    rate_of("double_reviews", 0.05)
    return Sender.objects.get()


def draw_now(seed: str = "") -> list[Draw]:
    drawn = draw(actor_name="test", seed=seed)
    check_constraints_now()
    return drawn


def counts(*fields: str) -> set[tuple[Any, ...]]:
    return set(Stratum.objects.values_list(*fields, "population", "drawn"))


def age(decision: Any, hours: float) -> None:
    """Time passes: it has been in effect for so long."""
    check_constraints_now()
    with unguarded() as cursor:
        cursor.execute(
            "UPDATE reviews_decision SET effective_at = %s WHERE id = %s",
            [hours_ago(hours), decision.pk],
        )


# --- How many


def test_each_kind_has_how_many_there_were_and_how_many_were_drawn(sender: Sender) -> None:
    judge_safe(sender.pk, 400)
    judge_safe(sender.pk, 120, language="ar-EG")
    judge_safe(sender.pk, 2, language="und-Arab")
    judge_safe(sender.pk, 151, category="other")

    draw_now()

    assert counts("language", "category") == {
        ("en", "none", 400, 8),
        ("ar", "none", 120, 3),
        ("und-arab", "none", 2, 2),
        ("en", "other", 151, 4),
    }
    for stratum in Stratum.objects.all():
        assert stratum.audits.count() == stratum.drawn


def test_a_share_is_taken_as_it_was_typed(sender: Sender) -> None:
    rate_of("audits", 0.07)
    judge_safe(sender.pk, 100)

    draw_now()

    # 0.07 times 100 is a little more than seven in binary fractions.
    assert counts() == {(100, 7)}


@pytest.mark.parametrize(
    ("confidence", "band"),
    [
        (0.0, "0.00-0.80"),
        (0.7999, "0.00-0.80"),
        (0.80, "0.80-0.90"),
        (0.9, "0.90-0.95"),
        (0.95, "0.95-0.99"),
        (0.99, "0.99-1.00"),
        (1.0, "0.99-1.00"),
    ],
)
def test_bands_begin_with_their_lower_edge(sender: Sender, confidence: float, band: str) -> None:
    judge_safe(sender.pk, 1, confidence=confidence)

    draw_now()

    assert counts("band") == {(band, 1, 1)}


def test_senders_and_policy_versions_are_kinds_of_their_own(
    sender: Sender, policy: PolicyVersion
) -> None:
    make_sender("forum")
    forum = Sender.objects.get(name="forum")
    judge_safe(sender.pk, 10)
    judge_safe(forum.pk, 20)

    draw_now()

    assert counts("sender__name", "policy_version") == {
        ("chat-app", policy.pk, 10, 3),
        ("forum", policy.pk, 20, 3),
    }


def test_the_most_specific_rate_counts_and_of_several_the_highest(sender: Sender) -> None:
    rate_of("audits", 0.5, language="ar")
    rate_of("audits", 0.25, category="none")
    rate_of("audits", 0.1, language="ar", band="0.95-0.99")
    rate_of("audits", 1.0, language="fa")
    judge_safe(sender.pk, 40)
    judge_safe(sender.pk, 40, language="ar", category="other", confidence=0.5)
    judge_safe(sender.pk, 40, language="ar", confidence=0.5)
    judge_safe(sender.pk, 40, language="ar", category="other")

    draw_now()

    assert counts("language", "category", "band") == {
        ("en", "none", "0.95-0.99", 40, 10),
        ("ar", "other", "0.00-0.80", 40, 20),
        ("ar", "none", "0.00-0.80", 40, 20),
        ("ar", "other", "0.95-0.99", 40, 4),
    }


def test_without_a_rate_what_there_was_is_kept_and_nothing_drawn(sender: Sender) -> None:
    SamplingRate.objects.all().delete()
    judge_safe(sender.pk, 5)

    draw_now()

    assert counts() == {(5, 0)}


# --- From what


def test_only_what_passes_as_safe_by_the_current_verdict_is_drawn_from(sender: Sender) -> None:
    rate_of("audits", 1)
    safe, decided, reopened, superseded = judge_safe(sender.pk, 4)
    decide(decided, "no_violation")
    decide(reopened, "reopen")
    judge_anew(superseded)

    draw_now()

    assert list(BlindAudit.objects.values_list("report", flat=True)) == [safe.pk]
    assert counts() == {(1, 1)}


def judge_anew(report: Report) -> None:
    """A newer version has just judged it, so that its older verdict counts no more."""
    newer = Classification.objects.get(report=report)
    Classification.objects.filter(pk=newer.pk).update(superseded=True)
    newer.pk, newer.policy_version = None, load_version(prompt="Another.")
    newer.created_at = timezone.now()
    newer.save(force_insert=True)


def test_decisions_in_effect_are_drawn_from_by_what_they_found(sender: Sender) -> None:
    rate_of("double_reviews", 1)
    cleared, upheld, undone, overridden, escalated, fresh = judge_safe(
        sender.pk, 6, language="ar-EG"
    )
    drawn = [decide(cleared, "no_violation"), decide(upheld, "remove", "spam")]
    taken_back = decide(undone, "no_violation")
    undo_decision(decision_id=taken_back.pk, reviewer=taken_back.reviewer)
    left_out = [
        taken_back,
        decide(overridden, "no_violation"),
        decide(escalated, "escalate"),
    ]
    drawn.append(decide(overridden, "remove", "spam"))
    for decision in (*drawn, *left_out):
        age(decision, 2)
    decide(fresh, "no_violation")

    draw_now()

    reviews = DoubleReview.objects.filter(decision__in=drawn)
    assert reviews.count() == DoubleReview.objects.count() == 3
    assert counts("draw__of", "language", "category", "band", "policy_version") >= {
        ("double_reviews", "ar", "", "", None, 1, 1),
        ("double_reviews", "ar", "spam", "", None, 2, 2),
    }


# --- By chance, and by a seed


def test_the_same_seed_draws_the_same_and_another_one_others(sender: Sender) -> None:
    judge_safe(sender.pk, 500)

    def drawn_by(seed: str) -> set[int]:
        with transaction.atomic():
            draw(actor_name="test", seed=seed)
            drawn = set(BlindAudit.objects.values_list("report", flat=True))
            transaction.set_rollback(True)
        return drawn

    first = drawn_by("a")

    assert len(first) == 10
    assert drawn_by("a") == first
    assert drawn_by("b") != first


def test_a_draw_keeps_the_seed_that_ordered_it(sender: Sender) -> None:
    judge_safe(sender.pk, 100)

    (row,) = draw_now()

    ranked = Report.objects.order_by("pk").extra(
        select={
            "place": "md5(%s || (SELECT id FROM classifier_classification"
            " WHERE report_id = reports_report.id))"
        },
        select_params=[row.seed],
        order_by=["place"],
    )
    expected = {report.pk for report in ranked[:3]}
    assert set(BlindAudit.objects.values_list("report", flat=True)) == expected


def test_each_one_is_as_likely_as_the_next(sender: Sender) -> None:
    """200 draws of five from fifty: each is drawn twenty times on average.

    Which ids there are is another each time, so it is by chance: below 50 and above 0 for all of them
    but once in ten million times.
    """
    rate_of("audits", 0.1)
    reports = judge_safe(sender.pk, 50)
    times = dict.fromkeys((report.pk for report in reports), 0)
    for seed in range(200):
        with transaction.atomic():
            draw(actor_name="test", seed=str(seed))
            for report in BlindAudit.objects.values_list("report", flat=True):
                times[report] += 1
            transaction.set_rollback(True)

    assert sum(times.values()) == 1_000
    assert max(times.values()) < 50
    assert min(times.values()) > 0


# --- One after the other


def test_drawing_again_draws_nothing_again(sender: Sender) -> None:
    judge_safe(sender.pk, 50)
    draw_now()

    assert draw_now() == []
    assert BlindAudit.objects.count() == 3


def test_the_next_draw_begins_where_the_last_one_ended(sender: Sender) -> None:
    judge_safe(sender.pk, 5, at=hours_ago(5))
    draw_now()
    end = hours_ago(4)
    with unguarded() as cursor:
        cursor.execute("UPDATE reviews_draw SET until = %s", [end])
    judge_safe(sender.pk, 6, at=end - timedelta(microseconds=1))
    judge_safe(sender.pk, 7, at=end)

    draw_now()

    assert counts() == {(5, 3), (7, 3)}


def test_what_was_written_within_the_last_hour_is_in_the_next_draw(sender: Sender) -> None:
    judge_safe(sender.pk, 4, at=hours_ago(0.9))
    judge_safe(sender.pk, 3, at=hours_ago(1.1))

    draw_now()
    assert counts() == {(3, 3)}
    with unguarded() as cursor:
        # Half an hour passes.
        cursor.execute(
            "UPDATE reviews_draw SET since = since - interval '30 minutes',"
            " until = until - interval '30 minutes'"
        )
        cursor.execute(
            "UPDATE classifier_classification SET created_at = created_at - interval '30 minutes'"
        )

    draw_now()
    assert counts() == {(3, 3), (4, 3)}


def test_no_draw_goes_over_the_end_of_a_month(sender: Sender) -> None:
    for month in (6, 7, 12):
        judge_safe(sender.pk, month, at=datetime(2025, month, 15, tzinfo=UTC))

    drawn = draw_now()

    assert [(row.since.year, row.since.month) for row in drawn] == [
        (2025, 6),
        (2025, 7),
        (2025, 12),
    ]
    assert [sum(s.population for s in row.strata.all()) for row in drawn] == [6, 7, 12]
    for row in drawn:
        assert row.until <= (row.since.replace(day=1) + timedelta(days=32)).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )


# --- The plan and the record


def test_the_plan_is_what_is_drawn_and_writes_nothing(sender: Sender) -> None:
    judge_safe(sender.pk, 200)
    judge_safe(sender.pk, 9, language="ar")

    (planned,) = plan_draw()
    assert not Draw.objects.exists()
    (row,) = draw_now()

    assert (planned.of, planned.since, planned.until) == (row.of, row.since, row.until)
    assert (planned.population, planned.drawn) == (209, 7)
    assert {(each.language, each.population, each.drawn) for each in planned.strata} == counts(
        "language"
    )


def test_drawing_leaves_one_audit_row(sender: Sender) -> None:
    rate_of("double_reviews", 1)
    reports = judge_safe(sender.pk, 20)
    age(decide(reports[0], "no_violation"), 2)

    drawn = draw_now()

    entry = AuditEntry.objects.get(action="samples_drawn")
    assert entry.actor_name == "test"
    assert entry.detail == {"draws": [row.pk for row in drawn]}
    assert {row.of for row in drawn} == {"audits", "double_reviews"}
