"""What the figures tell of batches: what is open, here and at the provider, and what it found."""

from datetime import timedelta

import pytest
from django.test import Client as Browser

from classifier.models import Batch, Job, PolicyVersion, WaitingReason
from classifier.tests.batches import (
    add_disagreement,
    add_jobs,
    add_provider_batch,
    end_jobs,
    make_batch,
)

MINUTE = timedelta(minutes=1)


@pytest.fixture
def batch(policy: PolicyVersion) -> Batch:
    return make_batch(policy)


def figures(name: str) -> set[str]:
    lines = Browser().get("/metrics").content.decode().splitlines()
    return {line for line in lines if line.startswith(f"{name}{{")}


def test_nothing_is_told_of_what_is_not_there(policy: PolicyVersion) -> None:  # noqa: ARG001
    for name in ("batches", "batch_open_jobs", "provider_batches", "open_disagreements"):
        assert figures(f"moderation_{name}") == set()


def test_batches_that_have_not_ended_are_told_by_state(batch: Batch, policy: PolicyVersion) -> None:
    make_batch(policy)
    make_batch(policy, state="stopped")
    make_batch(policy, state="done", ended_at=batch.created_at)
    make_batch(policy, state="cancelled", ended_at=batch.created_at)

    assert figures("moderation_batches") == {
        'moderation_batches{state="running"} 2.0',
        'moderation_batches{state="stopped"} 1.0',
    }


def test_open_jobs_of_batches_are_told_by_how_they_are_asked(batch: Batch) -> None:
    jobs = add_jobs(batch, 7)
    end_jobs(jobs[:1], ago=MINUTE)
    end_jobs(jobs[1:2], reason=WaitingReason.TOO_LONG, ago=MINUTE)
    Job.objects.filter(pk__in=[job.pk for job in jobs[5:]]).update(through="provider_batch")
    Job.objects.filter(pk=jobs[2].pk).update(batch=None)  # of the live lane

    assert figures("moderation_batch_open_jobs") == {
        'moderation_batch_open_jobs{through="calls"} 2.0',
        'moderation_batch_open_jobs{through="provider_batch"} 2.0',
    }


def test_what_is_at_the_provider_is_told_until_it_is_done_with(batch: Batch) -> None:
    add_provider_batch(batch, "submitted", 50)
    add_provider_batch(batch, "submitted", 30)
    add_provider_batch(batch, "ended", 7)
    add_provider_batch(batch, "done", 1_000)

    assert figures("moderation_provider_batches") == {
        'moderation_provider_batches{state="submitted"} 2.0',
        'moderation_provider_batches{state="ended"} 1.0',
    }
    assert figures("moderation_provider_batch_lines") == {
        'moderation_provider_batch_lines{state="submitted"} 80.0',
        'moderation_provider_batch_lines{state="ended"} 7.0',
    }


def test_disagreements_are_told_until_somebody_has_looked(batch: Batch) -> None:
    for job, state in zip(add_jobs(batch, 4), ("open", "open", "reopened", "settled"), strict=True):
        add_disagreement(batch, job, state=state)

    assert figures("moderation_open_disagreements") == {
        'moderation_open_disagreements{severity="4"} 2.0'
    }
