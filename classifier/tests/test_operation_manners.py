"""What every command of operations does at a signal and on a terminal; `replay` stands for them."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.db import connection

from classifier.models import Job, PolicyVersion
from classifier.tests.processes import START_SECONDS, command
from classifier.tests.situations import make_many, other_connection, send_text, wait_until
from reports.models import Report
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def row_held_by_another(report: Report) -> Iterator[None]:
    with other_connection() as other:
        other.execute("SELECT FROM reports_report WHERE id = %s FOR UPDATE", [report.pk])
        yield


def somebody_waits_for_a_row() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT exists(SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock')"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_within_a_chunk_and_the_same_command_does_the_rest(
    number: signal.Signals, code: int
) -> None:
    make_many("chat-app", 700)
    last = Report.objects.latest("id")

    with row_held_by_another(last), command("replay", "--execute") as running:
        wait_until(somebody_waits_for_a_row, seconds=START_SECONDS)
        running.send_signal(number)
        _said, errors = running.communicate(timeout=START_SECONDS)

    assert (running.returncode, Job.objects.count()) == (code, 500)
    assert errors == (
        "500 of 700 are done.\nCommandError: Interrupted. Run the same command again for the rest.\n"
    )
    with command("replay", "--execute") as again:
        said, errors = again.communicate(timeout=START_SECONDS)
    assert said.endswith("700 reports have new attempts.\n")
    assert errors == ""  # no terminal, so no bar
    assert (again.returncode, Job.objects.count()) == (0, 700)


def test_a_bar_is_drawn_on_a_terminal_and_never_into_the_output(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    assert policy
    send_text(client_of_sender)
    master, terminal = os.openpty()

    with (
        closing(os.fdopen(master, "rb", buffering=0)) as screen,
        command("replay", "--execute", "--json", stderr=terminal) as running,
    ):
        os.close(terminal)
        said, _nothing = running.communicate(timeout=START_SECONDS)
        drawn = screen.read(1000).decode()

    assert drawn == f"\r[{'#' * 20}] 100%  1 of 1\033[K\r\n"
    assert [json.loads(line)["event"] for line in said.splitlines()] == ["plan", "done"]
