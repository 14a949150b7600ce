"""Without a Batch API a batch drains through the batch queue, by calls, beside the live lane."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings

from classifier.jobs import claim_job
from classifier.models import Batch, BatchFlow, Classification, Disagreement, Job, PolicyVersion
from classifier.pipeline import Outcome, classify_report
from classifier.sweep import sweep_once
from classifier.tests.history import (
    ask,
    batch_of,
    claim_wanted,
    ends_of,
    next_version,
    send_judged,
    wanted_of,
)
from classifier.tests.processes import workers
from classifier.tests.situations import (
    assert_rows_agree,
    empty_queue,
    queued,
    send_text,
    versions_of,
    wait_until,
)
from dev.standin.client import Standin
from reports.models import Report, Severity
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


@pytest.fixture
def judged(client_of_sender: Client, policy: PolicyVersion) -> list[Report]:
    """Five reports that the first version judged safe."""
    return send_judged(client_of_sender, 5, policy=policy)


@pytest.fixture
def newer(judged: list[Report]) -> PolicyVersion:
    """The version that is active since."""
    assert judged
    return next_version()


# --- A batch drains


def test_a_batch_drains_through_a_batch_worker_that_leaves_arrivals_alone(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin, tmp_path: Path
) -> None:
    reports = send_judged(client_of_sender, 30, policy=policy)
    newer = next_version()
    batch = batch_of(newer, reports)
    arrived = send_text(client_of_sender, "Lunch at noon?")

    with workers(tmp_path, model_url=standin.base_url, lane=Lane.BATCH, sweep_every=0.1):
        wait_until(lambda: not Job.objects.filter(batch=batch, done=False).exists(), seconds=30)

    assert ends_of(batch) == [("done", True)] * 30
    assert [each["text"] for each in standin.calls()] == ["See you at lunch."] * 30
    for report in reports:
        assert versions_of(report) == {1: True, 2: False}
        assert_rows_agree(report)
    flow = BatchFlow.objects.get()
    assert (flow.before, flow.after, flow.reports) == ("none", "none", 30)
    batch.refresh_from_db()
    rows = Classification.objects.filter(policy_version=newer)
    assert batch.prompt_tokens == sum(row.prompt_tokens or 0 for row in rows) > 0
    assert batch.completion_tokens == sum(row.completion_tokens or 0 for row in rows) > 0
    arrived.refresh_from_db()
    assert arrived.status == Report.Status.PENDING


def test_the_batch_queue_has_a_bound_of_its_own_and_the_oldest_jobs_go_first(
    judged: list[Report], newer: PolicyVersion, settings: Settings
) -> None:
    empty_queue()
    settings.BATCH_QUEUE_BOUND = 4
    batch_of(newer, judged[2:])
    batch_of(newer, judged[:2])

    assert [sweep_once().nudged for _tick in range(2)] == [4, 0]

    assert queued(Lane.BATCH) == [report.pk for report in [*judged[2:], judged[0]]]
    assert queued(Lane.LIVE) == []
    assert wanted_of(judged[0]).nudged_at is not None
    assert wanted_of(judged[1]).nudged_at is None


def test_what_waits_or_is_held_or_ended_or_goes_through_the_provider_is_left_alone(
    judged: list[Report], newer: PolicyVersion, standin: Standin
) -> None:
    batch_of(newer, judged)
    faulty, held, ended, remote, due = judged
    standin.script({"kind": "error", "status": 503})
    assert ask(faulty) is Outcome.PUT_OFF
    claim_wanted(held, newer)
    assert ask(ended) is Outcome.RECORDED
    Job.objects.filter(report=remote, batch__isnull=False).update(through="provider_batch")

    sweep_once()

    assert queued(Lane.BATCH) == [due.pk]
    assert [ask(each) for each in (faulty, held, ended, remote)] == [Outcome.SPENT] * 4
    assert len(standin.calls()) == 2


def test_a_worker_that_died_costs_an_attempt_and_its_job_is_nudged_again(
    judged: list[Report], newer: PolicyVersion
) -> None:
    report = judged[0]
    batch_of(newer, [report])
    claim_wanted(report, newer)
    Job.objects.filter(batch__isnull=False).update(lease_until="2020-01-01T00:00:00Z")

    assert sweep_once().nudged == 1

    assert queued(Lane.BATCH) == [report.pk]
    assert claim_wanted(report, newer).number == wanted_of(report).attempts == 2


# --- Either lane its own


@pytest.mark.usefixtures("newer")
def test_a_batch_nudge_takes_no_report_that_is_pending(
    client_of_sender: Client, standin: Standin
) -> None:
    arrived = send_text(client_of_sender)

    assert ask(arrived) is Outcome.SPENT

    assert standin.calls() == []
    assert not Job.objects.filter(report=arrived).exists()


def test_a_pending_report_is_never_asked_as_history(
    client_of_sender: Client, newer: PolicyVersion, standin: Standin
) -> None:
    arrived = send_text(client_of_sender)
    batch_of(newer, [arrived])

    assert ask(arrived) is Outcome.SPENT

    assert standin.calls() == []


def test_a_live_nudge_takes_no_job_of_a_batch(
    judged: list[Report], newer: PolicyVersion, standin: Standin
) -> None:
    batch_of(newer, judged)

    assert classify_report(report_id=judged[0].pk, lane=Lane.LIVE) is Outcome.SPENT

    assert standin.calls() == []
    assert wanted_of(judged[0]).claims == 0


def test_a_live_claim_that_saw_its_report_still_pending_takes_no_job_of_a_batch(
    client_of_sender: Client, newer: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    batch_of(newer, [report])

    assert claim_job(report_id=report.pk, policy=newer, lane=Lane.LIVE) is None


# --- What a batch finds


def test_a_critical_verdict_on_what_was_judged_safe_is_a_disagreement_and_moves_nothing(
    judged: list[Report], newer: PolicyVersion, standin: Standin
) -> None:
    report = judged[0]
    batch = batch_of(newer, [report])
    standin.script({"kind": "verdict", "category": "credible_threat"})

    assert ask(report) is Outcome.RECORDED

    report.refresh_from_db()
    assert report.status == Report.Status.JUDGED_SAFE
    found = Disagreement.objects.get()
    assert (found.report_id, found.batch_id, found.state) == (report.pk, batch.pk, "open")
    assert (found.severity, found.unseen) == (Severity.CRITICAL, True)
    assert ends_of(batch) == [("done", True)]


# --- Ended by people


@pytest.mark.parametrize("state", ["stopped", "cancelling"])
def test_of_a_batch_that_is_not_at_work_nothing_more_is_asked(
    state: str, judged: list[Report], newer: PolicyVersion, standin: Standin
) -> None:
    batch = batch_of(newer, judged[:2])
    assert ask(judged[0]) is Outcome.RECORDED

    Batch.objects.filter(pk=batch.pk).update(state=state)

    assert sweep_once().nudged == 0
    assert ask(judged[1]) is Outcome.SPENT
    assert len(standin.calls()) == 1
    assert ends_of(batch) == [("done", True), ("open", False)]


def test_when_a_newer_version_is_active_the_older_ones_batch_is_not_asked(
    judged: list[Report], newer: PolicyVersion, standin: Standin
) -> None:
    batch_of(newer, judged)
    next_version()

    assert sweep_once().nudged == 0
    assert ask(judged[0]) is Outcome.SPENT
    assert standin.calls() == []
