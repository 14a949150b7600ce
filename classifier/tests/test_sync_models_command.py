"""`manage.py sync_models`: what the provider says of each model, what to do, and the exit code."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from classifier.catalogue import lower_limit
from classifier.models import PolicyVersion, ProviderModel
from classifier.tests.catalogues import NAME, listing
from classifier.tests.loopback import running_server, send_whole
from classifier.tests.situations import NO_LIMIT, know_model
from dev.standin.client import Standin


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit code, and what was said, the last sentence included."""
    try:
        call_command("sync_models", *arguments)
    except CommandError as error:
        return error.returncode, f"{capsys.readouterr().out}{error}"
    return 0, capsys.readouterr().out


def facts_of(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def in_days(days: int) -> str:
    return (timezone.localdate() + timedelta(days=days)).isoformat()


@pytest.mark.usefixtures("policy")
def test_it_tells_limit_source_change_and_shutdown(
    standin: Standin, capsys: pytest.CaptureFixture[str]
) -> None:
    ProviderModel.objects.update(**NO_LIMIT)
    standin.behave(models=listing(max_model_len=8192, shutdown_date=in_days(40)))

    code, out = run(capsys)

    assert code == 0
    assert out.splitlines() == [
        NAME,
        "  8,192 tokens, prompt and answer, by max_model_len (the provider: none before)",
        f"  shuts down on {in_days(40)}, in 40 days",
    ]
    standin.behave(models=listing(max_input_tokens=4096))
    assert (
        "  4,096 tokens, prompt alone, by max_input_tokens (the provider: 8,192 before)\n"
        in (run(capsys)[1])
    )
    assert "before)" not in run(capsys)[1]


@pytest.mark.usefixtures("policy")
def test_the_same_as_json(standin: Standin, capsys: pytest.CaptureFixture[str]) -> None:
    ProviderModel.objects.update(**NO_LIMIT)
    standin.behave(models=listing(max_model_len=8192, shutdown_date=in_days(-2)))

    (facts,) = facts_of(run(capsys, "--json")[1])

    assert facts.pop("listed_at")
    assert facts == {
        "model": NAME,
        "base_url": standin.base_url,
        "usable": True,
        "limit": 8192,
        "source": "max_model_len",
        "counts_answer": True,
        "provider_limit": 8192,
        "provider_limit_before": None,
        "shutdown_on": in_days(-2),
        "shutdown_days": -2,
        "failure": None,
    }


def test_the_model_of_the_active_policy_is_read_before_it_was_ever_asked(
    standin: Standin,
    policy: PolicyVersion,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    ProviderModel.objects.all().delete()
    know_model("http://127.0.0.1:9/v1", name="elsewhere")

    assert run(capsys)[0] == 0

    assert ProviderModel.objects.get(base_url=standin.base_url).context_limit == 32_768
    assert ProviderModel.objects.get(name="elsewhere").listed_at is None


@pytest.mark.usefixtures("policy")
def test_exit_3_when_the_active_policys_model_has_no_limit_and_what_to_do(
    standin: Standin, capsys: pytest.CaptureFixture[str]
) -> None:
    standin.behave(models=listing())
    code, out = run(capsys)
    assert code == 3
    assert "not usable: nobody has said how much it takes" in out
    assert f"manage.py record_limit {NAME} TOKENS --evidence URL --until" in out

    standin.behave(models=[])
    code, out = run(capsys)
    assert code == 3
    assert "The list has no model of this name." in out

    call_command(
        "record_limit", NAME, "8192", "--evidence", "https://a.example", "--until", in_days(1)
    )
    code, out = run(capsys)
    assert code == 0
    assert "8,192 tokens, prompt and answer, by record" in out


@pytest.mark.usefixtures("policy")
def test_a_record_that_ended_is_told(standin: Standin, capsys: pytest.CaptureFixture[str]) -> None:
    standin.behave(models=listing())
    ProviderModel.objects.update(
        recorded_limit=8192, recorded_evidence="https://a.example", recorded_until=in_days(-1)
    )

    code, out = run(capsys)

    assert code == 3
    assert f"the recorded limit ended on {in_days(-1)}" in out


@pytest.mark.usefixtures("policy")
def test_another_model_without_a_limit_is_no_reason_to_fail(
    standin: Standin, capsys: pytest.CaptureFixture[str]
) -> None:
    know_model(standin.base_url, name="an older one")

    code, out = run(capsys)

    assert code == 0
    assert "an older one\n  not usable" in out


@pytest.mark.usefixtures("policy")
def test_exit_1_when_the_list_cannot_be_read_and_nothing_changes(
    standin: Standin, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys)[0] == 0
    standin.behave(models="<html>busy</html>")

    code, out = run(capsys)

    assert code == 1
    assert "the list was not read, nothing was changed" in out
    assert "32,768 tokens" in out
    assert "not_json" in facts_of(run(capsys, "--json")[1])[0]["failure"]


@pytest.mark.usefixtures("policy")
def test_a_wrong_address_is_guessed_at(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    with running_server(lambda handler, _request: send_whole(handler, b"", status=404)) as server:
        settings.OPENAI_BASE_URL = server.base_url
        code, out = run(capsys)

    assert code == 1
    assert "Does OPENAI_BASE_URL end where the API begins" in out


def test_exit_6_when_some_were_read_and_others_not(
    settings: Settings,
    policy: PolicyVersion,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The provider goes away between two models."""
    asked: list[str] = []

    def respond(handler: Any, _request: Any) -> None:
        asked.append(handler.path)
        body = json.dumps([{"id": NAME, "max_model_len": 8192}]).encode()
        send_whole(handler, body, status=200 if len(asked) == 1 else 503)

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        know_model(server.base_url, name="zebra")
        code, out = run(capsys)

    assert code == 6
    assert out.endswith("1 of 2 failed.")


@pytest.mark.usefixtures("policy")
def test_an_operator_says_that_the_server_takes_more_again(
    standin: Standin, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys)[0] == 0
    lower_limit(ProviderModel.objects.get(base_url=standin.base_url), 4096)

    assert "4,096 tokens, prompt and answer, by error" in run(capsys)[1]
    assert "32,768 tokens" in run(capsys, "--forget-errors")[1]


def test_without_a_policy_and_a_model_there_is_nothing_to_read(
    db: None,  # noqa: ARG001
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out = run(capsys)

    assert (code, out) == (0, "No model is known yet: `manage.py load_policy` names one.\n")
