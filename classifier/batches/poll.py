"""How far a batch is at the provider, asked with growing pauses; and the wish that it end."""

import logging
from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from classifier.batches import remote
from classifier.batches.later import later
from classifier.batches.remote import RemoteBatch
from classifier.batches.words import RemoteStatus
from classifier.models import ProviderBatch
from classifier.provider import ProviderError
from reports.failpoints import Point, hit

log = logging.getLogger(__name__)

SOONEST_SECONDS, LATEST_SECONDS = 2.0, 300.0
_SHARE_OF_AGE = 0.1
# Some servers call a batch completed a while before they name its files.
GRACE = timedelta(minutes=10)
_GONE = 404
_CANNOT_CANCEL = frozenset({400, 404, 405, 409, 501})


def poll(provider_batch: ProviderBatch, *, cancel: bool) -> None:
    """Ask, and write down what was told; `cancel`: ask for its end as well, once it is not ending.

    A batch that the provider does not know for as long as `GRACE` has ended without a file.
    """
    try:
        told = remote.retrieve(provider_batch.remote_id)
    except ProviderError as error:
        if error.status != _GONE or not _is_over_for_long(provider_batch):
            raise
        log.warning(
            "batch %s: the provider does not know %s", provider_batch, provider_batch.remote_id
        )
        _end(provider_batch, remote_status="unknown", error="not_found")
        return
    if cancel and not told.status.is_final and told.status != RemoteStatus.CANCELLING:
        told = _cancelled(told)
    hit(Point.BATCH_AFTER_POLL)
    fields = _told(told)
    if _is_over(provider_batch, told):
        _end(provider_batch, **fields)
        return
    if told.status is RemoteStatus.UNKNOWN:
        log.warning("batch %s: the provider's word for its state is not known", provider_batch)
    if not told.status.is_final:
        fields["ended_at"] = None
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(
        polls=F("polls") + 1, next_step_at=later(_pause(provider_batch)), **fields
    )


def _cancelled(told: RemoteBatch) -> RemoteBatch:
    """As it stands once its end was asked for; a server that cannot do that goes on answering."""
    try:
        return remote.cancel(told.id)
    except ProviderError as error:
        if error.status not in _CANNOT_CANCEL:
            raise
        log.warning("batch %s at the provider is not cancelled: %s", told.id, error)
        return told


def _told(told: RemoteBatch) -> dict[str, object]:
    return {
        "remote_status": told.status,
        "output_file_id": told.output_file_id or "",
        "error_file_id": told.error_file_id or "",
        "remote_total": told.total,
        "remote_completed": told.completed,
        "remote_failed": told.failed,
        "error": ",".join(sorted(set(told.errors)))[:200],
    }


def _is_over(provider_batch: ProviderBatch, told: RemoteBatch) -> bool:
    """Nothing more will come: it ended, and its files are named, or there are none to wait for."""
    if not told.status.is_final:
        return False
    answered = (told.completed or 0) > 0
    failed = (told.failed or 0) > 0
    named = (not answered or told.output_file_id) and (not failed or told.error_file_id)
    if named and (told.output_file_id or told.error_file_id or told.status.ends_without_files):
        return True
    return _is_over_for_long(provider_batch)


def _is_over_for_long(provider_batch: ProviderBatch) -> bool:
    """Whether it has looked over for as long as `GRACE`; notes when it first did."""
    if provider_batch.ended_at is None:
        ProviderBatch.objects.filter(pk=provider_batch.pk).update(ended_at=Now())
        return False
    return timezone.now() - provider_batch.ended_at > GRACE


def _end(provider_batch: ProviderBatch, **fields: object) -> None:
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(
        state=ProviderBatch.State.ENDED,
        ended_at=Now(),
        next_step_at=Now(),
        polls=F("polls") + 1,
        **fields,
    )


def _pause(provider_batch: ProviderBatch) -> float:
    """A tenth of its age: a short batch is noticed soon, a long one costs few calls."""
    submitted = provider_batch.submitted_at or timezone.now()
    age = (timezone.now() - submitted).total_seconds()
    return min(max(SOONEST_SECONDS, age * _SHARE_OF_AGE), LATEST_SECONDS)
