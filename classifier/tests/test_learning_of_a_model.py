"""What an error or an answer teaches of a model is learnt once and only forward, over real HTTP."""

import threading
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from classifier.capabilities import (
    FORMLESS_UNTIL_STEP,
    learn_from_error,
)
from classifier.jobs import put_off
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.pipeline import Outcome, classify_report
from classifier.provider import Fault, ProviderError
from classifier.tests.situations import (
    at_once,
    claim,
    job_of,
    seconds_until_due,
    send_text,
)
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]

LIMITS = ("max_completion_tokens", "max_tokens")
# Half of what the stand-in takes.
ALL_ROOM = 16_384


def fresh(model: ProviderModel) -> ProviderModel:
    return ProviderModel.objects.get(pk=model.pk)


def classify(report: Report) -> Outcome:
    return classify_report(report_id=report.pk, lane=Lane.LIVE)


def learn(model: ProviderModel, parameter: str) -> bool:
    error = ProviderError(Fault.REJECTED, status=400, parameter=parameter)
    return learn_from_error(model, error)


@pytest.mark.parametrize(
    ("parameter", "style", "learnt"),
    [
        ("temperature", "openai", {"takes_temperature": False}),
        ("temperature", "fastapi", {"takes_temperature": False}),
        ("temperature", "message", {"takes_temperature": False}),
        ("max_completion_tokens", "openai", {"output_limit": "max_tokens"}),
        ("response_format", "openai", {"mode": "json_object"}),
    ],
)
def test_a_parameter_refused_while_asking_is_learnt_and_the_report_asked_again_at_no_cost(
    parameter: str,
    style: str,
    learnt: dict[str, Any],
    standin: Standin,
    client_of_sender: Client,
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    standin.behave(refused_parameters=[parameter], parameter_style=style)
    report = send_text(client_of_sender)

    assert classify(report) is Outcome.HELD_BACK

    row = fresh(model)
    assert {name: getattr(row, name) for name in learnt} == learnt
    assert (row.faults, row.rests_until) == (0, None)
    assert (job_of(report).attempts, job_of(report).faults) == (0, 0)
    assert seconds_until_due(report) <= 0
    if parameter == "response_format":
        standin.behave(modes=["json_object"])
    assert classify(report) is Outcome.RECORDED
    assert job_of(report).attempts == 1
    assert len(standin.calls()) == 2


def test_what_a_server_says_of_the_text_teaches_nothing_about_parameters(
    standin: Standin, client_of_sender: Client
) -> None:
    """Servers echo the text, and anybody may write our parameters' names into it."""
    text = "My temperature is high, my response_format low, max_completion_tokens: 3."
    standin.script({"kind": "error", "status": 400, "message": f"Refused: {text}"})

    assert classify(send_text(client_of_sender, text)) is Outcome.PUT_OFF

    row = fresh(ProviderModel.objects.get(base_url=standin.base_url))
    assert (row.mode, row.takes_temperature) == ("json_schema", True)
    assert row.output_limit == "max_completion_tokens"


def test_eight_workers_with_the_same_lesson_learn_it_once(
    standin: Standin, client_of_sender: Client
) -> None:
    """Twice would be the step after it as well: no limit at all."""
    model = ProviderModel.objects.get(base_url=standin.base_url)
    together = threading.Barrier(8)

    def learn_at_once() -> bool:
        mine = fresh(model)
        together.wait(10)
        return learn(mine, "max_completion_tokens")

    assert at_once([learn_at_once] * 8) == [True] * 8
    assert fresh(model).output_limit == "max_tokens"
    assert classify(send_text(client_of_sender)) is Outcome.RECORDED


def test_a_worker_that_learns_late_does_not_take_a_later_lesson_back(standin: Standin) -> None:
    late = ProviderModel.objects.get(base_url=standin.base_url)
    assert learn(fresh(late), "max_completion_tokens")
    assert learn(fresh(late), "max_tokens")

    assert learn(late, "max_completion_tokens")

    assert fresh(late).output_limit == "none"


def test_a_parameter_that_was_dropped_and_is_blamed_again_teaches_nothing_more(
    standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "error", "status": 400, "param": "temperature"}, times=None)
    report = send_text(client_of_sender)
    model = ProviderModel.objects.get(base_url=standin.base_url)

    outcomes = [classify(report) for _nudge in range(3)]

    assert outcomes == [Outcome.HELD_BACK, Outcome.PUT_OFF, Outcome.SPENT]
    assert (job_of(report).reason, job_of(report).attempts) == ("provider_rejected", 0)
    assert (fresh(model).takes_temperature, fresh(model).mode) == (False, "json_schema")


def test_every_lesson_goes_one_way_and_the_last_one_ends_it(
    standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(
        refused_parameters=["temperature", *LIMITS, "response_format", "messages"],
        parameter_style="openai",
    )
    report = send_text(client_of_sender)
    model = ProviderModel.objects.get(base_url=standin.base_url)

    outcomes = [classify(report) for _nudge in range(7)]

    assert outcomes == [Outcome.HELD_BACK] * 5 + [Outcome.PUT_OFF, Outcome.SPENT]
    row = fresh(model)
    assert (row.takes_temperature, row.output_limit, row.mode) == (False, "none", "text")
    assert len(standin.calls()) == 6
    assert (job_of(report).reason, job_of(report).attempts) == ("provider_rejected", 0)


@pytest.mark.parametrize("said", ["I would say that it is harmless.", ""])
def test_three_answers_without_form_in_a_row_lead_to_the_next_mode(
    said: str, standin: Standin, client_of_sender: Client
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    for number in range(FORMLESS_UNTIL_STEP):
        assert fresh(model).mode == "json_schema"
        standin.script({"kind": "content", "content": said})
        classify(send_text(client_of_sender, f"Text {number}"))

    assert (fresh(model).mode, fresh(model).formless) == ("json_object", 0)


def test_an_answer_in_form_between_them_keeps_the_mode(
    standin: Standin, client_of_sender: Client
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    prose = {"kind": "content", "content": "I would say that it is harmless."}
    standin.script(prose, prose, {"kind": "verdict"}, prose, prose)

    for number in range(5):
        classify(send_text(client_of_sender, f"Text {number}"))

    assert (fresh(model).mode, fresh(model).formless) == ("json_schema", 2)


def test_a_replay_of_the_reports_that_it_stumbled_over_does_not_lead_to_the_next_mode(
    standin: Standin, client_of_sender: Client, policy: PolicyVersion
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    reports = [send_text(client_of_sender, f"Text {n}") for n in range(FORMLESS_UNTIL_STEP)]
    for report in reports:
        put_off(claimed=claim(report, policy), reason=WaitingReason.ANSWER_INVALID)
    call_command("replay", "--execute", stdout=StringIO())
    standin.script({"kind": "content", "content": "I would say that it is harmless."}, times=None)

    assert [classify(report) for report in reports] == [Outcome.PUT_OFF] * FORMLESS_UNTIL_STEP

    assert (fresh(model).mode, fresh(model).formless) == ("json_schema", 0)
