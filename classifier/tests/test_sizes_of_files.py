"""A file that the provider finds too large: a smaller one next, later where its queue is full."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from classifier.batches.drive import drive
from classifier.batches.sizes import MOST_LINES, most_lines_now, was_refused
from classifier.models import Batch, BatchLine, Job, PolicyVersion, ProviderBatch
from classifier.tests.history import batch_of, next_version, send_judged, start
from classifier.tests.reconciling import rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

FULL = "token_limit_exceeded"


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion) -> Batch:
    """A batch at work."""
    return batch_of(next_version(), send_judged(client_of_sender, 1, policy=policy))


def ended(batch: Batch, lines: int, error: str = "", *, minutes_ago: float) -> None:
    ProviderBatch.objects.create(
        batch=batch,
        state=ProviderBatch.State.DONE,
        lines=lines,
        error=error,
        ended_at=timezone.now() - timedelta(minutes=minutes_ago),
    )


def test_a_full_queue_gets_nothing_for_a_while_that_grows(batch: Batch) -> None:
    ended(batch, 40_000, FULL, minutes_ago=1)
    assert most_lines_now(batch) == 0
    assert was_refused(batch)

    ProviderBatch.objects.update(ended_at=timezone.now() - timedelta(minutes=3))
    assert most_lines_now(batch) == 10_000

    ended(batch, 10_000, FULL, minutes_ago=2.5)
    assert most_lines_now(batch) == 0
    for _further in range(8):
        ended(batch, 10_000, FULL, minutes_ago=2)
    ended(batch, 10_000, FULL, minutes_ago=55)
    assert most_lines_now(batch) == 0


def test_after_an_hour_even_a_queue_that_is_always_full_is_tried(batch: Batch) -> None:
    for _often in range(20):
        ended(batch, 8, FULL, minutes_ago=61)
    assert most_lines_now(batch) == 2


def test_files_grow_again_by_what_was_taken(batch: Batch) -> None:
    ended(batch, 40_000, FULL, minutes_ago=90)
    ended(batch, 10_000, minutes_ago=60)
    ended(batch, 3, minutes_ago=30)  # what was left of something
    assert most_lines_now(batch) == 20_000

    ended(batch, 30_000, minutes_ago=10)
    assert most_lines_now(batch) == MOST_LINES


def test_another_code_beside_it_hides_no_refusal(batch: Batch) -> None:
    ended(batch, 40_000, f"another_limit,{FULL}", minutes_ago=1)
    assert most_lines_now(batch) == 0


def test_a_refusal_is_forgotten_after_some_hours(batch: Batch) -> None:
    ended(batch, 40_000, FULL, minutes_ago=7 * 60)
    assert most_lines_now(batch) == MOST_LINES
    assert not was_refused(batch)


def test_a_single_line_that_is_too_large_makes_no_smaller_one(batch: Batch) -> None:
    ended(batch, 1, "file_too_large", minutes_ago=1)
    assert most_lines_now(batch) == 1


def drive_until(holds: Any) -> None:
    """In real time, but for the next steps."""
    for _round in range(40):
        ProviderBatch.objects.unfinished().update(next_step_at=Now())
        drive(between=lambda: None)
        if holds():
            return
    raise AssertionError(list(ProviderBatch.objects.values("state", "lines", "error")))


@pytest.fixture
def history(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Six reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 6, policy=policy)
    return start(next_version())


def test_a_queue_that_others_fill_gets_one_file_and_not_ever_smaller_ones(
    history: Batch, standin: Standin
) -> None:
    standin.behave(batches={"token_limit": 0})
    drive_until(lambda: ProviderBatch.objects.filter(state="done").exists())
    for _round in range(10):
        drive(between=lambda: None)

    assert list(ProviderBatch.objects.values_list("lines", "error")) == [(6, FULL)]
    assert set(Job.objects.filter(batch=history).values_list("submissions", flat=True)) == {0}


@pytest.mark.parametrize(
    ("operation", "step"),
    [
        ("upload", {"kind": "error", "status": 413}),
        ("create", {"kind": "error", "status": 400, "code": "file_too_large"}),
    ],
)
def test_a_file_that_is_refused_for_its_size_is_sent_in_smaller_ones(
    history: Batch, standin: Standin, operation: str, step: dict[str, Any]
) -> None:
    standin.fail(operation, step, effect=False)

    rounds_until_done(history)

    lines = list(ProviderBatch.objects.order_by("id").values_list("lines", flat=True))
    assert (lines[0], lines[1], sum(lines)) == (6, 1, 12)
    assert BatchLine.objects.count() == 6
    jobs = Job.objects.filter(batch=history)
    assert set(jobs.values_list("through", "submissions", "done")) == {("provider_batch", 0, True)}
