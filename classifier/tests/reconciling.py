"""Batches driven to their end in this process, without their pauses."""

from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from classifier.batches.drive import drive
from classifier.models import Batch, ProviderBatch

MOST_ROUNDS = 60


def one_round() -> bool:
    """What the reconciling process does in one round; whatever waits for a time is due."""
    an_hour = timedelta(hours=1)
    ProviderBatch.objects.unfinished().update(
        next_step_at=Now(), asked_at=F("asked_at") - an_hour, ended_at=F("ended_at") - an_hour
    )
    return drive(between=lambda: None)


def rounds_until_done(batch: Batch) -> Batch:
    """Round after round until the batch has ended."""
    for _round in range(MOST_ROUNDS):
        one_round()
        batch.refresh_from_db()
        if batch.ended_at is not None:
            return batch
    raise AssertionError(f"batch {batch.pk} is still {batch.state}")


def rounds_until(state: str) -> ProviderBatch:
    """Round after round until the first file has come so far."""
    for _round in range(MOST_ROUNDS):
        one_round()
        first = ProviderBatch.objects.order_by("id").first()
        if first is not None and first.state == state:
            return first
    raise AssertionError(f"no file came to be {state}")
