"""How a model wants to be asked: probed once, learnt from an error once, over real HTTP."""

import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from classifier.capabilities import (
    ANSWER_TOKENS,
    FORMLESS_UNTIL_STEP,
    THOUGHT_TOKENS,
    forget,
    learn_from_error,
)
from classifier.models import Classification, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.provider import Fault, ProviderError
from classifier.tests.situations import (
    at_once,
    end_rest,
    end_wait,
    job_of,
    rest_left,
    seconds_until_due,
    send_text,
)
from dev.standin.client import Standin
from reports.models import AuditEntry, Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]

LIMITS = ("max_completion_tokens", "max_tokens")
ALL_ROOM = ANSWER_TOKENS + THOUGHT_TOKENS


@pytest.fixture
def unknown(standin: Standin) -> ProviderModel:
    """The stand-in's model before anybody asked it."""
    ProviderModel.objects.update(mode="")
    return ProviderModel.objects.get(base_url=standin.base_url)


def fresh(model: ProviderModel) -> ProviderModel:
    return ProviderModel.objects.get(pk=model.pk)


def classify(report: Report) -> Outcome:
    return classify_report(report_id=report.pk, lane=Lane.LIVE)


def learn(model: ProviderModel, parameter: str) -> bool:
    error = ProviderError(Fault.REJECTED, status=400, parameter=parameter)
    return learn_from_error(model, error, more_room=False)


def formats(standin: Standin) -> list[str | None]:
    """The response format of each call."""
    return [call["response_format"] for call in standin.calls()]


# --- Probing


@pytest.mark.parametrize(
    ("modes", "refusal", "tried"),
    [
        (["json_schema", "json_object"], "400", ["json_schema"]),
        (["json_object"], "400", ["json_schema", "json_object"]),
        (["json_object"], "422", ["json_schema", "json_object"]),
        (["json_object"], "500", ["json_schema", "json_object"]),
        (["json_object"], "ignored", ["json_schema", "json_object"]),
        (["json_object"], "empty", ["json_schema", "json_object"]),
        ([], "500", ["json_schema", "json_object", None]),
        ([], "ignored", ["json_schema", "json_object", None]),
    ],
)
def test_the_strongest_form_that_is_kept_to_is_found_once_and_asked_for_ever_after(
    modes: list[str],
    refusal: str,
    tried: list[str | None],
    *,
    unknown: ProviderModel,
    standin: Standin,
    client_of_sender: Client,
) -> None:
    standin.behave(modes=modes, mode_refusal=refusal)
    reports = [send_text(client_of_sender, text) for text in ("Lunch?", "Buy cheap watches")]

    assert [classify(report) for report in reports] == [Outcome.RECORDED] * 2

    assert formats(standin) == [*tried, tried[-1], tried[-1]]
    row = fresh(unknown)
    assert row.mode == (tried[-1] or "text")
    assert (row.takes_temperature, row.output_limit) == (True, "max_completion_tokens")
    assert (row.rests_until, row.turn_until, row.formless) == (None, None, 0)
    assert row.probed_at is not None


@pytest.mark.parametrize(
    ("refused", "style", "limit"),
    [
        (["temperature"], "openai", "max_completion_tokens"),
        (["max_completion_tokens"], "openai", "max_tokens"),
        (["max_completion_tokens", "max_tokens"], "openai", "none"),
        (["temperature", "max_completion_tokens", "max_tokens"], "openai", "none"),
        (["temperature", "max_completion_tokens", "max_tokens"], "fastapi", "none"),
        (["temperature", "max_completion_tokens", "max_tokens"], "message", "none"),
    ],
)
def test_a_parameter_that_is_refused_while_probing_is_dropped_for_good(
    refused: list[str],
    style: str,
    limit: str,
    *,
    unknown: ProviderModel,
    standin: Standin,
    client_of_sender: Client,
) -> None:
    standin.behave(refused_parameters=refused, parameter_style=style)

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    row = fresh(unknown)
    assert (row.mode, row.output_limit) == ("json_schema", limit)
    assert row.takes_temperature is ("temperature" not in refused)
    *probing, asked = standin.calls()
    assert len(probing) == 1 + len(refused)
    assert not set(refused) & set(asked["parameters"])
    assert limit in {*asked["parameters"], "none"}


