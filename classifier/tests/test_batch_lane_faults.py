"""A job of a batch that brings no verdict: it waits, or ends with a reason and the time of its end."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from classifier.jobs import MOST_FAULTS_IN_A_BATCH, hold_back, park_dead, put_off
from classifier.models import (
    Batch,
    Classification,
    Job,
    PolicyVersion,
    ProviderModel,
    WaitingReason,
)
from classifier.pipeline import Outcome
from classifier.tests.history import (
    ask,
    batch_of,
    claim_wanted,
    ends_of,
    next_version,
    send_judged,
    wanted_of,
)
from classifier.tests.situations import (
    claim,
    completion,
    empty_queue,
    end_lease,
    end_rest,
    end_wait,
    record,
    send_text,
)
from dev.standin.client import Standin
from reports.models import Item, Report, Severity
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, report_body

pytestmark = pytest.mark.django_db(transaction=True)
Reason = WaitingReason
FILTERED = {"kind": "finish", "finish_reason": "content_filter"}
"""A step: the provider's filter blocks the content."""


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    yield
    empty_queue()


@pytest.fixture
def judged(client_of_sender: Client, policy: PolicyVersion) -> Report:
    (report,) = send_judged(client_of_sender, 1, policy=policy)
    return report


@pytest.fixture
def newer(judged: Report) -> PolicyVersion:
    assert judged.status == Report.Status.JUDGED_SAFE
    return next_version()


@pytest.fixture
def batch(judged: Report, newer: PolicyVersion) -> Batch:
    """One job, under the newer version, of the report that was judged safe."""
    return batch_of(newer, [judged])


# --- Waiting


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"kind": "error", "status": 429}, Reason.PROVIDER_RATE_LIMITED),
        ({"kind": "error", "status": 503}, Reason.PROVIDER_UNAVAILABLE),
        ({"kind": "close"}, Reason.PROVIDER_UNAVAILABLE),
    ],
)
def test_the_providers_fault_costs_no_attempt_and_the_job_is_asked_again(
    fault: dict[str, Any], reason: Reason, judged: Report, batch: Batch, standin: Standin
) -> None:
    standin.script(fault, times=Job.MAX_ATTEMPTS + 1)
    for _fault in range(Job.MAX_ATTEMPTS):
        # After a rest a probe finds out first, and may meet the same fault.
        assert ask(judged) in {Outcome.PUT_OFF, Outcome.HELD_BACK}
        job = wanted_of(judged)
        assert (job.reason, job.attempts, job.nudged_at) == (reason, 0, None)
        end_wait(judged)
        end_rest()
    standin.clear()

    assert ask(judged) is Outcome.RECORDED

    assert ends_of(batch) == [("done", True)]


# --- Ending without a verdict


