"""Carrying over: what an older version of the same content said is said by this one as well."""

from django.db import connection, transaction
from django.db.models import F

from classifier.batches.selection import same_content
from classifier.models import Batch, Classification
from classifier.recording import record_rows

PIECE = 500


def carry_over(*, batch_id: int, piece: int = PIECE) -> int:
    """Record the verdicts that stand for the batch's next jobs, without a call; how many.

    0 where no more are to be had, or the batch is not being planned any more. The recording step is everybody's, so what becomes current, and
    what people see of it, is no different from an answer.
    """
    with transaction.atomic():
        batch = Batch.objects.select_related("policy_version").get(pk=batch_id)
        if batch.state != Batch.State.PLANNING:
            return 0
        versions = same_content(batch.policy_version)
        if not versions:
            return 0
        with connection.cursor() as cursor:
            cursor.execute(_NEXT, {"batch": batch_id, "versions": versions, "piece": piece})
            found = dict(cursor.fetchall())
        said = Classification.objects.in_bulk(found.values())
        rows = {job: _copy(said[one], batch) for job, one in found.items()}
        record_rows(rows, batch_id=batch_id)
        Batch.objects.filter(pk=batch_id).update(carried=F("carried") + len(rows))
    return len(rows)


# The newest of them for each job. Finished jobs leave the partial index, so none is read twice.
_NEXT = """
SELECT job.id, older.id
FROM classifier_job AS job CROSS JOIN LATERAL (
    SELECT id FROM classifier_classification
    WHERE report_id = job.report_id AND policy_version_id = ANY(%(versions)s)
    ORDER BY policy_version_id DESC LIMIT 1) AS older
WHERE job.batch_id = %(batch)s AND NOT job.done AND NOT job.parked
ORDER BY job.id
LIMIT %(piece)s
"""


def _copy(said: Classification, batch: Batch) -> Classification:
    """The same verdict as an unsaved row of the batch's version."""
    return Classification(
        report_id=said.report_id,
        policy_version=batch.policy_version,
        carried_from=said,
        **{name: getattr(said, name) for name in _SAID},
    )


_SAID = (
    "category",
    "confidence",
    "summary",
    "quotes",
    "severity",
    "safe",
    "rules",
    "served_model",
    "prompt_tokens",
    "completion_tokens",
    "model_seconds",
    "calls",
    "answer_hash",
    "purged_at",
)
