"""How a batch, or a file of it at the provider, comes to its end."""

import logging
from collections.abc import Callable

from django.db import connection, transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from classifier.batches import files, remote
from classifier.batches.cost import may_cost, price_of
from classifier.batches.reopen import reopen_default, reopen_disagreements
from classifier.batches.sizes import FILE_TOO_LARGE
from classifier.batches.words import RemoteStatus
from classifier.batches.write_jobs import BEFORE_ALL, Place, plan_again
from classifier.capabilities import learn_batches
from classifier.models import Batch, BatchLine, Job, ProviderBatch, ProviderModel, WaitingReason
from classifier.provider import Fault, ProviderError
from reports.audit import write_audit

log = logging.getLogger(__name__)

ACTOR = "reconcile"
PIECE = 5_000


def end(batch: Batch) -> bool:
    """Done, once every job has a verdict or a named reason; before, what may be reopened is.

    First it plans what came to be selected meanwhile, if anything did.
    """
    if not _all_ended(batch):
        return False
    if plan_again(batch_id=batch.pk):
        return True
    _reopen(batch)
    _close(batch, to=Batch.State.DONE, action="batch_done")
    return True


def _reopen(batch: Batch) -> None:
    if batch.reopen_at_most is None:
        reopen_default(batch_id=batch.pk, actor_name=ACTOR)
    else:
        reopen_disagreements(batch_id=batch.pk, at_most=batch.reopen_at_most, actor_name=ACTOR)


def _all_ended(batch: Batch) -> bool:
    out = batch.provider_batches.exclude(
        state__in=[ProviderBatch.State.RECORDED, ProviderBatch.State.DONE]
    )
    return not out.exists() and not batch.jobs.filter(done=False, parked=False).exists()


def stop_at_cost(batch: Batch) -> bool:
    """Stopped, where what was used and what is out may cost more than allowed."""
    if batch.max_cost is None:
        return False
    model = ProviderModel.objects.of_policy(batch.policy_version)
    price = price_of(model, today=timezone.now().date())
    if price is None:
        why = "its cost is limited, and the price recorded is out of date"
    else:
        cost = may_cost(batch, price)
        if cost < batch.max_cost:
            return False
        why = f"it costs {cost}, with what is out, and the limit is {batch.max_cost}"
    stop(batch, why=why)
    return True


def stop(batch: Batch, *, why: str) -> None:
    """A running batch waits for a person, who reads why in its note."""
    with transaction.atomic():
        rows = Batch.objects.filter(pk=batch.pk, state=Batch.State.RUNNING)
        if rows.update(state=Batch.State.STOPPED, note=why):
            write_audit(action="batch_stopped", of=batch, actor_name=ACTOR, detail={"why": why})
    log.warning("batch %s stopped: %s", batch.pk, why)


def cancel_rest(batch: Batch, between: Callable[[], object]) -> bool:
    """Park what is not out any more, piece by piece; cancelled, once nothing is out.

    What its answers found by then is reopened as at any other end: a threat stays one.
    """
    after = BEFORE_ALL
    while up_to := _park_some(batch, after):
        after = up_to
        between()
    if not _all_ended(batch):
        return False
    _reopen(batch)
    _close(batch, to=Batch.State.CANCELLED, action="batch_cancel_ended")
    return True


def _park_some(batch: Batch, after: Place) -> Place | None:
    """How far this went; None where there was nothing to park."""
    through, job_id = after
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _PARK,
            {
                "batch": batch.pk,
                "reason": WaitingReason.BATCH_CANCELLED,
                "through": through,
                "after": job_id,
                "piece": PIECE,
            },
        )
        parked: list[Place] = cursor.fetchall()
        return max(parked, default=None)


# What a worker holds it may finish. By the partial index `job_to_do_of_batch` in its order, and the
# ids as an array: PostgreSQL reads the whole table to join it with a few thousand.
_PARK = """
UPDATE classifier_job SET parked = true, reason = %(reason)s, ended_at = clock_timestamp(),
    lease_until = NULL
WHERE id = ANY(ARRAY(
    SELECT job.id FROM classifier_job AS job
    WHERE job.batch_id = %(batch)s AND NOT job.done AND NOT job.parked
        AND (job.through, job.id) > (%(through)s, %(after)s)
        AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
        AND NOT EXISTS (SELECT FROM classifier_batchline AS line
            WHERE line.job_id = job.id AND line.outcome = '')
    ORDER BY job.through, job.id LIMIT %(piece)s
    FOR UPDATE SKIP LOCKED))
RETURNING through, id
"""


def take_back(provider_batch: ProviderBatch) -> None:
    """It was not sent yet, and its batch is called in: its lines go, its upload too."""
    if provider_batch.input_file_id:
        remote.delete_file(provider_batch.input_file_id)
    files.remove(provider_batch)
    with transaction.atomic():
        BatchLine.objects.filter(provider_batch=provider_batch, outcome="").delete()
        ProviderBatch.objects.filter(pk=provider_batch.pk).update(
            state=ProviderBatch.State.DONE, lines=0, ended_at=Now()
        )


def refused(provider_batch: ProviderBatch, error: ProviderError) -> None:
    """The provider will not take it: its lines fail, and are sent anew or asked by calls.

    Where it turns out to have no Batch API at all, the whole batch goes by calls, but for what other
    files ask already.
    """
    batch = provider_batch.batch
    if remote.offers_batches() is False:
        log.warning("batch %s: the provider has no Batch API; by calls", batch.pk)
        learn_batches(ProviderModel.objects.of_policy(batch.policy_version), offered=False)
        batch.jobs.filter(done=False, parked=False).exclude(
            Exists(
                BatchLine.objects.filter(job=OuterRef("pk"), outcome="").exclude(
                    provider_batch=provider_batch
                )
            )
        ).update(through=Job.Through.CALLS)
    ProviderBatch.objects.filter(pk=provider_batch.pk).update(
        state=ProviderBatch.State.ENDED,
        remote_status=RemoteStatus.FAILED,
        error=_why(error)[:200],
        ended_at=Now(),
        next_step_at=Now(),
    )


def _why(error: ProviderError) -> str:
    # A file is no prompt: what is too long is all of it, whatever the server calls that.
    too_large = error.fault == Fault.TOO_LONG
    return FILE_TOO_LARGE if too_large else error.code or error.fault


def _close(batch: Batch, *, to: Batch.State, action: str) -> None:
    with transaction.atomic():
        rows = Batch.objects.filter(pk=batch.pk, state=batch.state)
        if rows.update(state=to, ended_at=Now()):
            write_audit(action=action, of=batch, actor_name=ACTOR)
    log.info("batch %s: %s", batch.pk, to)
