"""Batches from a terminal: listed, shown, watched to their end, cancelled, resumed."""

import json
import os
import re
import signal
from datetime import datetime, timedelta
from decimal import Decimal
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now

from classifier.management.commands.batches import Command
from classifier.models import Batch, PolicyVersion, WaitingReason
from classifier.tests.batches import (
    add_disagreement,
    add_flow,
    add_jobs,
    add_provider_batch,
    end_jobs,
    make_batch,
)
from classifier.tests.processes import START_SECONDS, command
from classifier.tests.situations import wait_until
from reports.models import AuditEntry, Report

if TYPE_CHECKING:
    import subprocess

pytestmark = pytest.mark.django_db

A_MINUTE = timedelta(minutes=1)


def batches(*arguments: str) -> str:
    said = StringIO()
    call_command("batches", *arguments, stdout=said)
    return said.getvalue()


def batches_json(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in batches(*arguments, "--json").splitlines()]


def refusal(*arguments: str) -> tuple[int, str]:
    """The exit code and the sentence of a command that must not end with 0."""
    with pytest.raises(CommandError) as refused:
        batches(*arguments)
    return refused.value.returncode, str(refused.value)


def move(batch: Batch, state: Batch.State) -> None:
    ended = state in {Batch.State.DONE, Batch.State.CANCELLED}
    Batch.objects.filter(pk=batch.pk).update(state=state, ended_at=Now() if ended else None)


def half_done(policy: PolicyVersion, **fields: Any) -> Batch:
    """Of four jobs two have an answer and one has none; two reports changed category."""
    batch = make_batch(policy, prompt_tokens=4_000, completion_tokens=120, **fields)
    jobs = add_jobs(batch, 4)
    end_jobs(jobs[:2], ago=A_MINUTE)
    end_jobs(jobs[2:3], reason=WaitingReason.TOO_LONG, ago=A_MINUTE)
    add_flow(batch, "spam", "none", 2)
    return batch


# --- list


def test_the_list_has_the_newest_first_with_what_was_chosen(policy: PolicyVersion) -> None:
    old = make_batch(policy, state="done", ended_at=Now(), words="what is old")
    new = make_batch(policy, words="what is new", wanted=1_500)

    lines = batches("list").splitlines()

    assert [line.split()[:3] for line in lines] == [
        [str(new), "running", "policy_migration"],
        [str(old), "done", "policy_migration"],
    ]
    assert " 1,500 reports " in lines[0]
    assert lines[0].endswith("  what is new")
    assert [each["batch"] for each in batches_json("list", "--unfinished")] == [new.pk]
    assert [each["batch"] for each in batches_json("list", "--limit", "1")] == [new.pk]


# --- show


def test_one_is_shown_with_all_that_is_known_of_it(policy: PolicyVersion) -> None:
    batch = half_done(policy, max_cost=Decimal(5), carried=7, note="A note.")
    job = batch.jobs.get(reason="too_long")
    add_disagreement(batch, job)
    add_provider_batch(batch, "submitted", 1, submitted_at=Now(), error="rate_limit")

    said = batches("show", str(batch))

    for line in (
        f"Batch {batch}: policy migration under policy version 1\n",
        "\n  all history\n",
        "\n  A note.\n",
        "\n  running, 75.0%: 2 answered, 1 without an answer, 1 to ask (1 at the provider); ",
        "\n  carried over without a call: 7\n",
        "\n  tokens: 4,000 read, 120 written; cost: not known of at most 5.0000\n",
        "\n            2  spam -> none\n",
        "\n  disagreements: open 1\n",
        "\n  at the provider, submitted: 1 with 1 lines\n",
        "\n  without an answer: 1  too_long  A person decides, or load",
        f"\n    report {job.report.public_id}: too_long\n",
    ):
        assert line in said
    assert "    failed: " in said
    assert said.count("; rate_limit\n") == 2


def test_json_has_the_same(policy: PolicyVersion) -> None:
    batch = half_done(policy)

    (facts,) = batches_json("show", str(batch))

    assert (facts["event"], facts["batch"], facts["state"]) == ("batch", batch.pk, "running")
    assert (facts["done"], facts["parked"], facts["left"]) == (2, 1, 1)
    assert (facts["by_reason"], facts["open"]) == ({"too_long": 1}, {"calls": 1})
    assert facts["flows"] == [{"before": "spam", "after": "none", "reports": 2}]
    assert [each["reason"] for each in facts["failures"]] == ["too_long"]


