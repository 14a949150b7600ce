"""A limit that a person recorded, with evidence and an end, where the provider does not say."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from classifier.catalogue import (
    RecordRefusedError,
    drop_record,
    effective_limit,
    is_expired,
    record_limit,
)
from classifier.limits import Limit
from classifier.models import PolicyVersion, ProviderModel
from classifier.tests.catalogues import NAME, SILENT, listing, read
from dev.standin.client import Standin
from reports.models import AuditEntry

PAGE = "https://provider.example/models/stand-in"
TODAY = date(2026, 11, 30)


def row() -> ProviderModel:
    return ProviderModel.objects.get()


@pytest.fixture
def model(standin: Standin) -> ProviderModel:
    """A model whose limit of 8,192 stands in the list."""
    return read(standin, listing(max_model_len=8192)).model


def record(model: ProviderModel, **changes: Any) -> None:
    values = {"tokens": 4096, "evidence": PAGE, "until": TODAY + timedelta(days=90), **changes}
    record_limit(model=model, today=TODAY, actor_name="test", **values)


def test_a_record_makes_a_model_usable_up_to_its_last_day(standin: Standin) -> None:
    model = read(standin, SILENT).model
    record(model, until=TODAY)

    assert effective_limit(model, today=TODAY) == Limit(4096, "record")
    tomorrow = TODAY + timedelta(days=1)
    assert effective_limit(model, today=tomorrow) is None
    assert (is_expired(model, today=TODAY), is_expired(model, today=tomorrow)) == (False, True)


def test_a_record_survives_readings_and_lowers_what_the_list_says(
    standin: Standin, model: ProviderModel
) -> None:
    record(model, tokens=4096)
    read(standin, listing(max_model_len=8192))
    assert effective_limit(row(), today=TODAY) == Limit(4096, "record")

    record(model, tokens=16_384)
    assert effective_limit(row(), today=TODAY) == Limit(8192, "max_model_len")


def test_a_record_is_of_prompt_and_answer_together(standin: Standin) -> None:
    model = read(standin, listing(max_input_tokens=4000)).model
    record(model, tokens=4096)

    assert effective_limit(model, today=TODAY) == Limit(4000, "max_input_tokens")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tokens": 255}, "between 256"),
        ({"tokens": 16_000_001}, "between 256"),
        ({"evidence": ""}, "address of a page"),
        ({"evidence": "the manual"}, "address of a page"),
        ({"evidence": "javascript:alert(1)"}, "address of a page"),
        ({"evidence": f"{PAGE}/{'x' * 500}"}, "address of a page"),
        ({"until": TODAY - timedelta(days=1)}, "over already"),
    ],
)
def test_a_record_that_nobody_could_rely_on_is_refused(
    changes: dict[str, Any], sentence: str, model: ProviderModel
) -> None:
    with pytest.raises(RecordRefusedError, match=sentence):
        record(model, **changes)

    assert row().recorded_limit is None
    assert not AuditEntry.objects.filter(action="limit_recorded").exists()


def test_records_are_audited_and_dropping_twice_changes_nothing(model: ProviderModel) -> None:
    record(model)
    assert drop_record(model=model, actor_name="test")
    assert not drop_record(model=model, actor_name="test")

    assert model.recorded_limit is None
    assert list(
        AuditEntry.objects.filter(action__startswith="limit").values_list("action", "detail")
    ) == [
        ("limit_recorded", {"tokens": 4096, "evidence": PAGE, "until": "2027-02-28"}),
        ("limit_record_dropped", {}),
    ]


# --- The command


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    call_command("record_limit", *arguments)
    return capsys.readouterr().out


def in_days(days: int) -> str:
    return (timezone.localdate() + timedelta(days=days)).isoformat()


def test_the_command_records_for_a_model_of_a_policy_and_takes_it_back(
    policy: PolicyVersion,  # noqa: ARG001
    settings: Settings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"

    out = said(capsys, NAME, "8192", "--evidence", PAGE, "--until", in_days(30))

    assert out == f"{NAME}: 8,192 tokens until {in_days(30)}, by {PAGE}\n"
    assert effective_limit(row(), today=timezone.localdate()) == Limit(8192, "record")
    assert said(capsys, NAME, "--drop") == f"{NAME}: the record is dropped.\n"
    assert said(capsys, NAME, "--drop") == f"{NAME}: there was no record.\n"
    assert effective_limit(row(), today=timezone.localdate()) is None
    entries = AuditEntry.objects.order_by("id").values_list("action", "actor_name")
    assert list(entries)[-2:] == [
        ("limit_recorded", "command record_limit"),
        ("limit_record_dropped", "command record_limit"),
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([NAME], "Give TOKENS"),
        ([NAME, "8192"], "Give TOKENS"),
        ([NAME, "8192", "--evidence", PAGE], "Give TOKENS"),
        ([NAME, "8192", "--drop"], "Give TOKENS"),
        ([NAME, "8192", "--evidence", "by heart", "--until", "2999-01-01"], "address of a page"),
        ([NAME, "8192", "--evidence", PAGE, "--until", "2001-01-01"], "over already"),
        (
            ["wombat", "8192", "--evidence", PAGE, "--until", "2999-01-01"],
            "No policy version names",
        ),
    ],
)
def test_the_command_says_what_is_wrong(
    arguments: list[str],
    sentence: str,
    model: ProviderModel,  # noqa: ARG001
) -> None:
    with pytest.raises(CommandError, match=sentence) as refused:
        call_command("record_limit", *arguments)

    assert refused.value.returncode == 2
    assert row().recorded_limit is None
