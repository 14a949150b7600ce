"""`manage.py reconcile` as a process: interrupted it goes on where it stood, and twice changes nothing."""

import json
import signal
from pathlib import Path

import pytest

from classifier.models import Batch, BatchLine, Classification, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.processes import START_SECONDS, command
from classifier.tests.situations import wait_until
from dev.standin.client import Standin
from reports.failpoints import Point
from reports.tests.sending import Client

pytestmark = [pytest.mark.long, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion) -> Batch:
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


def environment(standin: Standin, directory: Path, *, failpoints: str = "") -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": standin.base_url,
        "BATCH_DIRECTORY": str(directory / "files"),
        "FAILPOINTS": failpoints,
        "FAILPOINTS_DIR": str(directory),
    }


def run(standin: Standin, directory: Path, *arguments: str) -> tuple[int, str]:
    """The exit code and what was said."""
    env = environment(standin, directory)
    with command("reconcile", *arguments, env=env) as process:
        said, _errors = process.communicate(timeout=START_SECONDS)
    return process.returncode, said


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_between_two_steps_it_finishes_the_rest_only(
    batch: Batch, standin: Standin, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    env = environment(standin, tmp_path, failpoints=f"{Point.BATCH_CREATE_NOTED}=sleep:60")
    with command("reconcile", "--until-done", env=env) as process:
        wait_until(
            lambda: ProviderBatch.objects.filter(state="submitted").exists(), seconds=START_SECONDS
        )
        process.send_signal(number)
        process.communicate(timeout=START_SECONDS)
    assert process.returncode == code

    assert run(standin, tmp_path, "--until-done")[0] == 0

    batch.refresh_from_db()
    assert batch.state == Batch.State.DONE
    counts = standin.standing()["counts"]
    assert (counts["upload"], counts["create"]) == (1, 1)
    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


def test_a_second_run_changes_nothing(batch: Batch, standin: Standin, tmp_path: Path) -> None:
    code, said = run(standin, tmp_path, "--until-done", "--json")
    assert code == 0
    told = [json.loads(line) for line in said.splitlines()]
    assert [each["state"] for each in told] == ["running", "done"]
    before = list(Classification.objects.order_by("id").values()), standin.standing()["counts"]

    assert run(standin, tmp_path, "--until-done", "--json") == (0, "")

    after = list(Classification.objects.order_by("id").values()), standin.standing()["counts"]
    assert after == before
    assert {batch.pk} == set(Batch.objects.values_list("pk", flat=True))


def test_beside_another_it_is_refused_and_a_follower_stands_by(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    env = environment(standin, tmp_path, failpoints=f"{Point.BATCH_AFTER_LINES}=sleep:60")
    with command("reconcile", "--follow", env=env) as first:
        wait_until(BatchLine.objects.exists, seconds=START_SECONDS)

        code, _said = run(standin, tmp_path, "--until-done")
        assert code == 5

        with command("reconcile", "--follow", env=environment(standin, tmp_path)) as second:
            first.kill()
            first.wait()
            wait_until(
                lambda: Batch.objects.get(pk=batch.pk).state == Batch.State.DONE,
                seconds=START_SECONDS,
            )
            second.terminate()
            second.communicate(timeout=START_SECONDS)
    assert second.returncode == 143
