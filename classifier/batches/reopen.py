"""Bring the worst of what a newer version found to people, and never more than was allowed."""

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from classifier.batches.control import BatchStateError
from classifier.models import Batch, Disagreement
from classifier.models.disagreement import DisagreementQuerySet
from reports import lifecycle
from reports.audit import write_audit
from reports.models import Severity

# Without a word from operations: so many of a batch, and only what no person has seen.
DEFAULT_AT_MOST = 100
# Reports under lock at once.
CHUNK = 100


def reopen_disagreements(*, batch_id: int, at_most: int, actor_name: str) -> int:
    """Send reports back to review, the most severe first, until `at_most` of the batch were in all.

    The batch's own bound holds as well. Each chunk is a transaction of its own, so a second call, or
    one after an interruption, does the rest only. Returns how many this call reopened.
    """
    return _reopen(
        Disagreement.objects.open().filter(batch=batch_id), batch_id, at_most, actor_name
    )


def reopen_default(*, batch_id: int, actor_name: str) -> int:
    """The same for a batch that nobody gave a bound: what was judged safe and is critical, a few."""
    among = Disagreement.objects.open().filter(
        batch=batch_id, unseen=True, severity=Severity.CRITICAL
    )
    return _reopen(among, batch_id, DEFAULT_AT_MOST, actor_name)


def reopen_more(*, batch_id: int, at_most: int, actor_name: str) -> int:
    """Of a batch that ended, up to so many beyond those reopened already; returns how many.

    Its bound grows with them. Raises `BatchStateError` before it ended, for until then the bound
    that it was started with is to come; `Batch.DoesNotExist`.
    """
    with transaction.atomic():
        batch = Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
        if batch.ended_at is None:
            raise BatchStateError(
                _("Batch %(number)s has not ended, but is: %(state)s.")
                % {"number": batch.pk, "state": batch.get_state_display()}
            )
        if not batch.disagreements.filter(state=Disagreement.State.OPEN).exists():
            return 0
        bound, before = batch.reopened + at_most, batch.reopen_at_most
        batch.reopen_at_most = max(before or 0, bound)
        batch.save(update_fields=["reopen_at_most"])
        write_audit(
            action="batch_reopens_more",
            of=batch,
            actor_name=actor_name,
            detail={"before": before, "after": batch.reopen_at_most},
        )
    return reopen_disagreements(batch_id=batch_id, at_most=bound, actor_name=actor_name)


def _reopen(among: DisagreementQuerySet, batch_id: int, at_most: int, actor_name: str) -> int:
    total = 0
    while (reopened := _reopen_chunk(among, batch_id, at_most, actor_name)) is not None:
        total += reopened
    return total


def _reopen_chunk(
    among: DisagreementQuerySet, batch_id: int, at_most: int, actor_name: str
) -> int | None:
    """How many; None at the bound or where none is left."""
    with transaction.atomic():
        left = _left(Batch.objects.get(pk=batch_id), at_most)
        found = list(among[: min(CHUNK, left)])
        if not found:
            return None
        reports = lifecycle.lock_many([each.report_id for each in found])
        # After the reports, as recording does it. Another may have reopened meanwhile.
        left = _left(Batch.objects.select_for_update(no_key=True).get(pk=batch_id), at_most)
        # Somebody may have decided, or another verdict come, before the locks were ours.
        chosen = list(
            among.filter(pk__in=[each.pk for each in found]).select_related("classification")[:left]
        )
        lifecycle.reopen([reports[each.report_id] for each in chosen])
        Disagreement.objects.filter(pk__in=[each.pk for each in chosen]).update(
            state=Disagreement.State.REOPENED, ended_at=Now()
        )
        Batch.objects.filter(pk=batch_id).update(reopened=F("reopened") + len(chosen))
        for each in chosen:
            write_audit(
                action="reopened_by_newer_verdict",
                of=reports[each.report_id],
                actor_name=actor_name,
                detail={
                    "batch": batch_id,
                    "policy_version": each.classification.policy_version_id,
                },
            )
    return len(chosen)


def _left(batch: Batch, at_most: int) -> int:
    allowed = at_most if batch.reopen_at_most is None else min(at_most, batch.reopen_at_most)
    return max(0, allowed - batch.reopened)
