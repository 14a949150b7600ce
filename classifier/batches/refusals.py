"""Refusals of a model or a filter send reports to people: a batch full of them asks a person first."""

from django.db.models import Max

from classifier.batches.ending import stop
from classifier.jobs import RAISES_FLOOR
from classifier.models import Batch
from reports.models import AuditEntry

# More than so many of the last so many: one in twenty.
MOST_REFUSALS = 100
AMONG_THE_LAST = 2_000


def stop_at_refusals(batch: Batch) -> bool:
    """Stopped, where of its last answers too many were refusals; of those since it was resumed."""
    reasons = _last(batch)
    refused = sum(reason in RAISES_FLOOR for reason in reasons)
    if refused <= MOST_REFUSALS:
        return False
    stop(
        batch,
        why=f"of the last {len(reasons):,} answers {refused:,} were refusals of the model or a "
        "filter, and every such report goes to people",
    )
    return True


def _last(batch: Batch) -> list[str]:
    """Why jobs ended, blank where they have a verdict; the newest, from the index alone."""
    ended = batch.jobs.filter(ended_at__isnull=False)
    resumed = AuditEntry.objects.filter(
        object_type="batch", object_id=str(batch.pk), action="batch_resumed"
    ).aggregate(at=Max("at"))["at"]
    if resumed is not None:
        # Somebody has looked at what was before.
        ended = ended.filter(ended_at__gt=resumed)
    return list(ended.order_by("-ended_at").values_list("reason", flat=True)[:AMONG_THE_LAST])
