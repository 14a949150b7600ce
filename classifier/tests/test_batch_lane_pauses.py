"""History waits while a report that could be asked has waited for longer than the target."""

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import Settings

from classifier.batches.pressure import live_lane_waits
from classifier.cooldown import ask_again_now
from classifier.models import Job, PolicyVersion, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.sweep import sweep_once
from classifier.tests.history import ask, batch_of, next_version, send_judged, wanted_of
from classifier.tests.resting import put_to_rest
from classifier.tests.situations import empty_queue, make_many, queued
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


def arrive(*, age_seconds: float) -> Report:
    """A pending report that was received so long ago."""
    make_many("forum", 1, age_seconds=age_seconds)
    return Report.objects.get(sender__name="forum")


def give_job(report: Report, change: str) -> None:
    """The report's job, with columns as the SQL says."""
    Job.objects.create(
        report=report, policy_version=PolicyVersion.objects.get(state=PolicyVersion.State.ACTIVE)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE classifier_job SET {change} WHERE report_id = %s", [report.pk])  # noqa: S608


def test_while_an_arrival_waits_too_long_nothing_of_the_batch_is_asked_and_then_it_goes_on(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    nudged, waiting = send_judged(client_of_sender, 2, policy=policy)
    batch_of(next_version(), [nudged, waiting])
    assert sweep_once().nudged == 2
    empty_queue()
    arrived = arrive(age_seconds=31)

    assert sweep_once().nudged == 1
    assert ask(nudged) is Outcome.HELD_BACK

    assert (queued(Lane.LIVE), queued(Lane.BATCH)) == ([arrived.pk], [])
    assert standin.calls() == []
    job = wanted_of(nudged)
    assert (job.claims, job.attempts, job.reason, job.nudged_at) == (0, 0, "", None)

    assert classify_report(report_id=arrived.pk, lane=Lane.LIVE) is Outcome.RECORDED
    sweep_once()
    assert queued(Lane.BATCH) == [nudged.pk, waiting.pk]
    assert ask(nudged) is Outcome.RECORDED


def test_the_target_is_a_setting(settings: Settings, policy: PolicyVersion) -> None:
    assert policy
    arrive(age_seconds=31)
    assert live_lane_waits()

    settings.LIVE_TARGET_SECONDS = 40.0

    assert not live_lane_waits()


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    "change",
    [
        "not_before = clock_timestamp() + interval '1 minute', reason = 'provider_timeout'",
        # It has been due since then, not since it was received.
        "not_before = clock_timestamp() - interval '20 seconds', reason = 'provider_timeout'",
        "lease_until = clock_timestamp() + interval '1 minute', claims = 1, attempts = 1",
        "parked = true, reason = 'too_long'",
    ],
    ids=["waits for a time", "due for a moment", "is being asked", "is parked"],
)
def test_an_arrival_that_would_be_asked_no_sooner_does_not_count(change: str) -> None:
    arrived = arrive(age_seconds=300)
    assert live_lane_waits()

    give_job(arrived, change)

    assert not live_lane_waits()


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(
    "change",
    [
        "not_before = clock_timestamp() - interval '31 seconds', reason = 'provider_timeout'",
        "lease_until = clock_timestamp() - interval '1 second', claims = 1, attempts = 1",
        "nudged_at = clock_timestamp()",
    ],
    ids=["due for too long", "its holder died", "is nudged"],
)
def test_an_arrival_that_could_be_asked_counts(change: str) -> None:
    give_job(arrive(age_seconds=300), change)

    assert live_lane_waits()


@pytest.mark.usefixtures("policy")
def test_an_arrival_that_no_model_may_be_asked_about_does_not_count() -> None:
    arrived = arrive(age_seconds=300)
    Report.objects.filter(pk=arrived.pk).update(floor_rules=["content_filtered"])

    assert not live_lane_waits()


@pytest.mark.usefixtures("standin", "policy")
def test_arrivals_count_again_when_the_model_no_longer_rests() -> None:
    arrive(age_seconds=300)
    model = ProviderModel.objects.get()
    put_to_rest(model)
    assert not live_lane_waits()

    ask_again_now(model=model, actor_name="test")

    assert live_lane_waits()


def test_without_an_active_policy_nothing_waits() -> None:
    arrive(age_seconds=300)

    assert not live_lane_waits()
