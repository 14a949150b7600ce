"""What was left at the provider is found by our keys and deleted; nothing else is touched."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from classifier.batches import remote
from classifier.batches.orphans import KEY
from classifier.batches.strays import delete_strays
from classifier.models import Batch, PolicyVersion, ProviderBatch, ProviderModel
from classifier.tests.history import batch_of, next_version, send_judged
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

HOUR = 3600
DAY = 24 * HOUR
LINE = {"method": "POST", "url": remote.ENDPOINT, "body": {"model": "m", "messages": []}}


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it is asked
    """A batch, at a server that takes them."""
    batch = batch_of(next_version(), send_judged(client_of_sender, 1, policy=policy))
    ProviderModel.objects.update(takes_batches=True)
    return batch


def row_of(batch: Batch, *, state: str, remote_id: str = "") -> ProviderBatch:
    return ProviderBatch.objects.create(batch=batch, state=state, remote_id=remote_id, lines=1)


def put_up(name: str, tmp_path: Path) -> str:
    """A file at the provider, its id."""
    path = tmp_path / "lines"
    path.write_text(json.dumps({"custom_id": "c", **LINE}) + "\n")
    return remote.upload(path=path, name=name).id


def answered(key: str, standin: Standin, tmp_path: Path) -> tuple[str, str]:
    """A batch that ended at the provider with this key, and its file of errors."""
    made = remote.create(input_file_id=put_up("somebody's.jsonl", tmp_path), metadata={KEY: key})
    standin.standing(settled_within=20)
    error_file_id = remote.retrieve(made.id).error_file_id
    assert error_file_id
    return made.id, error_file_id


def ids(standin: Standin) -> set[str]:
    return {file["id"] for file in standin.standing()["files"]}


def grow_old(standin: Standin, seconds: int) -> None:
    """The provider's next list of uploads shows them so old."""
    files = [file for file in standin.standing()["files"] if file["purpose"] == "batch"]
    listed: list[dict[str, Any]] = [
        {**file, "created_at": int(time.time()) - seconds} for file in files
    ]
    told = {"object": "list", "data": listed, "has_more": False}
    standin.fail("list_files", {"kind": "body", "body": json.dumps(told)}, effect=False)


def sweep() -> int:
    return delete_strays(between=lambda: None)


def test_an_upload_whose_batch_is_done_goes_after_a_day(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    put_up(row_of(batch, state="done").file_name, tmp_path)
    at_work = put_up(row_of(batch, state="uploaded").file_name, tmp_path)
    foreign = {put_up(name, tmp_path) for name in ("theirs.jsonl", "mod-x.jsonl", "mod-.jsonl")}

    grow_old(standin, 20 * HOUR)
    assert sweep() == 0
    grow_old(standin, 400 * DAY)
    assert sweep() == 1

    assert ids(standin) == {at_work} | foreign


def test_an_upload_under_a_key_that_nobody_here_knows_goes_after_a_week(
    batch: Batch,  # noqa: ARG001 - its server takes batches
    standin: Standin,
    tmp_path: Path,
) -> None:
    put_up(f"mod-{uuid.uuid4()}.jsonl", tmp_path)

    grow_old(standin, 6 * DAY)
    assert sweep() == 0
    grow_old(standin, 8 * DAY)
    assert sweep() == 1

    assert ids(standin) == set()


def test_answers_of_a_batch_that_was_made_twice_go(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    row = row_of(batch, state="ended")
    ours, our_file = answered(str(row.key), standin, tmp_path)
    ProviderBatch.objects.filter(pk=row.pk).update(remote_id=ours)
    _twin, twins_file = answered(str(row.key), standin, tmp_path)

    assert sweep() == 1

    assert our_file in ids(standin)
    assert twins_file not in ids(standin)


def test_answers_that_came_after_a_batch_was_given_up_go_once(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    _late, file = answered(str(row_of(batch, state="done").key), standin, tmp_path)

    assert sweep() == 1
    assert file not in ids(standin)

    before = standin.standing()["counts"]["delete"]
    assert sweep() == 0
    assert standin.standing()["counts"]["delete"] == before


def test_answers_that_somebody_waits_for_or_of_another_account_stay(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    # Its create's answer was lost: it may be found any moment.
    unnamed = row_of(batch, state="uploaded")
    kept = {
        answered(key, standin, tmp_path)[1]
        for key in (str(unnamed.key), str(uuid.uuid4()), "no key")
    }

    assert sweep() == 0

    assert kept <= ids(standin)


def test_a_fault_of_the_provider_ends_it_until_the_next_time(
    batch: Batch, standin: Standin, tmp_path: Path
) -> None:
    answered(str(row_of(batch, state="done").key), standin, tmp_path)
    standin.fail("list_batches", {"kind": "error", "status": 503})
    assert sweep() == 0
    standin.fail("delete", {"kind": "error", "status": 405}, effect=False)
    assert sweep() == 0
    assert sweep() == 1


def test_a_server_without_batches_is_not_asked(
    batch: Batch,  # noqa: ARG001 - there is history
    standin: Standin,
    settings: Settings,
) -> None:
    settings.BATCH_API = False
    sweep()
    settings.BATCH_API = True
    ProviderModel.objects.update(takes_batches=False)
    sweep()
    assert standin.standing()["counts"] == {}


def test_the_reconciling_process_does_it(batch: Batch, standin: Standin, tmp_path: Path) -> None:
    _late, file = answered(str(row_of(batch, state="done").key), standin, tmp_path)
    Batch.objects.update(state=Batch.State.CANCELLING)

    call_command("reconcile", "--nice=0", "--until-done")

    assert file not in ids(standin)
