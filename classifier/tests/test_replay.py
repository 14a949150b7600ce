"""Replay gives waiting reports new attempts: a plan first, then once, however often it is run."""

import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Value
from django.db.models.functions import Now
from django.utils import timezone

from classifier.jobs import put_off
from classifier.management.commands.replay import Command
from classifier.models import Classification, Job, PolicyVersion, WaitingReason
from classifier.pipeline import classify_report
from classifier.sweep import sweep_once
from classifier.tests.situations import (
    claim,
    empty_queue,
    end_lease,
    job_of,
    make_many,
    other_connection,
    queued,
    send_text,
)
from dev.standin.client import Standin
from reports.models import AuditEntry, Report
from reports.nudge import Lane
from reports.tests.sending import Client
from reports.waiting import Waiting, waiting_reason

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    yield
    empty_queue()


def replay(*arguments: str) -> str:
    said = StringIO()
    call_command("replay", *arguments, stdout=said)
    return said.getvalue()


def replay_json(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in replay("--json", *arguments).splitlines()]


def park(report: Report, policy: PolicyVersion, reason: str = "too_long") -> None:
    assert put_off(claimed=claim(report, policy), reason=WaitingReason(reason))


def everything() -> list[Any]:
    """All rows that a replay could touch."""
    return [list(model.objects.order_by("pk").values()) for model in (Report, Job, AuditEntry)]


def replays() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action="replay"))


def receive(report: Report, *, minutes_ago: int) -> None:
    Report.objects.filter(pk=report.pk).update(
        received_at=Now() - Value(timedelta(minutes=minutes_ago))
    )


def moment(*, minutes_ago: int) -> str:
    return (timezone.now() - timedelta(minutes=minutes_ago)).isoformat()


# --- The plan