@pytest.mark.parametrize("style", ["openai", "fastapi", "message"])
def test_a_server_that_refuses_the_format_and_all_parameters_is_still_asked(
    style: str, unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(
        refused_parameters=["response_format", "temperature", *LIMITS], parameter_style=style
    )

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert fresh(unknown).mode == "text"
    assert standin.calls()[-1]["parameters"] == ["messages", "model"]


@pytest.mark.parametrize("thinks", ["tags", "open_tag_missing", "field"])
def test_a_model_that_thinks_aloud_is_known_for_it_and_gets_room(
    thinks: str, unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(thinks=thinks)

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert (fresh(unknown).mode, fresh(unknown).thinks) == ("json_schema", True)
    assert [call["max_tokens"] for call in standin.calls()] == [ANSWER_TOKENS, ALL_ROOM]


def test_a_model_that_does_not_think_gets_the_room_of_an_answer(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    classify(send_text(client_of_sender))

    assert not fresh(unknown).thinks
    assert [call["max_tokens"] for call in standin.calls()] == [ANSWER_TOKENS] * 2


def test_a_probe_that_was_cut_is_tried_once_more_with_room(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "finish", "finish_reason": "length", "content": "{"})

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert fresh(unknown).mode == "json_schema"
    rooms = [call["max_tokens"] for call in standin.calls()]
    assert rooms == [ANSWER_TOKENS, ALL_ROOM, ANSWER_TOKENS]


def test_a_page_in_place_of_an_answer_tells_nothing_of_the_mode(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "body", "body": "<html>Back soon.</html>"})

    assert classify(send_text(client_of_sender)) is Outcome.HELD_BACK

    assert (fresh(unknown).mode, fresh(unknown).rest_reason) == ("", "provider_unavailable")
    assert len(standin.calls()) == 1


def test_many_workers_at_once_probe_once(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "delay", "seconds": 0.5})
    reports = [send_text(client_of_sender, f"Text {number}") for number in range(8)]

    outcomes = at_once([lambda report=report: classify(report) for report in reports])  # type: ignore[misc]

    probes = [call for call in standin.calls() if "same place as last week" in call["text"]]
    assert len(probes) == 1
    assert fresh(unknown).mode == "json_schema"
    # Whoever came meanwhile waits unasked and has spent nothing.
    assert set(outcomes) <= {Outcome.RECORDED, Outcome.HELD_BACK}
    assert Outcome.RECORDED in outcomes
    for report, outcome in zip(reports, outcomes, strict=True):
        if outcome is Outcome.HELD_BACK:
            job = job_of(report)
            assert (job.reason, job.attempts, job.faults) == ("probing_model", 0, 0)
            end_wait(report)
            assert classify(report) is Outcome.RECORDED
    assert Classification.objects.count() == len(standin.calls()) - 1 == 8


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"kind": "error", "status": 503}, "provider_unavailable"),
        ({"kind": "error", "status": 401}, "provider_credentials"),
        ({"kind": "error", "status": 404, "code": "model_not_found"}, "unknown_model"),
        ({"kind": "error", "status": 429, "code": "insufficient_quota"}, "provider_quota"),
        ({"kind": "close"}, "provider_unavailable"),
        ({"kind": "hang", "seconds": 5}, "provider_timeout"),
    ],
    ids=["503", "401", "404", "quota", "closed", "silence"],
)
def test_a_fault_of_the_provider_while_probing_is_a_rest_and_nothing_is_recorded(
    step: dict[str, Any],
    reason: str,
    *,
    unknown: ProviderModel,
    standin: Standin,
    client_of_sender: Client,
    settings: Settings,
) -> None:
    settings.MODEL_DEADLINE_SECONDS = 0.5
    report = send_text(client_of_sender)
    standin.script(step)

    assert classify(report) is Outcome.HELD_BACK

    row = fresh(unknown)
    assert (row.mode, row.probed_at, row.rest_reason) == ("", None, reason)
    assert row.turn_until is None
    assert rest_left(row) > 4
    job = job_of(report)
    assert (job.reason, job.attempts, job.parked) == (reason, 0, False)
    end_wait(report)
    assert classify(report) is Outcome.HELD_BACK
    assert len(standin.calls()) == 1

    settings.MODEL_DEADLINE_SECONDS = 60.0
    end_rest()
    end_wait(report)
    assert classify(report) is Outcome.RECORDED
    assert fresh(unknown).mode == "json_schema"


def test_a_fault_in_a_later_step_of_the_probe_records_no_weaker_mode(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(modes=["json_object"])
    standin.script(
        {"kind": "error", "status": 400, "param": "response_format"},
        {"kind": "error", "status": 503},
    )

    assert classify(send_text(client_of_sender)) is Outcome.HELD_BACK

    assert formats(standin) == ["json_schema", "json_object"]
    assert (fresh(unknown).mode, fresh(unknown).probed_at) == ("", None)


def test_whoever_wishes_it_has_the_model_probed_again(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(modes=[], refused_parameters=["temperature"])
    classify(send_text(client_of_sender))
    assert (fresh(unknown).mode, fresh(unknown).takes_temperature) == ("text", False)

    standin.behave()
    forget(model=unknown, actor=User.objects.create_user("operator"))
    classify(send_text(client_of_sender, "Another text."))

    assert (fresh(unknown).mode, fresh(unknown).takes_temperature) == ("json_schema", True)
    assert AuditEntry.objects.filter(action="probe_wanted").count() == 1


# --- Learning while asking


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
