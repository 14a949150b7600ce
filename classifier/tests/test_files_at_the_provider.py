"""Files that a provider will not give, or will not delete, hold up nothing; ours go all the same."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from classifier.batches import files
from classifier.batches.control import cancel_batch
from classifier.batches.drive import drive
from classifier.models import Batch, BatchLine, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


def try_to_download(*, ended_ago: timedelta) -> ProviderBatch:
    """One more try, so long after the batch had ended at the provider."""
    ProviderBatch.objects.update(
        next_step_at=timezone.now() - timedelta(seconds=1), ended_at=timezone.now() - ended_ago
    )
    drive(between=lambda: None)
    return ProviderBatch.objects.order_by("id")[0]


@pytest.mark.parametrize(
    ("status", "patience"),
    [(404, timedelta(minutes=10)), (410, timedelta(minutes=10)), (400, timedelta(days=1))],
)
def test_a_file_that_is_refused_is_given_up_after_a_while_and_its_lines_are_sent_again(
    batch: Batch, standin: Standin, status: int, patience: timedelta
) -> None:
    rounds_until("ended")
    standin.fail("download", {"kind": "error", "status": status}, times=2, effect=False)

    assert try_to_download(ended_ago=patience * 0.9).state == "ended"
    assert try_to_download(ended_ago=patience * 1.1).state == "recorded"

    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"missing"}
    assert rounds_until_done(batch).state == Batch.State.DONE


def test_a_file_is_waited_for_through_any_fault_of_the_hour(batch: Batch, standin: Standin) -> None:
    rounds_until("ended")
    standin.fail("download", {"kind": "error", "status": 401}, effect=False)

    assert try_to_download(ended_ago=timedelta(days=2)).state == "ended"

    rounds_until_done(batch)
    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


def test_a_file_of_more_than_any_answers_is_lost_and_a_cancel_ends(
    batch: Batch, standin: Standin
) -> None:
    rounds_until("ended")
    cancel_batch(batch_id=batch.pk, actor_name="a test")
    standin.fail("download", {"kind": "flood", "megabytes": 17}, times=100, effect=False)

    assert rounds_until_done(batch).state == Batch.State.CANCELLED


@pytest.mark.parametrize(
    "step", [{"kind": "error", "status": 405}, {"kind": "error", "status": 501}]
)
def test_a_provider_that_deletes_nothing_keeps_its_own_and_ours_are_gone(
    batch: Batch, standin: Standin, step: dict[str, Any]
) -> None:
    standin.fail("delete", step, times=1000, effect=False)

    rounds_until_done(batch)
    one_round()

    provider_batch = ProviderBatch.objects.get()
    assert provider_batch.state == "done"
    assert list(files.path_of(provider_batch, files.OUTPUT).parent.iterdir()) == []


def test_what_could_not_be_deleted_for_now_is_deleted_later_and_ours_at_once(
    batch: Batch, standin: Standin
) -> None:
    provider_batch = rounds_until("recorded")
    standin.fail("delete", {"kind": "error", "status": 503}, effect=False)

    one_round()

    assert list(files.path_of(provider_batch, files.OUTPUT).parent.iterdir()) == []
    assert ProviderBatch.objects.get().state == "recorded"
    rounds_until_done(batch)
    one_round()
    assert standin.standing()["files"] == []
