"""The reconciling process is killed between each two steps of one batch, and the next one goes on."""

import json
import signal
from collections import Counter
from pathlib import Path

import pytest

from classifier.models import Batch, BatchLine, Classification, Job, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.processes import python
from dev.standin.client import Standin
from reports.failpoints import Point
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

KILLED_AT = [
    *(point for point in Point if point.startswith("batch.")),
    Point.RECORD_AFTER_SUPERSEDE,
    Point.RECORD_AFTER_INSERT,
]
SECONDS = 60


def reconcile_until_done(standin: Standin, directory: Path, *, kill_at: list[Point]) -> list[int]:
    """How each `manage.py reconcile --until-done` ended; each point kills once, over all of them."""
    directory.mkdir()
    process = python(
        "-m",
        "classifier.tests.forked_commands",
        str(len(kill_at) + 1),
        "reconcile",
        "--until-done",
        env={
            "OPENAI_BASE_URL": standin.base_url,
            "BATCH_DIRECTORY": str(directory / "files"),
            "FAILPOINTS": ";".join(f"{point}=kill" for point in kill_at),
            "FAILPOINTS_DIR": str(directory),
        },
    )
    said, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors
    return list(json.loads(said.splitlines()[-1]))


def test_killed_after_every_step_it_sends_one_batch_and_loses_and_doubles_nothing(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin, tmp_path: Path
) -> None:
    reports = send_judged(client_of_sender, 7, policy=policy)
    newer = next_version()
    batch = start(newer)

    ends = reconcile_until_done(standin, tmp_path / "deaths", kill_at=KILLED_AT)

    assert ends == [-signal.SIGKILL] * len(KILLED_AT) + [0]
    batch.refresh_from_db()
    assert (batch.state, batch.wanted) == (Batch.State.DONE, len(reports))
    assert ProviderBatch.objects.count() == 1
    counts = standin.standing()["counts"]
    assert (counts["upload"], counts["create"]) == (1, 1)
    assert standin.standing()["files"] == []
    assert Counter(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded": 7}
    current = Classification.objects.filter(superseded=False, policy_version=newer)
    assert sorted(current.values_list("report_id", flat=True)) == [each.pk for each in reports]
    assert Job.objects.filter(batch=batch, done=True, dropped=0).count() == len(reports)
    assert not list((tmp_path / "deaths" / "files").iterdir())
