"""What a provider took although its answer was lost is found again; what it did not take is sent again."""

from typing import Any

import pytest

from classifier.models import Batch, BatchLine, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

LOST = {"kind": "close"}
REFUSED_FOR_NOW = {"kind": "error", "status": 503}


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


def counts(standin: Standin) -> tuple[int, int]:
    """Uploads and batches that the provider took."""
    found = standin.standing()["counts"]
    return found["upload"], found["create"]


def assert_each_line_is_recorded_once(batch: Batch) -> None:
    assert batch.state == Batch.State.DONE
    assert list(BatchLine.objects.values_list("outcome", flat=True)) == ["recorded"] * 3


@pytest.mark.parametrize("operation", ["upload", "create"])
@pytest.mark.parametrize("step", [LOST, REFUSED_FOR_NOW])
def test_what_was_taken_is_found_and_not_sent_twice(
    batch: Batch, standin: Standin, operation: str, step: dict[str, Any]
) -> None:
    standin.fail(operation, step)

    rounds_until_done(batch)

    assert counts(standin) == (1, 1)
    assert_each_line_is_recorded_once(batch)


@pytest.mark.parametrize("operation", ["upload", "create"])
@pytest.mark.parametrize("step", [LOST, REFUSED_FOR_NOW])
def test_what_was_not_taken_is_looked_for_twice_and_sent_again(
    batch: Batch, standin: Standin, operation: str, step: dict[str, Any]
) -> None:
    standin.fail(operation, step, effect=False)

    rounds_until_done(batch)

    assert counts(standin) == (1, 1)
    assert_each_line_is_recorded_once(batch)


@pytest.mark.parametrize("operation", ["upload", "create"])
def test_while_the_lists_do_not_answer_nothing_is_sent_again(
    batch: Batch, standin: Standin, operation: str
) -> None:
    one_round()  # whether it takes batches is asked by a list as well
    standin.fail(operation, LOST, effect=False)
    listed = {"upload": "files", "create": "batches"}[operation]
    standin.fail(f"list_{listed}", REFUSED_FOR_NOW, times=20)
    for _round in range(12):
        one_round()

    before = standin.standing()["counts"].get(operation, 0)
    provider_batch = ProviderBatch.objects.get()
    assert (before, provider_batch.asked_at is None) == (0, False)
    for _round in range(12):
        one_round()
    rounds_until_done(batch)
    assert counts(standin) == (1, 1)


@pytest.mark.parametrize("operation", ["retrieve", "download", "delete"])
def test_a_fault_of_any_other_call_only_delays(
    batch: Batch, standin: Standin, operation: str
) -> None:
    standin.fail(operation, REFUSED_FOR_NOW, effect=False)

    rounds_until_done(batch)
    one_round()
    one_round()

    assert_each_line_is_recorded_once(batch)
    assert standin.standing()["files"] == []
