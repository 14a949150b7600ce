"""How far a batch is: every count says what the rows say, and a million rows are not looked at."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from classifier.batches.progress import AtProvider, Progress, read_progress
from classifier.models import (
    Batch,
    Disagreement,
    Job,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
    WaitingReason,
)
from classifier.tests.batches import (
    add_disagreement,
    add_flow,
    add_jobs,
    add_provider_batch,
    end_jobs,
    make_batch,
)
from classifier.tests.explaining import nodes_of
from classifier.tests.situations import know_model

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
PROVIDER = "http://127.0.0.1:9/v1"
STATE = ProviderBatch.State


@pytest.fixture
def batch(policy: PolicyVersion) -> Batch:
    return make_batch(policy)


def read(batch: Batch) -> Progress:
    return read_progress(Batch.objects.get(pk=batch.pk))


def made(batch: Batch, *, ago: timedelta) -> None:
    Batch.objects.filter(pk=batch.pk).update(created_at=Now() - ago)


def recorded() -> list[int]:
    batches: Any = Batch.objects.with_recorded()
    return [batch.recorded for batch in batches]


def price(settings: Settings, **fields: Any) -> None:
    settings.OPENAI_BASE_URL = PROVIDER
    know_model(
        PROVIDER,
        **{
            "price_prompt": Decimal("2.5"),
            "price_completion": Decimal(10),
            "price_batch_share": Decimal("0.5"),
            "price_evidence": "https://provider.example/prices",
            "price_until": timezone.localdate() + timedelta(days=1),
            **fields,
        },
    )


# --- Counts


def test_of_a_batch_without_jobs_yet_nothing_is_done_and_nothing_known(batch: Batch) -> None:
    progress = read(batch)

    assert (progress.percent, progress.left, progress.ended) == (0.0, 0, 0)
    assert (progress.estimated_end, progress.cost, progress.flows) == (None, None, [])


def test_jobs_are_counted_by_what_became_of_them(batch: Batch) -> None:
    jobs = add_jobs(batch, 20)
    end_jobs(jobs[:8], ago=MINUTE)
    end_jobs(jobs[8:10], reason=WaitingReason.TOO_LONG, ago=MINUTE)
    end_jobs(jobs[10:13], reason=WaitingReason.MODEL_REFUSED, ago=MINUTE)
    Job.objects.filter(pk=jobs[19].pk).update(through=Job.Through.PROVIDER_BATCH)
    add_jobs(make_batch(batch.policy_version), 3, sender_name="another")

    progress = read(batch)

    assert (progress.wanted, progress.done, progress.parked_in_all) == (20, 8, 5)
    assert list(progress.parked.items()) == [
        (WaitingReason.MODEL_REFUSED, 3),
        (WaitingReason.TOO_LONG, 2),
    ]
    assert progress.open == {Job.Through.CALLS: 6, Job.Through.PROVIDER_BATCH: 1}
    assert (progress.ended, progress.left, progress.percent) == (13, 7, 65.0)


def test_reports_that_the_planning_has_not_come_to_are_still_to_be_done(batch: Batch) -> None:
    jobs = add_jobs(batch, 8)
    end_jobs(jobs[:2], ago=MINUTE)
    Job.objects.filter(pk__in=[job.pk for job in jobs[2:]]).delete()
    second, last = jobs[1].report_id, jobs[7].report_id
    planning = Batch.objects.filter(pk=batch.pk)
    planning.update(state="planning", wanted=2, planned_up_to=second, last_report=last)

    assert (read(batch).unplanned, read(batch).left, read(batch).percent) == (6, 6, 25.0)
    assert read(batch).estimated_end is None
    planning.update(selection={"limit": 5})
    assert (read(batch).unplanned, read(batch).percent) == (3, 40.0)
    planning.update(planned_up_to=last)
    assert (read(batch).unplanned, read(batch).percent) == (0, 100.0)


def test_a_hundred_percent_is_never_told_too_early(batch: Batch) -> None:
    almost = replace(read(batch), done=9_999, open={Job.Through.CALLS: 1})

    assert almost.percent == 99.9


# --- Time


def test_the_rate_is_that_of_the_last_ten_minutes_and_tells_the_end(batch: Batch) -> None:
    made(batch, ago=5 * HOUR)
    jobs = add_jobs(batch, 100)
    end_jobs(jobs[:50], ago=2 * HOUR)
    end_jobs(jobs[50:70], ago=9 * MINUTE)

    progress = read(batch)

    assert progress.per_minute == pytest.approx(2.0)
    assert progress.estimated_end is not None
    assert progress.estimated_end - timezone.now() == pytest.approx(15 * MINUTE, abs=5 * SECOND)


def test_a_young_batch_is_as_fast_as_it_was_since_its_start(batch: Batch) -> None:
    made(batch, ago=2 * MINUTE)
    end_jobs(add_jobs(batch, 30)[:10], ago=MINUTE)

    assert read(batch).per_minute == pytest.approx(5.0, rel=0.1)


def test_nothing_moves_so_no_end_is_estimated(batch: Batch) -> None:
    made(batch, ago=HOUR)
    end_jobs(add_jobs(batch, 30)[:10], ago=30 * MINUTE)

    assert (read(batch).per_minute, read(batch).estimated_end) == (0.0, None)


@pytest.mark.parametrize("state", ["stopped", "cancelling"])
def test_what_is_held_up_has_no_estimated_end(batch: Batch, state: str) -> None:
    end_jobs(add_jobs(batch, 30)[:10], ago=SECOND)
    assert read(batch).estimated_end is not None

    Batch.objects.filter(pk=batch.pk).update(state=state)

    assert read(batch).estimated_end is None


def test_an_ended_batch_tells_the_rate_of_its_whole_life(batch: Batch) -> None:
    end_jobs(add_jobs(batch, 60), ago=HOUR)
    Batch.objects.filter(pk=batch.pk).update(
        state="done", created_at=Now() - 3 * HOUR, ended_at=Now() - 2 * HOUR
    )

    assert read(batch).per_minute == pytest.approx(1.0)
    assert read(batch).estimated_end is None


# --- Outcomes


def test_flows_come_largest_first_and_outcomes_are_their_sums(batch: Batch) -> None:
    add_flow(batch, "none", "spam", 5)
    add_flow(batch, "spam", "spam", 30)
    add_flow(batch, "", "none", 12)

    progress = read(batch)

    assert [(flow.before, flow.after, flow.reports) for flow in progress.flows] == [
        ("spam", "spam", 30),
        ("", "none", 12),
        ("none", "spam", 5),
    ]
    assert progress.outcomes == {"spam": 35, "none": 12}
    assert recorded() == [47]


def test_a_list_tells_zero_of_a_batch_that_recorded_nothing(batch: Batch) -> None:  # noqa: ARG001
    assert recorded() == [0]


def test_disagreements_are_counted_by_their_state(batch: Batch) -> None:
    jobs = add_jobs(batch, 6)
    for job, state in zip(jobs, ["open"] * 3 + ["reopened"] * 2 + ["settled"], strict=True):
        add_disagreement(batch, job, state=state)

    State = Disagreement.State  # noqa: N806 - a class
    assert read(batch).disagreements == {State.OPEN: 3, State.REOPENED: 2, State.SETTLED: 1}


# --- At the provider


def test_batches_at_the_provider_are_told_by_state_and_the_slowest_first(batch: Batch) -> None:
    add_provider_batch(batch, STATE.PLANNED, 10)
    add_provider_batch(batch, STATE.SUBMITTED, 20, submitted_at=Now() - MINUTE)
    oldest = add_provider_batch(batch, STATE.SUBMITTED, 30, submitted_at=Now() - HOUR)
    add_provider_batch(batch, STATE.DONE, 40)
    failed = add_provider_batch(batch, STATE.ENDED, 5, error="token_limit_exceeded")
    add_provider_batch(make_batch(batch.policy_version), STATE.SUBMITTED, 99)

    progress = read(batch)

    assert progress.provider_batches == {
        STATE.PLANNED: AtProvider(batches=1, lines=10),
        STATE.SUBMITTED: AtProvider(batches=2, lines=50),
        STATE.ENDED: AtProvider(batches=1, lines=5),
        STATE.DONE: AtProvider(batches=1, lines=40),
    }
    assert progress.at_provider == 60
    assert progress.slowest[0] == oldest
    assert [each.lines for each in progress.slowest] == [30, 20, 10]
    assert progress.failed == [failed]


# --- Failures


def test_the_last_failures_are_shown_newest_first_and_no_more_than_twenty(batch: Batch) -> None:
    jobs = add_jobs(batch, 40)
    end_jobs(jobs[:15], ago=SECOND)
    for number, job in enumerate(jobs[15:]):
        end_jobs([job], reason=WaitingReason.TOO_LONG, ago=(number + 1) * MINUTE)

    failures = read(batch).failures

    assert [job.pk for job in failures] == [job.pk for job in jobs[15:35]]
    assert failures[0].report.public_id


def test_failures_of_one_moment_are_shown_too(batch: Batch) -> None:
    jobs = add_jobs(batch, 30)
    end_jobs(jobs[:25], reason=WaitingReason.BATCH_EXPIRED, ago=MINUTE)

    assert len(read(batch).failures) == 20


# --- Cost


def test_the_cost_is_that_of_the_tokens_used(batch: Batch, settings: Settings) -> None:
    price(settings)
    Batch.objects.filter(pk=batch.pk).update(prompt_tokens=2_000_000, completion_tokens=100_000)

    assert read(batch).cost == Decimal(6)


def test_a_price_that_had_run_out_before_is_none(batch: Batch, settings: Settings) -> None:
    price(settings, price_until=timezone.localdate() - timedelta(days=1))
    assert read(batch).cost is None
    made(batch, ago=timedelta(days=1))
    assert read(batch).cost == 0
    ProviderModel.objects.update(name="another")
    assert read(batch).cost is None


# --- What it costs to read


@pytest.mark.django_db(transaction=True)
def test_jobs_are_counted_by_their_indexes_alone(batch: Batch) -> None:
    jobs = add_jobs(batch, 600)
    end_jobs(jobs[:200], ago=MINUTE)
    end_jobs(jobs[200:210], reason=WaitingReason.TOO_LONG, ago=2 * MINUTE)
    with CaptureQueriesContext(connection) as asked:
        read(batch)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE classifier_job")
    used = [
        (node["Node Type"], node["Index Name"])
        for query in asked
        if '"classifier_job"' in query["sql"]
        for node in nodes_of(query["sql"])
        if node.get("Relation Name") == "classifier_job"
    ]

    assert used == [
        ("Index Only Scan", "job_ended_of_batch"),
        ("Index Only Scan", "job_ended_of_batch"),
        ("Index Only Scan", "job_to_do_of_batch"),
        ("Index Only Scan", "job_ended_of_batch"),
        # The rows of the few moments that the one before has found.
        ("Index Scan", "job_ended_of_batch"),
    ]
    assert len(asked) <= 17
