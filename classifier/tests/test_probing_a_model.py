"""How a model wants to be asked is found out once, with a harmless text, over real HTTP."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from classifier.capabilities import (
    ANSWER_TOKENS,
    forget,
)
from classifier.models import Classification, ProviderModel
from classifier.pipeline import Outcome, classify_report
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
# Half of what the stand-in takes.
ALL_ROOM = 16_384


@pytest.fixture
def unknown(standin: Standin) -> ProviderModel:
    """The stand-in's model before anybody asked it."""
    ProviderModel.objects.update(mode="")
    return ProviderModel.objects.get(base_url=standin.base_url)


def fresh(model: ProviderModel) -> ProviderModel:
    return ProviderModel.objects.get(pk=model.pk)


def classify(report: Report) -> Outcome:
    return classify_report(report_id=report.pk, lane=Lane.LIVE)


def asked(standin: Standin) -> list[dict[str, Any]]:
    """The calls about a text, without those that count tokens."""
    return [call for call in standin.calls() if call["ref"] is not None]


def formats(standin: Standin) -> list[str | None]:
    """The response format of each call."""
    return [call["response_format"] for call in asked(standin)]


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
    *probing, last = asked(standin)
    assert len(probing) == 1 + len(refused)
    assert not set(refused) & set(last["parameters"])
    assert limit in {*last["parameters"], "none"}


@pytest.mark.parametrize("style", ["openai", "fastapi", "message"])
def test_a_server_that_refuses_the_format_and_all_parameters_is_still_asked(
    style: str, unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(
        refused_parameters=["response_format", "temperature", *LIMITS], parameter_style=style
    )

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert fresh(unknown).mode == "text"
    assert asked(standin)[-1]["parameters"] == ["messages", "model"]


@pytest.mark.parametrize("thinks", ["tags", "open_tag_missing", "field"])
def test_a_model_that_thinks_aloud_is_known_for_it_and_gets_room(
    thinks: str, unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(thinks=thinks)

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert (fresh(unknown).mode, fresh(unknown).thinks) == ("json_schema", True)
    assert [call["max_tokens"] for call in asked(standin)] == [ANSWER_TOKENS, ALL_ROOM]


def test_a_model_that_does_not_think_gets_the_room_of_an_answer(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    classify(send_text(client_of_sender))

    assert not fresh(unknown).thinks
    assert [call["max_tokens"] for call in asked(standin)] == [ANSWER_TOKENS] * 2


def test_a_probe_that_was_cut_is_tried_once_more_with_room(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "finish", "finish_reason": "length", "content": "{"})

    assert classify(send_text(client_of_sender)) is Outcome.RECORDED

    assert fresh(unknown).mode == "json_schema"
    rooms = [call["max_tokens"] for call in asked(standin)]
    assert rooms == [ANSWER_TOKENS, ALL_ROOM, ANSWER_TOKENS]


def test_a_page_in_place_of_an_answer_tells_nothing_of_the_mode(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "body", "body": "<html>Back soon.</html>"})

    assert classify(send_text(client_of_sender)) is Outcome.HELD_BACK

    assert (fresh(unknown).mode, fresh(unknown).rest_reason) == ("", "provider_unavailable")
    assert len(asked(standin)) == 1


def test_many_workers_at_once_probe_once(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "delay", "seconds": 0.5})
    reports = [send_text(client_of_sender, f"Text {number}") for number in range(8)]

    outcomes = at_once([lambda report=report: classify(report) for report in reports])  # type: ignore[misc]

    probes = [call for call in asked(standin) if "same place as last week" in call["text"]]
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
    assert Classification.objects.count() == len(asked(standin)) - 1 == 8


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
    assert len(asked(standin)) == 1

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


def test_a_filter_on_a_harmless_text_is_a_rest_and_no_traceback(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "body", "body": '{"error": {"code": "content_filter"}}'}, times=None)
    report = send_text(client_of_sender)

    for _nudge in range(3):
        assert classify(report) is Outcome.HELD_BACK
        end_wait(report)

    assert (fresh(unknown).mode, fresh(unknown).rest_reason) == ("", "provider_rejected")
    assert (job_of(report).reason, job_of(report).attempts) == ("provider_rejected", 0)
    assert len(asked(standin)) == 1


def test_while_nobody_could_probe_a_threats_nudge_does_not_go_round_and_round(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.script({"kind": "error", "status": 401}, times=None)
    threat = send_text(client_of_sender, "I will kill you tomorrow.")
    harmless = send_text(client_of_sender)

    outcomes = [classify(harmless) for _nudge in range(6)]

    assert outcomes == [Outcome.HELD_BACK] * 2 + [Outcome.SPENT] * 4
    assert (job_of(threat).claims, job_of(harmless).claims) == (1, 1)
    assert seconds_until_due(threat) > 1
    assert fresh(unknown).rest_reason == "provider_credentials"


@pytest.mark.parametrize(
    ("ref", "echoes"),
    [("m1", False), ("", False), (17, False), (None, False), ("0123456789abcdef", True)],
)
def test_a_model_that_garbles_the_reference_is_known_for_it_and_a_mix_up_is_not_taken_for_that(
    ref: Any, unknown: ProviderModel, standin: Standin, client_of_sender: Client, *, echoes: bool
) -> None:
    standin.script({"kind": "verdict", "ref": ref})

    classify(send_text(client_of_sender))

    assert (fresh(unknown).mode, fresh(unknown).echoes_ref) == ("json_schema", echoes)


def test_another_model_that_answers_is_noticed_before_any_report_is_sent(
    unknown: ProviderModel, standin: Standin, client_of_sender: Client
) -> None:
    standin.behave(served_model="a-cheaper-one")

    assert classify(send_text(client_of_sender)) is Outcome.HELD_BACK

    assert (fresh(unknown).mode, fresh(unknown).rest_reason) == ("", "wrong_model")
    assert {call["item_type"] for call in asked(standin)} == {"probe"}


@pytest.mark.parametrize(
    "weaker",
    [{"mode": "json_object"}, {"takes_temperature": False}, {"output_limit": "max_tokens"}],
)
def test_a_model_in_a_weaker_way_is_probed_again_after_a_day(
    weaker: dict[str, Any], standin: Standin, client_of_sender: Client
) -> None:
    model = ProviderModel.objects.get(base_url=standin.base_url)
    for hours, probes in ((23, 0), (25, 1)):
        probed_at = timezone.now() - timedelta(hours=hours)
        ProviderModel.objects.filter(pk=model.pk).update(**weaker, probed_at=probed_at)
        standin.clear()

        assert classify(send_text(client_of_sender)) is Outcome.RECORDED

        types = [call["item_type"] for call in asked(standin)]
        assert types == ["probe"] * probes + ["message"]
    row = fresh(model)
    assert (row.mode, row.takes_temperature) == ("json_schema", True)
    assert row.output_limit == "max_completion_tokens"