def test_a_providers_words_do_not_steer_the_terminal(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    add_provider_batch(batch, "submitted", 1, remote_status="\x1b[2Jdone\u202e")

    assert "[U+001B][2Jdone[U+202E]" in batches("show", str(batch))


# --- watch


def test_of_an_ended_batch_it_tells_one_line_and_ends(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    end_jobs(add_jobs(batch, 2), ago=A_MINUTE)
    move(batch, Batch.State.DONE)

    (line,) = batches("watch", str(batch)).splitlines()

    assert " done, 100.0%: 2 answered, 0 without an answer, 0 to ask (0 at the provider)" in line


@pytest.mark.parametrize(
    ("state", "code", "sentence"),
    [
        ("done", 6, "is done; 1 reports have no answer: manage.py batches show"),
        ("cancelled", 6, "is cancelled; 1 reports have no answer"),
        ("stopped", 4, "is stopped: Why it stands; to let it go on: manage.py batches resume"),
    ],
)
def test_the_exit_code_tells_how_it_ended(
    policy: PolicyVersion, state: str, code: int, sentence: str
) -> None:
    batch = half_done(policy, note="Why it stands")
    move(batch, Batch.State(state))

    exit_code, said = refusal("watch", str(batch))

    assert exit_code == code
    assert sentence in said


@pytest.mark.django_db(transaction=True)
def test_it_tells_each_change_until_the_end(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    jobs = add_jobs(batch, 3)

    with command("batches", "watch", str(batch), "--every", "0.05", "--json") as watching:
        lines = [told(watching)]
        since = last_query_elsewhere()
        # It has looked a few times more, at what has not changed.
        wait_until(lambda: last_query_elsewhere() > since + timedelta(seconds=0.3))
        end_jobs(jobs[:1], ago=timedelta(0))
        while lines[-1]["done"] == 0 or lines[-1]["left"] == 3:
            lines.append(told(watching))
        assert (lines[-1]["done"], lines[-1]["left"]) == (1, 2)
        assert lines[-1]["estimated_end"]
        end_jobs(jobs[1:], ago=timedelta(0))
        move(batch, Batch.State.DONE)
        rest, errors = watching.communicate(timeout=START_SECONDS)

    lines += map(json.loads, rest.splitlines())
    assert all(line["event"] == "progress" for line in lines)
    counts = [(line["state"], line["done"], line["left"]) for line in lines]
    assert (counts[0], counts[-1]) == (("running", 0, 3), ("done", 3, 0))
    assert len(set(counts)) == len(counts)
    assert (watching.returncode, errors) == (0, "")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_stops_watching_stops_nothing_else(
    policy: PolicyVersion, number: signal.Signals, code: int
) -> None:
    batch = half_done(policy)
    before = Batch.objects.values().get()

    with command("batches", "watch", str(batch), "--every", "3600", "--json") as watching:
        assert told(watching)["left"] == 1
        watching.send_signal(number)
        _said, errors = watching.communicate(timeout=START_SECONDS)

    assert (watching.returncode, errors) == (
        code,
        "CommandError: Interrupted. The batch goes on.\n",
    )
    assert Batch.objects.values().get() == before


@pytest.mark.django_db(transaction=True)
def test_on_a_terminal_it_draws_a_bar_with_the_pace_instead_of_lines(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    jobs = add_jobs(batch, 4)
    end_jobs(jobs[:2], ago=A_MINUTE)
    screen, terminal = os.openpty()

    with command("batches", "watch", str(batch), "--every", "0.05", stderr=terminal) as watching:
        os.close(terminal)
        drawn = os.read(screen, 1000).decode()
        end_jobs(jobs[2:], ago=timedelta(0))
        move(batch, Batch.State.DONE)
        said, _none = watching.communicate(timeout=START_SECONDS)
    os.close(screen)

    assert drawn.startswith(f"\r[{'#' * 10}{'-' * 10}]  50%  2 of 4  ")
    assert re.search(r"\d/min, ends \d\d:\d\d UTC\033\[K$", drawn)
    assert (watching.returncode, said) == (0, "")


def last_query_elsewhere() -> datetime:
    """When another connection last asked this database something."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT max(query_start) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        found: datetime = cursor.fetchone()[0]
    return found


def told(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """The next line that a process writes."""
    assert process.stdout
    line: dict[str, Any] = json.loads(process.stdout.readline())
    return line


# --- cancel, resume


def test_cancelling_twice_changes_nothing_the_second_time(policy: PolicyVersion) -> None:
    batch = make_batch(policy)

    assert batches("cancel", str(batch)) == f"Batch {batch} is being cancelled.\n"
    assert batches("cancel", str(batch)) == f"Batch {batch} was cancelled already.\n"

    batch.refresh_from_db()
    assert batch.state == Batch.State.CANCELLING
    assert AuditEntry.objects.get(action="batch_cancelled").actor_name == "command batches"


def test_a_stopped_one_is_resumed_once(policy: PolicyVersion) -> None:
    batch = make_batch(policy, state="stopped", max_cost=Decimal(5))

    said = batches("resume", str(batch), "--max-cost", "7.5")
    (again,) = batches_json("resume", str(batch), "--max-cost", "7.5")

    assert said == f"Batch {batch} goes on, at most 7.5 in all.\n"
    assert again == {"event": "resumed", "batch": batch.pk, "changed": False}
    batch.refresh_from_db()
    assert (batch.state, batch.max_cost) == (Batch.State.RUNNING, Decimal("7.5"))


def test_without_a_new_limit_it_goes_on_without_one(policy: PolicyVersion) -> None:
    batch = make_batch(policy, state="stopped", max_cost=Decimal(5))

    assert batches("resume", str(batch)) == f"Batch {batch} goes on, without a cost limit.\n"


# --- reopen


def test_more_of_an_ended_one_come_back_to_people(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    for job in add_jobs(batch, 3):
        add_disagreement(batch, job)
    move(batch, Batch.State.DONE)

    said = batches("reopen", str(batch), "--at-most", "1")
    (facts,) = batches_json("reopen", str(batch), "--at-most", "5")

    assert said == f"Batch {batch}: reopened 1, in all 1; still open: 2.\n"
    assert facts == {
        "event": "reopened",
        "batch": batch.pk,
        "reopened": 2,
        "in_all": 3,
        "open": 0,
    }
    assert Report.objects.filter(status="needs_review").count() == 3
    actions = AuditEntry.objects.filter(action="batch_reopens_more")
    assert set(actions.values_list("actor_name", flat=True)) == {"command batches"}


# --- Refusals


def test_one_that_has_not_ended_exits_with_3(policy: PolicyVersion) -> None:
    batch = make_batch(policy)

    code, sentence = refusal("reopen", str(batch), "--at-most", "1")

    assert (code, sentence) == (3, f"Batch {batch} has not ended, but is: running.")


def test_what_its_state_forbids_exits_with_3(policy: PolicyVersion) -> None:
    batch = make_batch(policy, state="done", ended_at=Now())

    for action in ("cancel", "resume"):
        code, sentence = refusal(action, str(batch))
        assert (code, f"Batch {batch} is " in sentence) == (3, True)


@pytest.mark.parametrize("action", ["show", "watch", "cancel", "resume"])
def test_a_batch_that_there_is_not_exits_with_2(action: str) -> None:
    assert refusal(action, "12345") == (2, "There is no batch 12345; see `batches list`.")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "required: action"),
        (["end"], "invalid choice: 'end'"),
        (["watch", "seven"], "argument id: 'seven' is not a number"),
        (["reopen", "7"], "required: --at-most"),
        (["watch", "7", "--every", "0"], "argument --every: invalid"),
        (["resume", "7", "--max-cost", "much"], "--max-cost: 'much' is not an amount"),
    ],
)
def test_a_wrong_argument_exits_with_2_and_is_named(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        Command().run_from_argv(["manage.py", "batches", *arguments])

    assert exit_.value.code == 2
    assert named in capsys.readouterr().err