def test_a_dry_run_prints_the_plan_and_changes_nothing(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    first, last = send_text(client_of_sender), send_text(client_of_sender)
    park(first, policy)
    before = everything()

    said = replay()

    assert "2 pending reports under policy version 1, model stand-in-not-a-model\n" in said
    assert f"received from {first.received_at} to {last.received_at}\n" in said
    assert "1  too_long  A person decides, or load" in said
    assert "1  waiting_for_worker\n" in said
    assert said.endswith("Nothing was changed. Add --execute to do it.\n")
    assert everything() == before


def test_json_is_one_object_a_line(client_of_sender: Client, policy: PolicyVersion) -> None:
    park(send_text(client_of_sender), policy)

    (plan,) = replay_json()
    _plan, done = replay_json("--execute")

    assert (plan["event"], plan["reports"], plan["version"]) == ("plan", 1, 1)
    assert plan["by_reason"] == {"too_long": 1}
    assert set(plan) == {
        "event",
        "version",
        "model",
        "oldest",
        "newest",
        "by_reason",
        "never",
        "reports",
    }
    assert done == {"event": "done", "renewed": 1, "skipped": 0}


@pytest.mark.usefixtures("policy")
def test_with_nothing_pending_there_is_nothing_to_do() -> None:
    assert replay("--execute").endswith("0 reports have new attempts.\n")
    assert replays() == []


# --- The execution


@pytest.mark.django_db(transaction=True)
def test_parked_reports_get_new_attempts_and_are_classified_once(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    reports = [send_text(client_of_sender) for _report in range(3)]
    for report in reports:
        park(report, policy)
    empty_queue()

    assert replay("--execute").endswith("3 reports have new attempts.\n")

    for report in reports:
        job = job_of(report)
        assert (job.parked, job.attempts, job.not_before, job.ended_at) == (False, 0, None, None)
    # Run again before and after the workers did their part; the sweep nudges what is due.
    replay("--execute")
    assert sweep_once().nudged == 3
    assert queued() == [report.pk for report in reports]
    for report_id in queued():
        classify_report(report_id=report_id, lane=Lane.LIVE)
    assert replay("--execute").endswith("0 reports have new attempts.\n")
    assert Classification.objects.count() == len(standin.calls()) == 3
    assert not Report.objects.pending().exists()


def test_after_a_replay_a_report_waits_for_a_worker_and_no_old_reason_is_shown(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    park(report, policy)
    assert waiting_reason(report) == "too_long"

    replay("--execute", "--where", "reason=too_long")

    assert waiting_reason(Report.objects.get(pk=report.pk)) == Waiting.WAITING_FOR_WORKER
    assert chosen("--where", "reason=too_long") == 0
    assert chosen("--where", "reason=waiting_for_worker") == 1


@pytest.mark.django_db(transaction=True)
def test_a_replayed_report_whose_answer_was_cut_is_asked_like_a_new_one(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    report, cut = send_text(client_of_sender), send_text(client_of_sender)
    park(cut, policy, "answer_cut")

    replay("--execute")

    for each in (report, cut):
        classify_report(report_id=each.pk, lane=Lane.LIVE)
    new, replayed = standin.calls()
    assert new["max_tokens"] == replayed["max_tokens"]


def test_a_holder_whose_lease_ran_out_cannot_put_off_what_was_replayed(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    late = claim(report, policy)
    end_lease(report)
    replay("--execute")
    before = Job.objects.values().get()

    assert not put_off(claimed=late, reason=WaitingReason.PROVIDER_TIMEOUT)

    assert Job.objects.values().get() == before


def test_a_report_in_a_workers_hands_is_left_alone(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    claim(report, policy)
    before = Job.objects.values().get()

    said = replay("--execute")
    assert "1  being_classified" in said
    assert "0 reports have new attempts.\n1 were left alone" in said

    assert Job.objects.values().get() == before


def test_each_execution_leaves_one_audit_row(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    for _report in range(3):
        park(send_text(client_of_sender), policy)

    replay("--execute", "--where", "reason=too_long", "--limit", "2")

    (entry,) = replays()
    assert (entry.actor_name, entry.object_type, entry.object_id) == (
        "command replay",
        "policyversion",
        "1",
    )
    assert entry.detail == {"reports": 2, "reason": "too_long", "limit": "2"}
    replay("--execute")
    assert len(replays()) == 2


@pytest.mark.usefixtures("policy")
def test_more_than_a_chunk_is_replayed_once_each() -> None:
    make_many("chat-app", 1_100)
    empty_queue()

    assert replay("--execute").endswith("1100 reports have new attempts.\n")

    due = Job.objects.filter(attempts=0, parked=False, not_before=None, lease_until=None)
    assert due.values("report").distinct().count() == 1_100
    assert len(replays()) == 1


# --- The selection


def chosen(*arguments: str) -> int:
    (plan,) = replay_json(*arguments)
    return int(plan["reports"])


def test_the_selection_is_half_open_in_time(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    assert policy
    for minutes in (30, 20, 10):
        receive(send_text(client_of_sender), minutes_ago=minutes)

    assert chosen("--since", moment(minutes_ago=25)) == 2
    assert chosen("--until", moment(minutes_ago=15)) == 2
    assert chosen("--since", moment(minutes_ago=25), "--until", moment(minutes_ago=15)) == 1
    middle = Report.objects.order_by("received_at")[1].received_at
    assert chosen("--since", middle.isoformat()) == 2
    assert chosen("--until", middle.isoformat()) == 1


def test_the_selection_narrows_by_sender_and_reason(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    park(send_text(client_of_sender), policy, "too_long")
    park(send_text(client_of_sender), policy, "answer_invalid")
    make_many("forum", 4)

    assert chosen("--where", "sender=forum") == 4
    assert chosen("--where", "sender=chat-app") == 2
    assert chosen("--where", "reason=too_long") == 1
    assert chosen("--where", "sender=forum", "--where", "reason=too_long") == 0


def test_a_limit_takes_the_oldest(client_of_sender: Client, policy: PolicyVersion) -> None:
    reports = [send_text(client_of_sender) for _report in range(3)]
    for report, minutes in zip(reports, (10, 30, 20), strict=True):
        park(report, policy)
        receive(report, minutes_ago=minutes)

    replay("--execute", "--limit", "2")

    assert [job_of(report).parked for report in reports] == [True, False, False]


# --- Refusals


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--since", "yesterday"], "argument --since: 'yesterday' is not ISO 8601 with a zone"),
        (["--since", "2026-11-01T00:00:00"], "--since: '2026-11-01T00"),
        (["--until", "2026-13-01T00:00:00Z"], "argument --until"),
        (["--limit", "0"], "argument --limit: '0' is not a number above 0"),
        (["--limit", "-3"], "argument --limit: '-3' is not a number above 0"),
        (["--limit", "many"], "argument --limit"),
        (["--rate", "5"], "unrecognized arguments: --rate 5"),
    ],
)
def test_a_wrong_argument_exits_with_2_and_is_named(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        Command().run_from_argv(["manage.py", "replay", *arguments])

    assert exit_.value.code == 2
    assert named in capsys.readouterr().err


@pytest.mark.usefixtures("policy", "client_of_sender")
@pytest.mark.parametrize(
    "pairs",
    [
        ["status=pending"],
        ["sender"],
        ["sender="],
        ["sender=nobody"],
        ["reason=bored"],
        ["sender=chat-app", "sender=forum"],
    ],
)
def test_a_wrong_condition_exits_with_2_and_is_named(pairs: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        replay(*(part for pair in pairs for part in ("--where", pair)))

    assert refused.value.returncode == 2
    assert f"--where {pairs[-1]}: " in str(refused.value)


def test_without_an_active_policy_it_exits_with_3() -> None:
    with pytest.raises(CommandError, match="No policy version is active") as refused:
        replay("--execute")

    assert refused.value.returncode == 3


@pytest.mark.usefixtures("policy")
def test_beside_another_one_it_exits_with_5_and_afterwards_runs() -> None:
    with other_connection() as other:
        other.execute("SELECT pg_advisory_lock(hashtext('command replay'))")
        with pytest.raises(CommandError, match="Another replay is running") as refused:
            replay("--execute")
        # A closed connection gives it back only when its server process has ended.
        other.execute("SELECT pg_advisory_unlock(hashtext('command replay'))")

    assert refused.value.returncode == 5
    assert replay("--execute")
    with other_connection() as other:
        row = other.execute("SELECT pg_try_advisory_lock(hashtext('command replay'))").fetchone()
    assert row == (True,)
