"""The task: one nudge, one outcome; what ends processes elsewhere ends only the task here."""

import re
from pathlib import Path

import pytest

from classifier.models import Classification, Job, PolicyVersion
from classifier.tasks import WorkerExhaustedError, classify
from classifier.tests.situations import claim, job_of, send_text
from dev.standin.client import Standin
from reports.models import ContentUnreadableError, Report
from reports.nudge import TASK
from reports.tests.sending import Client, store_instead

# Deeper than Python's JSON reader goes, less deep than PostgreSQL's.
DEPTH = 12_000
ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db(transaction=True)


def test_the_task_has_the_name_that_intake_nudges() -> None:
    assert classify.name == TASK


@pytest.mark.usefixtures("policy")
def test_a_nudge_is_classified_and_a_second_one_finds_it_done(
    client_of_sender: Client, standin: Standin
) -> None:
    report = send_text(client_of_sender)

    outcomes = [classify(report_id=report.pk, lane="live") for _delivery in range(2)]

    assert outcomes == ["recorded", "spent"]
    assert Classification.objects.count() == len(standin.calls()) == 1
    assert job_of(report).lane == "live"


def test_a_nudge_of_a_report_in_other_hands_asks_nothing(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    report = send_text(client_of_sender)
    claim(report, policy)

    assert classify(report_id=report.pk, lane="live") == "spent"
    assert standin.calls() == []


@pytest.mark.usefixtures("policy")
def test_a_nudge_of_no_report_is_spent() -> None:
    assert classify(report_id=404, lane="live") == "spent"


def test_without_a_policy_the_report_waits_untouched(client_of_sender: Client) -> None:
    report = send_text(client_of_sender)

    assert classify(report_id=report.pk, lane="live") == "no_policy"

    report.refresh_from_db()
    assert report.status == Report.Status.PENDING
    assert not Job.objects.exists()


@pytest.mark.usefixtures("policy")
def test_our_own_fault_is_named_spends_an_attempt_and_is_raised(
    client_of_sender: Client, standin: Standin
) -> None:
    report = send_text(client_of_sender)
    store_instead(report, {"messages": []})

    with pytest.raises(ContentUnreadableError):
        classify(report_id=report.pk, lane="live")

    job = job_of(report)
    assert (job.reason, job.attempts, job.lease_until) == ("internal_error", 1, None)
    assert standin.calls() == []


@pytest.mark.usefixtures("policy", "standin")
def test_exhausted_recursion_ends_the_task_and_not_the_worker(client_of_sender: Client) -> None:
    report = send_text(client_of_sender)
    store_instead(report, "[" * DEPTH + "]" * DEPTH)

    with pytest.raises(WorkerExhaustedError, match="RecursionError") as exhausted:
        classify(report_id=report.pk, lane="live")

    assert exhausted.value.__suppress_context__
    job = job_of(report)
    assert (job.reason, job.attempts, job.lease_until) == ("internal_error", 1, None)


def test_nothing_waits_in_the_queue() -> None:
    """No countdown, no eta, no retry: what has to wait stands in a column."""
    waiting = re.compile(r"\b(?:countdown|eta)=|\.retry\(|apply_async\(|\.delay\(")
    found = [
        f"{path}:{number}"
        for app in ("reports", "classifier", "reviews", "moderation_site")
        for path in (ROOT / app).rglob("*.py")
        if "tests" not in path.parts and "migrations" not in path.parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if waiting.search(line)
    ]

    assert found == []
