"""A batch that ended at the provider: its files come down, are recorded, and are deleted there."""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from classifier.batches import files, remote
from classifier.batches.cut import PIECE
from classifier.batches.later import later
from classifier.batches.lost import OpenLine, lose, park_cancelled
from classifier.batches.record import record_file
from classifier.batches.sizes import is_too_large
from classifier.batches.words import RemoteStatus
from classifier.models import (
    Batch,
    BatchLine,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
    WaitingReason,
)
from classifier.provider import ProviderError
from reports.failpoints import Point, hit

log = logging.getLogger(__name__)

State = ProviderBatch.State
# Of the answers on average: several times what a model that thinks aloud writes. And for a few
# answers, of which one may be long.
MOST_BYTES_A_LINE = 64 * 1024
LEAST_BYTES = 16 * 1024 * 1024
GONE_AFTER, REFUSED_AFTER = timedelta(minutes=10), timedelta(days=1)


def download(provider_batch: ProviderBatch) -> None:
    """Both files, as far as there are any; one that will not come counts as none."""
    most = max(LEAST_BYTES, provider_batch.lines * MOST_BYTES_A_LINE)
    for kind, file_id in _remote_files(provider_batch).items():
        path = files.path_of(provider_batch, kind)
        if file_id and not path.exists():
            try:
                remote.download(file_id=file_id, to=path, most_bytes=most)
            except ProviderError as error:
                if not _is_lost(provider_batch, error):
                    raise
                log.warning("batch %s: its %s file is lost: %s", provider_batch, kind, error)
    hit(Point.BATCH_AFTER_DOWNLOAD)


def _is_lost(provider_batch: ProviderBatch, error: ProviderError) -> bool:
    """Whether a file will never come: more than any answers have, or refused for long enough.

    Its answers are paid for, so no single refusal is believed.
    """
    if error.code == remote.TOO_LARGE:
        return True
    ended = provider_batch.ended_at
    refused_for = timezone.now() - ended if ended else timedelta(0)
    return remote.is_for_good(error) and refused_for > (
        GONE_AFTER if error.status in {404, 410} else REFUSED_AFTER
    )


def _remote_files(provider_batch: ProviderBatch) -> dict[str, str]:
    return {
        files.OUTPUT: provider_batch.output_file_id,
        files.ERRORS: provider_batch.error_file_id,
    }


def record(
    provider_batch: ProviderBatch,
    *,
    policy: PolicyVersion,
    model: ProviderModel,
    between: Callable[[], object],
) -> None:
    """Give each line its outcome: what the files say, and to the rest that nothing came."""
    for kind in _remote_files(provider_batch):
        counted = record_file(
            provider_batch=provider_batch,
            path=files.path_of(provider_batch, kind),
            policy=policy,
            model=model,
            between=between,
        )
        if counted.unknown or counted.broken:
            log.warning(
                "batch %s: of %s lines of its %s file %s could not be read, %s were of no open question",
                provider_batch,
                counted.read,
                kind,
                counted.broken,
                counted.unknown,
            )
    while _end_some(provider_batch):
        between()
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(
        state=State.RECORDED, recorded_at=Now(), next_step_at=Now()
    )
    hit(Point.BATCH_AFTER_RECORDED)


def _end_some(provider_batch: ProviderBatch) -> bool:
    """Give some of the lines that nothing came for their outcome; whether there were any."""
    with transaction.atomic():
        batch = Batch.objects.get(pk=provider_batch.batch_id)
        open_lines = provider_batch.all_lines.filter(outcome="").order_by("job")
        some = [
            OpenLine(*line)
            for line in open_lines.values_list("custom_id", "job_id", "job__report_id")[:PIECE]
        ]
        if is_too_large(provider_batch):
            # Asked again in a smaller file.
            BatchLine.objects.filter(pk__any=[line.custom_id for line in some]).delete()
        elif batch.state == Batch.State.CANCELLING:
            park_cancelled(some)
        else:
            outcome, reason = _why(provider_batch)
            lose([(line, outcome, reason) for line in some])
    return bool(some)


def _why(provider_batch: ProviderBatch) -> tuple[str, WaitingReason]:
    """What befell the lines that no file speaks of."""
    if provider_batch.remote_status in {RemoteStatus.EXPIRED, RemoteStatus.CANCELLED}:
        return BatchLine.Outcome.EXPIRED, WaitingReason.BATCH_EXPIRED
    if provider_batch.remote_status == RemoteStatus.FAILED:
        return BatchLine.Outcome.FAILED, WaitingReason.PROVIDER_REJECTED
    return BatchLine.Outcome.MISSING, WaitingReason.PROVIDER_UNAVAILABLE


def clean_up(provider_batch: ProviderBatch) -> None:
    """Delete our files, then those at the provider, which hold content. Twice changes nothing.

    A provider that refuses for good keeps its own; ours are gone whatever it says.
    """
    files.remove(provider_batch)
    for file_id in (
        provider_batch.output_file_id,
        provider_batch.error_file_id,
        provider_batch.input_file_id,
    ):
        if file_id:
            _delete(provider_batch, file_id)
    hit(Point.BATCH_AFTER_DELETE)
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(state=State.DONE)


def _delete(provider_batch: ProviderBatch, file_id: str) -> None:
    try:
        remote.delete_file(file_id)
    except ProviderError as error:
        if not remote.is_for_good(error):
            raise
        log.warning("batch %s: the provider keeps %s: %s", provider_batch, file_id, error)


def put_off(provider_batch: ProviderBatch, *, seconds: float, error: str) -> None:
    """The step failed: again after a while, and the reason shows."""
    if is_too_large(provider_batch):  # its lines need to know
        error = provider_batch.error
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(
        next_step_at=later(seconds), error=error[:200]
    )
