"""The price of a model: recorded with evidence and an end, shown before and after, audited."""

import json
from datetime import date, timedelta
from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from classifier.management.commands.record_price import Command
from classifier.models import ProviderModel
from reports.models import AuditEntry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("policy")]

NAME = "stand-in-not-a-model"
PAGE = "https://provider.example/prices"
UNTIL = (timezone.localdate() + timedelta(days=30)).isoformat()
SOURCED = ("--evidence", PAGE, "--until", UNTIL)


def record(*arguments: str) -> str:
    said = StringIO()
    call_command("record_price", NAME, *arguments, stdout=said)
    return said.getvalue()


def stored() -> dict[str, Any]:
    fields = [each.name for each in ProviderModel._meta.fields if each.name.startswith("price_")]
    return dict(ProviderModel.objects.values(*fields).get())


def entries() -> list[tuple[str, str, Any]]:
    found = AuditEntry.objects.filter(action__startswith="price").order_by("id")
    return list(found.values_list("action", "actor_name", "detail"))


def test_a_price_is_recorded_with_its_source_and_shown_before_and_after() -> None:
    said = record("--read", "2.50", "--written", "10", "--batch-share", "0.5", *SOURCED)

    after = f"2.5 read, 10 written, 0.5 of it in a batch, until {UNTIL}, by {PAGE}"
    assert said == f"{NAME}\n  before: no price\n  now:    {after}\n"
    assert stored() == {
        "price_prompt": Decimal("2.5"),
        "price_completion": Decimal(10),
        "price_batch_share": Decimal("0.5"),
        "price_evidence": PAGE,
        "price_until": date.fromisoformat(UNTIL),
    }
    assert f"  before: {after}\n" in record("--read", "3", "--written", "10", *SOURCED)


def test_the_same_twice_changes_nothing_the_second_time() -> None:
    for _time in range(2):
        record("--read", "2.50", "--written", "10", *SOURCED)

    ((action, actor, detail),) = entries()
    assert (action, actor, detail["before"]) == ("price_recorded", "command record_price", None)
    assert detail["after"] == {
        "read": "2.5",
        "written": "10",
        "batch_share": "1",
        "evidence": PAGE,
        "until": UNTIL,
    }


def test_a_price_is_taken_back_once() -> None:
    record("--read", "2.50", "--written", "10", *SOURCED)

    for _time in range(2):
        assert record("--drop").endswith("  now:    no price\n")

    assert set(stored().values()) == {None, ""}
    (_recorded, (action, _actor, detail)) = entries()
    assert (action, detail["before"]["read"], detail["after"]) == (
        "price_record_dropped",
        "2.5",
        None,
    )


def test_json_is_one_object() -> None:
    told = json.loads(record("--read", "0", "--written", "0.0001", "--json", *SOURCED))

    assert (told["model"], told["before"]) == (NAME, None)
    assert (told["after"]["read"], told["after"]["written"]) == ("0", "0.0001")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--read", "1", "--written", "1"], "Give --read"),
        (["--read", "1", *SOURCED], "Give --read"),
        (["--drop", "--batch-share", "0"], "Give --read"),
        (["--read", "-1", "--written", "1", *SOURCED], "between 0 and 10,000"),
        (["--read", "NaN", "--written", "1", *SOURCED], "between 0 and 10,000"),
        (["--read", "1", "--written", "10001", *SOURCED], "between 0 and 10,000"),
        (["--read", f"1.{'0' * 40}1", "--written", "1", *SOURCED], "to four decimals"),
        (["--read", "1", "--written", "1", "--batch-share", "1.1", *SOURCED], "The share"),
        (["--read", "1", "--written", "1", "--evidence", "a", "--until", UNTIL], "address of a"),
        (
            ["--read", "1", "--written", "1", "--evidence", PAGE, "--until", "2001-01-01"],
            "over already",
        ),
    ],
)
def test_what_nobody_could_rely_on_exits_with_2_and_is_named(
    arguments: list[str], sentence: str
) -> None:
    with pytest.raises(CommandError, match=sentence) as refused:
        record(*arguments)

    assert refused.value.returncode == 2
    assert entries() == []


def test_what_is_no_number_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        Command().run_from_argv(["manage.py", "record_price", NAME, "--read", "cheap"])

    assert exit_.value.code == 2
    assert "--read: invalid" in capsys.readouterr().err


def test_the_list_of_models_shows_it() -> None:
    record("--read", "2.50", "--written", "10", *SOURCED)
    words, facts = StringIO(), StringIO()

    call_command("models", stdout=words)
    call_command("models", "--json", stdout=facts)

    assert (
        "  a million tokens: 2.5 read, 10 written, 1 of it in a batch, until " in words.getvalue()
    )
    assert json.loads(facts.getvalue())["price"]["read"] == "2.5"
