"""A batch stops where a model or a filter refuses much: each refusal puts a report before people."""

from datetime import timedelta

import pytest

from classifier.batches.control import resume_batch
from classifier.batches.drive import drive
from classifier.batches.refusals import AMONG_THE_LAST, MOST_REFUSALS, stop_at_refusals
from classifier.models import Batch, PolicyVersion, WaitingReason
from classifier.tests.batches import add_jobs, end_jobs, make_batch
from reports.models import AuditEntry

pytestmark = pytest.mark.django_db
Reason = WaitingReason

ANSWERS = 30
ENOUGH = MOST_REFUSALS + 1


def answered(batch: Batch, count: int, *, ago: float = 60, reason: Reason | None = None) -> None:
    """So many more jobs of the batch ended so many seconds ago."""
    name = f"senders-{batch.jobs.count()}"
    end_jobs(add_jobs(batch, count, sender_name=name), reason=reason, ago=timedelta(seconds=ago))


def state_of(batch: Batch) -> str:
    batch.refresh_from_db()
    return batch.state


def resume(batch: Batch) -> None:
    resume_batch(batch_id=batch.pk, actor_name="dana")
    batch.refresh_from_db()


@pytest.mark.parametrize("reason", [Reason.MODEL_REFUSED, Reason.CONTENT_FILTERED])
def test_a_batch_that_is_refused_too_often_waits_for_a_person(
    policy: PolicyVersion, reason: Reason
) -> None:
    batch = make_batch(policy)
    answered(batch, ANSWERS)
    answered(batch, ENOUGH, reason=reason)
    add_jobs(batch, 1)  # still to be asked

    drive(between=lambda: None)

    assert state_of(batch) == Batch.State.STOPPED
    assert batch.note.startswith(f"of the last {ANSWERS + ENOUGH} answers {ENOUGH} were refusals")
    entry = AuditEntry.objects.get(action="batch_stopped")
    assert entry.detail == {"why": batch.note}


@pytest.mark.parametrize(
    ("reason", "count"), [(Reason.MODEL_REFUSED, MOST_REFUSALS), (Reason.TOO_LONG, ENOUGH)]
)
def test_few_refusals_and_other_ends_stop_nothing(
    policy: PolicyVersion, reason: Reason, count: int
) -> None:
    batch = make_batch(policy)
    answered(batch, count, reason=reason)

    assert not stop_at_refusals(batch)

    assert state_of(batch) == Batch.State.RUNNING


def test_a_small_share_stops_nothing_however_many_they_are(policy: PolicyVersion) -> None:
    batch = make_batch(policy)
    answered(batch, ENOUGH, reason=Reason.MODEL_REFUSED, ago=120)
    answered(batch, AMONG_THE_LAST - MOST_REFUSALS, ago=60)

    assert not stop_at_refusals(batch)


def test_once_resumed_only_what_is_refused_from_then_on_stops_it_again(
    policy: PolicyVersion,
) -> None:
    batch = make_batch(policy)
    answered(batch, ENOUGH, reason=Reason.MODEL_REFUSED)
    assert stop_at_refusals(batch)

    resume(batch)
    assert not stop_at_refusals(batch)

    answered(batch, ENOUGH, reason=Reason.MODEL_REFUSED, ago=-60)
    assert stop_at_refusals(batch)
    assert state_of(batch) == Batch.State.STOPPED