def test_a_report_that_a_server_always_fails_on_ends_and_the_batch_can_end(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    poison = send_text(client_of_sender, "A zebra.")
    record(claim(poison, policy))
    batch = batch_of(next_version(), [poison])
    standin.script({"kind": "error", "status": 500}, match="zebra", times=None)
    asked = 0
    while ends_of(batch) == [("open", False)]:
        asked += 1
        assert asked < 3 * MOST_FAULTS_IN_A_BATCH
        ask(poison)
        end_wait(poison)
        end_rest()

    assert ends_of(batch) == [("parked", True)]
    assert wanted_of(poison).reason == Reason.PROVIDER_UNAVAILABLE
    assert len(standin.calls()) >= MOST_FAULTS_IN_A_BATCH


def test_what_everybody_rests_for_ends_no_job(
    judged: Report, batch: Batch, newer: PolicyVersion
) -> None:
    for _fault in range(MOST_FAULTS_IN_A_BATCH + 1):
        late = claim_wanted(judged, newer)
        put_off(claimed=late, reason=Reason.PROVIDER_UNAVAILABLE, rest=5)
        end_wait(judged)

    assert ends_of(batch) == [("open", False)]


def test_a_pending_report_waits_for_ever_whatever_the_server_says(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    for _fault in range(MOST_FAULTS_IN_A_BATCH + 1):
        put_off(claimed=claim(report, policy), reason=Reason.PROVIDER_UNAVAILABLE)
        end_wait(report)

    assert not Job.objects.get(report=report).parked


def test_an_answer_that_is_refused_three_times_ends_the_job_and_its_tokens_are_counted(
    judged: Report, batch: Batch, standin: Standin
) -> None:
    standin.script({"kind": "body", "body": json.dumps(completion("No verdict."))}, times=None)
    for _try in range(Job.MAX_ATTEMPTS):
        assert ends_of(batch) == [("open", False)]
        assert ask(judged) is Outcome.PUT_OFF
        end_wait(judged)

    assert ends_of(batch) == [("parked", True)]
    batch.refresh_from_db()
    assert (batch.prompt_tokens, batch.completion_tokens) == (3 * 2_500, 3 * 40)


@pytest.mark.usefixtures("batch")
def test_what_the_filter_blocks_ends_at_once_and_goes_to_people(
    judged: Report, batch: Batch, standin: Standin
) -> None:
    standin.script(FILTERED)

    assert ask(judged) is Outcome.PUT_OFF

    assert ends_of(batch) == [("parked", True)]
    assert wanted_of(judged).reason == Reason.CONTENT_FILTERED
    judged.refresh_from_db()
    assert (judged.status, judged.rank) == (Report.Status.NEEDS_REVIEW, Severity.HIGH)


def test_what_the_filter_blocks_stays_decided_where_a_person_has_decided(
    judged: Report, batch: Batch, standin: Standin
) -> None:
    resolve(judged, action="no_violation", category="")
    standin.script(FILTERED)

    assert ask(judged) is Outcome.PUT_OFF

    assert ends_of(batch) == [("parked", True)]
    judged.refresh_from_db()
    assert judged.status == Report.Status.RESOLVED
    assert judged.floor_rules == [Reason.CONTENT_FILTERED]
    assert Item.objects.get(pk=judged.item_id).list == Item.List.RESOLVED


@pytest.mark.parametrize("reason", [Reason.CONTENT_FILTERED, Reason.MODEL_REFUSED])
def test_what_was_refused_after_the_batch_was_planned_ends_unasked(
    reason: Reason, client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    report = send_text(client_of_sender)
    late = claim(report, policy)
    newer = next_version()
    record(claim(report, newer))
    newest = next_version()
    batch = batch_of(newest, [report])
    put_off(claimed=late, reason=reason)

    assert ask(report) is Outcome.SPENT

    assert standin.calls() == []
    assert ends_of(batch) == [("parked", True)]
    assert wanted_of(report).reason == reason


def test_a_job_whose_holders_died_ends_and_what_a_late_one_says_does_not_open_it_again(
    judged: Report, batch: Batch, newer: PolicyVersion
) -> None:
    for _holder in range(Job.MAX_ATTEMPTS):
        late = claim_wanted(judged, newer)
        end_lease(judged)

    assert park_dead() == 1

    assert ends_of(batch) == [("parked", True)]
    assert not put_off(claimed=late, reason=Reason.PROVIDER_TIMEOUT)
    hold_back(claimed=late, reason=Reason.PROBING, seconds=1)
    assert ends_of(batch) == [("parked", True)]
    assert wanted_of(judged).reason == Reason.HOLDER_DIED


def test_a_verdict_that_comes_after_its_job_was_parked_is_recorded(
    judged: Report, batch: Batch, newer: PolicyVersion
) -> None:
    late = claim_wanted(judged, newer)
    Job.objects.filter(batch=batch).update(
        parked=True, lease_until=None, reason=Reason.BATCH_CANCELLED
    )

    record(late)

    assert ends_of(batch) == [("done", True)]


def test_answers_about_parts_that_are_thrown_away_count_for_the_batch(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    ProviderModel.objects.update(context_limit=6_000)
    long = "A cup of tea. " * 500
    messages = [{"text": long}, {"text": f"{long} And a zebra."}]
    report = client_of_sender.send(report_body(messages=messages, reason=None))
    record(claim(report, policy))
    batch = batch_of(next_version(), [report])
    standin.script({"kind": "error", "status": 503}, match="zebra")

    assert ask(report) is Outcome.PUT_OFF

    first, *_others, failed = standin.calls()
    assert (first["status"], failed["status"]) == (200, 503)
    batch.refresh_from_db()
    thrown_away = batch.prompt_tokens
    assert thrown_away > 0
    end_wait(report)
    assert ask(report) is Outcome.RECORDED
    batch.refresh_from_db()
    row = Classification.objects.get(report=report, superseded=False)
    assert batch.prompt_tokens == thrown_away + (row.prompt_tokens or 0)
    assert thrown_away < (row.prompt_tokens or 0)
