"""With the broker away nothing is lost and nothing crashes: the rows wait for the next sweep."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from classifier.models import Heartbeat, Job, PolicyVersion
from classifier.sweep import sweep_once
from classifier.tests.situations import (
    claim,
    empty_queue,
    end_lease,
    job_of,
    make_many,
    queued,
    send_text,
)
from reports.models import AuditEntry, Report
from reports.tests.sending import Client

REPOSITORY = Path(__file__).resolve().parents[2]
NOBODY = "redis://127.0.0.1:1/0"


def start_manage(*arguments: str) -> "subprocess.Popen[str]":
    """A management command in a process of its own, with this test's database and no broker."""
    given = urlsplit(os.environ["DATABASE_URL"])
    url = given._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={**os.environ, "DATABASE_URL": url, "REDIS_URL": NOBODY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.django_db(transaction=True)
def test_sweep_and_replay_do_their_part_and_the_next_sweep_finds_the_rest(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dead = send_text(client_of_sender)
    for _holder in range(Job.MAX_ATTEMPTS):
        claim(dead, policy)
        end_lease(dead)
    make_many("forum", 3)
    parked = Report.objects.filter(sender__name="forum")[1]
    Job.objects.create(report=parked, policy_version=policy, parked=True, reason="too_long")
    empty_queue()

    sweep = start_manage("sweep", "--once")
    replay = start_manage("replay", "--execute", "--where", "reason=too_long")
    swept, sweeps_errors = sweep.communicate(timeout=60)
    _replayed, replays_errors = replay.communicate(timeout=60)

    assert (sweep.returncode, swept) == (0, "nudged 0, parked 1\n")
    assert "the broker does not answer" in sweeps_errors
    assert Heartbeat.objects.filter(name="sweep").exists()
    assert (job_of(dead).parked, job_of(dead).reason) == (True, "holder_died")

    assert (replay.returncode, replays_errors) == (0, "")
    assert "Traceback" not in f"{sweeps_errors}{replays_errors}"
    assert not job_of(parked).parked
    assert AuditEntry.objects.filter(action="replay").count() == 1

    assert sweep_once().nudged == 3
    assert parked.pk in queued()
    empty_queue()
