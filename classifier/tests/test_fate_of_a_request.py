"""What is not known of a request is found out before anything is sent again, or given up."""

from collections.abc import Callable

import pytest
from django.db import OperationalError, connection
from django.db.models.functions import Now

from classifier.batches import files
from classifier.batches.control import cancel_batch
from classifier.batches.drive import drive
from classifier.management.operation import alone
from classifier.models import Batch, BatchLine, PolicyVersion, ProviderBatch, ProviderModel
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

LOST = {"kind": "close"}
State = ProviderBatch.State


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


def until(state: str) -> ProviderBatch:
    for _round in range(20):
        one_round()
        row = ProviderBatch.objects.first()
        if row is not None and row.state == state:
            return row
    raise AssertionError(f"no file came to be {state}")


def counts(standin: Standin, operation: str) -> int:
    return int(standin.standing()["counts"].get(operation, 0))


def locks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")
        return int(cursor.fetchone()[0])


def test_only_one_is_at_work_through_a_probe_of_the_model(batch: Batch) -> None:
    ProviderModel.objects.update(mode="", frame_tokens=None)

    with alone("reconcile"):
        rounds_until_done(batch)
        assert locks() == 1
    assert locks() == 0


def test_a_lock_whose_connection_is_gone_is_noticed() -> None:
    def end_it() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            )

    with alone("reconcile") as check:
        check()
        end_it()
        with pytest.raises(OperationalError):
            check()


def test_right_after_a_create_of_unknown_fate_none_is_made_again(
    batch: Batch, standin: Standin
) -> None:
    row = until(State.UPLOADED)
    ProviderBatch.objects.filter(pk=row.pk).update(asked_at=Now())

    for _round in range(4):
        ProviderBatch.objects.update(next_step_at=Now())
        drive(between=lambda: None)
    assert counts(standin, "create") == 0

    rounds_until_done(batch)
    assert counts(standin, "create") == 1


def test_a_refused_look_at_the_lists_is_no_refused_batch(batch: Batch, standin: Standin) -> None:
    until(State.UPLOADED)
    standin.fail("create", LOST)
    standin.fail("list_batches", {"kind": "error", "status": 400}, effect=False)

    rounds_until_done(batch)

    assert counts(standin, "create") == 1
    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


def test_one_404_is_no_end(batch: Batch, standin: Standin) -> None:
    until(State.SUBMITTED)
    standin.fail("retrieve", {"kind": "error", "status": 404}, effect=False)

    rounds_until_done(batch)

    assert counts(standin, "create") == 1
    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


def test_a_batch_that_stays_unknown_has_ended_without_a_file(
    batch: Batch, standin: Standin
) -> None:
    until(State.SUBMITTED)
    standin.fail("retrieve", {"kind": "error", "status": 404}, times=2, effect=False)

    one_round()
    assert ProviderBatch.objects.get().state == State.SUBMITTED
    one_round()

    row = ProviderBatch.objects.first()
    assert row is not None
    assert row.error == "not_found"
    rounds_until_done(batch)
    assert sorted(BatchLine.objects.values_list("outcome", flat=True)) == [
        *["missing"] * 3,
        *["recorded"] * 3,
    ]


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_that_cannot_cancel_answers_to_the_end(
    batch: Batch, standin: Standin, status: int
) -> None:
    standin.behave(batches={"seconds": 0.5})
    until(State.SUBMITTED)
    standin.fail("cancel", {"kind": "error", "status": status}, times=1000, effect=False)
    cancel_batch(batch_id=batch.pk, actor_name="a test")

    one_round()
    assert ProviderBatch.objects.get().state == State.SUBMITTED
    standin.standing(settled_within=5)
    rounds_until_done(batch)

    assert batch.state == Batch.State.CANCELLED
    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


def test_a_file_that_was_lost_before_it_was_sent_is_written_again(batch: Batch) -> None:
    def is_written() -> bool:
        return ProviderBatch.objects.exclude(input_sha256="").exists()

    _rounds_until(is_written)
    files.remove(ProviderBatch.objects.get(), files.INPUT)

    rounds_until_done(batch)

    assert set(BatchLine.objects.values_list("outcome", flat=True)) == {"recorded"}


@pytest.mark.parametrize("operation", ["upload", "create"])
def test_what_is_called_in_while_the_provider_fails_is_not_sent_any_more(
    batch: Batch, standin: Standin, operation: str
) -> None:
    standin.fail(operation, {"kind": "error", "status": 500}, times=1000, effect=False)
    _rounds_until(lambda: ProviderBatch.objects.filter(asked_at__isnull=False).exists())
    cancel_batch(batch_id=batch.pk, actor_name="a test")

    rounds_until_done(batch)

    assert batch.state == Batch.State.CANCELLED
    assert counts(standin, "create") == 0
    assert standin.standing()["files"] == []


def test_a_batch_that_is_called_in_during_a_round_sends_nothing_after(
    batch: Batch, standin: Standin
) -> None:
    until(State.UPLOADED)
    ProviderBatch.objects.update(next_step_at=Now())
    called_in: list[bool] = []

    def call_in() -> None:
        if not called_in:
            called_in.append(cancel_batch(batch_id=batch.pk, actor_name="a test") is not None)

    drive(between=call_in)

    assert counts(standin, "create") == 0
    rounds_until_done(batch)
    assert batch.state == Batch.State.CANCELLED


def _rounds_until(holds: Callable[[], bool]) -> None:
    for _round in range(20):
        one_round()
        if holds():
            return
    raise AssertionError("it never came to that")
