"""`manage.py models`: what is known of each model, and asking one again, for whoever is paged."""

import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db.models.functions import Now

from classifier.cooldown import Turn, note_fault
from classifier.models import ProviderModel, WaitingReason
from classifier.tests.situations import NO_LIMIT, know_model
from reports.models import AuditEntry

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> ProviderModel:
    return know_model("http://127.0.0.1:9/v1", takes_temperature=False, **NO_LIMIT)


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("models", *arguments)
    return capsys.readouterr().out


def rest(model: ProviderModel) -> None:
    note_fault(
        model=model,
        turn=Turn(granted=True),
        reason=WaitingReason.PROVIDER_QUOTA,
        retry_after=3600,
    )


def test_it_says_why_a_model_rests_until_when_and_what_to_do(
    model: ProviderModel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys).startswith(
        "stand-in-not-a-model at http://127.0.0.1:9/v1\n  asked as json_schema\n"
    )

    rest(model)

    assert "provider_quota" in said(capsys)
    assert "Top up the account." in said(capsys)
    (facts,) = [json.loads(line) for line in said(capsys, "--json").splitlines()]
    assert (facts["rest_reason"], facts["mode"]) == ("provider_quota", "json_schema")
    assert facts["rests_until"] > facts["rests_since"]


def test_a_rest_is_ended_and_twice_changes_nothing(
    model: ProviderModel, capsys: pytest.CaptureFixture[str]
) -> None:
    rest(model)

    for _time in range(2):
        assert "rests" not in said(capsys, "--ask-again", model.name)

    entries = AuditEntry.objects.filter(action="rest_ended")
    assert [entry.actor_name for entry in entries] == ["command models"]


def test_a_model_is_to_be_probed_again(
    model: ProviderModel, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "not probed yet" in said(capsys, "--probe", model.name)

    model.refresh_from_db()
    assert (model.mode, model.takes_temperature) == ("", True)
    assert AuditEntry.objects.filter(action="probe_wanted").count() == 1


@pytest.mark.parametrize("option", ["--ask-again", "--probe"])
def test_an_unknown_name_is_told(option: str) -> None:
    with pytest.raises(CommandError, match="No model named wombat") as refused:
        call_command("models", option, "wombat")

    assert refused.value.returncode == 2


def test_it_says_how_much_a_model_takes_who_says_so_and_how_old_that_is(
    model: ProviderModel, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys)
    assert "not usable, unknown_limit: Run `manage.py sync_models`" in out
    assert "list never read" in out

    ProviderModel.objects.filter(pk=model.pk).update(
        context_limit=8192,
        context_source="max_input_tokens",
        counts_answer=False,
        listed_at=Now() - timedelta(hours=25),
        listed_hash="0" * 64,
        recorded_limit=16_384,
        recorded_evidence="https://a.example",
        recorded_until="2026-01-31",
        shutdown_on="2027-01-31",
    )

    assert said(capsys).splitlines()[2:] == [
        "  8,192 tokens, prompt alone, by max_input_tokens",
        "  list read 25 hours ago, stale",
        "  recorded: 16,384 tokens until 2026-01-31, over, by https://a.example",
        "  shuts down on 2027-01-31",
    ]
    (facts,) = [json.loads(line) for line in said(capsys, "--json").splitlines()]
    assert (facts["limit"], facts["source"], facts["stale"]) == (8192, "max_input_tokens", True)
    assert (facts["recorded_until"], facts["shutdown_on"]) == ("2026-01-31", "2027-01-31")


def test_it_says_that_a_model_is_not_in_the_list(
    model: ProviderModel, capsys: pytest.CaptureFixture[str]
) -> None:
    ProviderModel.objects.filter(pk=model.pk).update(listed_at=Now())

    assert "not in the provider's list" in said(capsys)
