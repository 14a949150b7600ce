"""A provider batch on its way: its file goes up, then a batch is created of it.

What is about to be asked is written down before, and what came of it after, so whoever finds the row
knows which request may have been taken. Each function makes one step.
"""

import logging
from typing import TYPE_CHECKING

from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from classifier.batches import files, orphans, remote
from classifier.batches.later import later
from classifier.models import ProviderBatch
from classifier.provider import ProviderError
from reports.failpoints import Point, hit

if TYPE_CHECKING:
    from classifier.batches.remote import RemoteBatch, RemoteFile

log = logging.getLogger(__name__)

State = ProviderBatch.State
LOOK_AGAIN_SECONDS = 15.0
FIRST_POLL_SECONDS = 2.0


def upload(provider_batch: ProviderBatch, *, wanted: bool = True) -> None:
    """Send the file up, unless it is found there, or is not wanted any more."""
    file: RemoteFile | None = None
    if provider_batch.asked_at is not None:
        file = orphans.find_file(provider_batch)
        if file is None and not _is_free_to_send(provider_batch, wanted=wanted):
            return
    if file is None:
        if not files.path_of(provider_batch, files.INPUT).exists():
            # Lost with its machine: written anew, it has the same lines.
            _note(provider_batch, input_sha256="", next_step_at=Now())
            return
        _note_asked(provider_batch)
        try:
            file = remote.upload(
                path=files.path_of(provider_batch, files.INPUT), name=provider_batch.file_name
            )
        except ProviderError as error:
            _forget_refused(provider_batch, error)
            raise
        hit(Point.BATCH_AFTER_UPLOAD)
    _note(provider_batch, state=State.UPLOADED, input_file_id=file.id, next_step_at=Now())
    files.remove(provider_batch, files.INPUT)
    hit(Point.BATCH_UPLOAD_NOTED)


def create(provider_batch: ProviderBatch, *, wanted: bool = True) -> None:
    """Have the uploaded file's lines answered, unless a batch of it is found, or none is wanted."""
    found: RemoteBatch | None = None
    if provider_batch.asked_at is not None:
        found = orphans.find_batch(provider_batch)
        if found is None and not _is_free_to_send(provider_batch, wanted=wanted):
            return
    if found is None:
        _note_asked(provider_batch)
        try:
            found = remote.create(
                input_file_id=provider_batch.input_file_id,
                metadata={orphans.KEY: str(provider_batch.key)},
            )
        except ProviderError as error:
            _forget_refused(provider_batch, error)
            raise
        hit(Point.BATCH_AFTER_CREATE)
    _note(
        provider_batch,
        state=State.SUBMITTED,
        remote_id=found.id,
        remote_status=found.status,
        submitted_at=Now(),
        next_step_at=later(FIRST_POLL_SECONDS),
    )
    hit(Point.BATCH_CREATE_NOTED)


def _note_asked(provider_batch: ProviderBatch) -> None:
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(asked_at=Now(), looked=0)
    provider_batch.asked_at = timezone.now()


def _note(provider_batch: ProviderBatch, **fields: object) -> None:
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(asked_at=None, looked=0, **fields)
    provider_batch.refresh_from_db()


def _is_free_to_send(provider_batch: ProviderBatch, *, wanted: bool) -> bool:
    """Whether nothing of the last request was taken, as far as can be known, and it is wanted still.

    A server may look into the file for as long as a call may last before it lists what it took.
    """
    rows = ProviderBatch.objects.filter(pk=provider_batch.pk)
    long_ago = rows.filter(asked_at__lt=later(-2 * remote.CREATE_SECONDS)).exists()
    if not long_ago or provider_batch.looked + 1 < orphans.LOOKS:
        rows.update(looked=F("looked") + 1, next_step_at=later(LOOK_AGAIN_SECONDS))
        return False
    log.info("batch %s: nothing of it is at the provider", provider_batch)
    if not wanted:
        _note(provider_batch, next_step_at=Now())
    return wanted


def _forget_refused(provider_batch: ProviderBatch, error: ProviderError) -> None:
    """A request that was refused for certain leaves nothing to look for."""
    if not remote.may_have_happened(error):
        _note(provider_batch)
