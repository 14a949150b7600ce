"""What a model's rest does to reports: nothing but wait, and the most urgent one first."""

import threading
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from classifier.cooldown import (
    LONGEST_REST_SECONDS,
    ask_again_now,
)
from classifier.models import ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.sweep import sweep_once
from classifier.tests.resting import Reason, fail, fresh, put_to_rest
from classifier.tests.situations import (
    at_once,
    empty_queue,
    end_rest,
    end_wait,
    job_of,
    know_model,
    make_many,
    queued,
    seconds_until_due,
    send_text,
)
from dev.standin.client import Standin
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> ProviderModel:
    return know_model("http://127.0.0.1:9/v1")


def is_at_ease(model: ProviderModel) -> bool:
    row = fresh(model)
    rest = (row.rests, row.rest_reason, row.rests_since, row.rests_until, row.turn_until)
    return rest == (0, "", None, None, None)


@pytest.mark.usefixtures("policy")
def test_a_report_that_comes_during_a_rest_is_held_back_unasked_and_spends_no_attempt(
    model: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    resting = ProviderModel.objects.get(base_url=standin.base_url)
    fail(resting, Reason.PROVIDER_QUOTA, retry_after=40)
    report = send_text(client_of_sender)
    assert model.pk != resting.pk

    for _nudge in range(5):
        assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.HELD_BACK
        end_wait(report)

    job = job_of(report)
    assert (job.reason, job.attempts, job.faults, job.parked) == ("provider_quota", 0, 0, False)
    assert standin.calls() == []
    end_rest()
    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.RECORDED
    assert is_at_ease(resting)


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("asked", [40, 3])
def test_a_report_that_comes_during_a_rest_is_due_when_the_rest_is_over(
    asked: float, standin: Standin, client_of_sender: Client
) -> None:
    """Not later: the most urgent one is to be asked first, and it may have come last."""
    model = ProviderModel.objects.get(base_url=standin.base_url)
    fail(model, Reason.PROVIDER_RATE_LIMITED, retry_after=asked)
    report = send_text(client_of_sender)

    classify_report(report_id=report.pk, lane=Lane.LIVE)

    model.refresh_from_db()
    due = job_of(report).not_before
    assert due is not None
    assert model.rests_until is not None
    # The rest is read as seconds from now, and written a moment after that.
    assert timedelta(milliseconds=-1) < due - model.rests_until < timedelta(seconds=1)


@pytest.mark.usefixtures("policy")
def test_the_sweep_nudges_nobody_during_a_rest_one_after_it_and_all_once_it_is_at_ease(
    standin: Standin,
) -> None:
    empty_queue()
    model = ProviderModel.objects.get(base_url=standin.base_url)
    make_many("chat-app", 5)
    put_to_rest(model)

    assert sweep_once().nudged == 0

    end_rest()
    assert [sweep_once().nudged for _tick in range(3)] == [1, 0, 0]
    (finds_out,) = queued()

    assert classify_report(report_id=finds_out, lane=Lane.LIVE) is Outcome.RECORDED
    assert sweep_once().nudged == 4
    empty_queue()


@pytest.mark.usefixtures("policy")
def test_sixteen_reports_after_a_rest_cost_one_call_until_it_was_answered(
    standin: Standin, client_of_sender: Client
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    reports = [send_text(client_of_sender) for _report in range(16)]
    put_to_rest(model)
    end_rest()
    standin.script({"kind": "error", "status": 503, "after_seconds": 0.5}, times=None)
    done = threading.Barrier(16)

    def nudge(pk: int) -> Outcome:
        done.wait(10)
        return classify_report(report_id=pk, lane=Lane.LIVE)

    outcomes = at_once([lambda pk=report.pk: nudge(pk) for report in reports])  # type: ignore[misc]

    assert set(outcomes) == {Outcome.HELD_BACK}
    assert [call["item_type"] for call in standin.calls()] == ["probe"]
    assert fresh(model).rests == 2
    assert ProviderModel.objects.filter(pk=model.pk, rests_until__gt=Now()).exists()


@pytest.mark.usefixtures("policy")
def test_when_a_person_ends_a_long_rest_nobody_waits_for_its_old_end(
    standin: Standin, client_of_sender: Client
) -> None:
    resting = ProviderModel.objects.get(base_url=standin.base_url)
    standin.script({"kind": "error", "status": 429, "headers": {"retry-after": "2592000"}})
    asked, came = send_text(client_of_sender), send_text(client_of_sender)
    assert classify_report(report_id=asked.pk, lane=Lane.LIVE) is Outcome.PUT_OFF
    assert classify_report(report_id=came.pk, lane=Lane.LIVE) is Outcome.HELD_BACK

    assert ask_again_now(model=resting, actor_name="test")

    assert seconds_until_due(asked) <= LONGEST_REST_SECONDS
    assert seconds_until_due(came) <= LONGEST_REST_SECONDS


@pytest.mark.usefixtures("policy")
def test_reports_on_which_a_server_fails_keep_nobody_else_waiting(
    standin: Standin, client_of_sender: Client
) -> None:
    """Threats stand first, so they would be the ones to find out, and never find anything out."""
    poison = [send_text(client_of_sender, f"I will kill you {n}. poison") for n in range(8)]
    harmless = send_text(client_of_sender)
    standin.script({"kind": "error", "status": 500}, match="poison", times=None)

    for report in poison:
        classify_report(report_id=report.pk, lane=Lane.LIVE)
    assert fresh(resting := ProviderModel.objects.get(base_url=standin.base_url)).rests == 1
    for report in (*poison, harmless):
        end_wait(report)

    # Time passes: a rest ends, but what failed waits on its own, longer from time to time.
    for _nudge in range(20):
        end_rest()
        if classify_report(report_id=harmless.pk, lane=Lane.LIVE) is Outcome.RECORDED:
            break
        end_wait(harmless)

    assert job_of(harmless).done
    assert fresh(resting).rests <= 1  # it never grew: each time a harmless text was answered
