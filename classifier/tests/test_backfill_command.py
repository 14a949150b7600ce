"""Backfill starts one batch of the history that no model has judged, after saying what it would ask."""

import json
import signal
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from classifier.management.commands.backfill import Command
from classifier.models import Batch, PolicyVersion
from classifier.tests.history import send_judged, write_all_jobs
from classifier.tests.processes import START_SECONDS, command
from classifier.tests.situations import other_connection, send_text, wait_until
from reports.models import AuditEntry, Report
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, make_sender

pytestmark = pytest.mark.django_db


def backfill(*arguments: str) -> str:
    said = StringIO()
    call_command("backfill", *arguments, stdout=said)
    return said.getvalue()


def backfill_json(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in backfill("--json", *arguments).splitlines()]


def decided_unread(client: Client, count: int, **changes: Any) -> list[Report]:
    """Reports that a person decided before any model had judged them."""
    reports = [send_text(client, **changes) for _report in range(count)]
    for report in reports:
        with transaction.atomic():
            resolve(report)
    return reports


def everything() -> list[Any]:
    """All rows that a backfill could touch."""
    return [list(model.objects.order_by("pk").values()) for model in (Report, Batch, AuditEntry)]


# --- The plan


def test_a_dry_run_prints_the_plan_and_changes_nothing(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    first, last = decided_unread(client_of_sender, 2)
    before = everything()

    said = backfill()

    assert said.startswith(
        "2 reports to ask under policy version 1, model stand-in-not-a-model\n"
        f"received from {first.received_at} to {last.received_at}\n"
        "  by language: en 2\n"
        "  by status:   resolved 2\n"
        "  through:     not known yet: "
    )
    assert said.endswith("Nothing was changed. Add --execute to do it.\n")
    assert policy.number == 1
    assert everything() == before


def test_only_history_without_a_verdict_is_asked(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    send_text(client_of_sender, "Still pending, so the live lane's.")
    decided_unread(client_of_sender, 1)

    (plan,) = backfill_json()

    assert (plan["event"], plan["purpose"], plan["reports"]) == ("plan", "backfill", 1)


@pytest.mark.usefixtures("policy")
def test_it_narrows_by_sender_language_and_status(client_of_sender: Client) -> None:
    decided_unread(client_of_sender, 2)
    decided_unread(client_of_sender, 1, language="ar")
    decided_unread(make_sender("forum"), 4)

    def chosen(*arguments: str) -> int:
        (plan,) = backfill_json(*arguments)
        return int(plan["reports"])

    assert chosen("--where", "sender=forum") == 4
    assert chosen("--where", "language=ar") == 1
    assert chosen("--where", "language=ar", "--where", "sender=forum") == 0
    assert chosen("--where", "status=resolved") == 7
    assert chosen("--where", "status=judged_safe") == 0
    assert chosen("--limit", "3") == 3
    assert chosen("--since", "2999-01-01T00:00:00Z") == 0


@pytest.mark.usefixtures("policy")
def test_json_is_one_object_a_line(client_of_sender: Client) -> None:
    decided_unread(client_of_sender, 1)

    plan, started = backfill_json("--execute")
    (same,) = backfill_json("--execute")

    assert plan["by_language"] == {"en": 1}
    assert (plan["tokens"], plan["cost_low"], plan["cost_high"]) == (None, None, None)
    batch = Batch.objects.get()
    assert started == {"event": "started", "batch": batch.pk}
    assert same == {"event": "same", "batch": batch.pk, "state": "planning"}


# --- The execution


def test_it_starts_one_batch_and_says_how_to_watch_it(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    decided_unread(client_of_sender, 2)

    said = backfill("--execute", "--where", "sender=chat-app")

    batch = Batch.objects.get()
    assert said.endswith(
        f"Batch {batch} is started; `manage.py reconcile` carries it out.\n"
        f"Watch it: manage.py batches watch {batch}\n"
    )
    assert (batch.purpose, batch.policy_version, batch.state) == ("backfill", policy, "planning")
    assert batch.selection == {"sender": "chat-app"}
    assert AuditEntry.objects.get(action="batch_started").actor_name == "command backfill"


@pytest.mark.usefixtures("policy")
def test_twice_changes_nothing_the_second_time(client_of_sender: Client) -> None:
    decided_unread(client_of_sender, 2)
    backfill("--execute")
    batch = Batch.objects.get()

    for step in ("before its jobs are written", "and after"):
        before = everything()
        said = backfill("--execute")
        assert said.startswith(f"Batch {batch} asks the same already: planning.\n"), step
        assert everything() == before, step
        write_all_jobs(batch)


@pytest.mark.usefixtures("policy")
def test_with_nothing_to_ask_it_starts_nothing() -> None:
    assert backfill("--execute").endswith("There is nothing to ask.\n")
    assert not Batch.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_interrupted_before_its_end_it_has_started_nothing_and_the_next_one_starts_one_batch(
    client_of_sender: Client,
) -> None:
    decided_unread(client_of_sender, 1)

    with other_connection() as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtext('policy_versions'))")
        with command("backfill", "--execute") as running:
            wait_until(_somebody_waits_for_the_line_of_versions, seconds=START_SECONDS)
            running.send_signal(signal.SIGINT)
            _said, errors = running.communicate(timeout=START_SECONDS)

    assert (running.returncode, Batch.objects.count()) == (130, 0)
    assert errors == "CommandError: Interrupted. Run the same command again for the rest.\n"
    assert "is started" in backfill("--execute")


def _somebody_waits_for_the_line_of_versions() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT exists(SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = database"
            " WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted)"
        )
        return bool(cursor.fetchone()[0])


# --- Refusals


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--max-cost", "0"], "--max-cost: '0' is not an amount above 0"),
        (["--max-cost", "NaN"], "--max-cost: 'NaN' is not an amount above 0"),
        (["--max-cost", "1.00001"], "--max-cost: '1.00001' is not an amount"),
        (["--reopen", "-1"], "--reopen: '-1' is not a number"),
        (["--rate", "5"], "unrecognized arguments: --rate 5"),
    ],
)
def test_a_wrong_argument_exits_with_2_and_is_named(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        Command().run_from_argv(["manage.py", "backfill", *arguments])

    assert exit_.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("pair", ["category=spam", "status=pending", "sender=nobody", "language="])
def test_a_wrong_condition_exits_with_2_and_is_named(pair: str) -> None:
    with pytest.raises(CommandError, match=f"--where {pair}: ") as refused:
        backfill("--where", pair)

    assert refused.value.returncode == 2


def test_without_an_active_policy_it_exits_with_3() -> None:
    with pytest.raises(CommandError, match="No policy version is active") as refused:
        backfill()

    assert refused.value.returncode == 3


@pytest.mark.usefixtures("policy")
def test_beside_another_one_it_exits_with_5() -> None:
    with other_connection() as other:
        other.execute("SELECT pg_advisory_lock(hashtext('command backfill'))")
        with pytest.raises(CommandError, match="Another backfill is running") as refused:
            backfill("--execute")
        # A closed connection gives it back only when its server process has ended.
        other.execute("SELECT pg_advisory_unlock(hashtext('command backfill'))")

    assert refused.value.returncode == 5
