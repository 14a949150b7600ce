"""Files of batches hold content: nobody else reads them, or chooses where they lie."""

import os
from pathlib import Path

import pytest
from pytest_django import Settings

from classifier.batches import files
from classifier.models import Batch, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import rounds_until, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client


@pytest.fixture
def directory(settings: Settings, tmp_path: Path) -> Path:
    (tmp_path / "for-all").mkdir()
    place = settings.BATCH_DIRECTORY = tmp_path / "for-all" / "batches"
    return place


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_it_is_made_for_us_alone(directory: Path) -> None:
    assert files.path_of(ProviderBatch(), files.INPUT).parent == directory
    assert mode(directory) == 0o700


def test_one_that_others_could_read_is_closed_to_them(directory: Path) -> None:
    directory.mkdir(mode=0o755)
    directory.chmod(0o755)
    files.path_of(ProviderBatch(), files.INPUT)
    assert mode(directory) == 0o700


def test_a_link_that_somebody_left_there_is_not_followed(directory: Path) -> None:
    elsewhere = directory.parent / "elsewhere"
    elsewhere.mkdir()
    directory.symlink_to(elsewhere)
    with pytest.raises(PermissionError, match="not a directory of this user"):
        files.path_of(ProviderBatch(), files.INPUT)


def test_one_of_another_user_is_not_used(directory: Path, settings: Settings) -> None:
    if os.geteuid() == 0:
        directory.mkdir()
        os.chown(directory, 65534, -1)
    else:
        settings.BATCH_DIRECTORY = Path("/usr")
    with pytest.raises(PermissionError, match="not a directory of this user"):
        files.path_of(ProviderBatch(), files.INPUT)


def test_a_file_is_begun_anew_whatever_stood_there(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_text("theirs")
    ours.symlink_to(theirs)

    files.begin(ours)

    assert not ours.is_symlink()
    assert (mode(ours), ours.read_text(), theirs.read_text()) == (0o600, "", "theirs")


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


@pytest.mark.django_db(transaction=True)
def test_what_goes_up_and_what_comes_down_is_ours_alone(batch: Batch) -> None:
    sent = rounds_until("planned")
    assert mode(files.path_of(sent, files.INPUT)) == 0o600

    rounds_until("recorded")
    assert mode(files.path_of(sent, files.OUTPUT)) == 0o600
    assert rounds_until_done(batch).state == Batch.State.DONE
