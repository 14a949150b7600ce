"""Carrying over: what an older version of the same content said is said by this one as well."""

from collections.abc import Callable

from django.db import connection, transaction
from django.db.models import F

from classifier.batches.selection import same_content
from classifier.batches.write_jobs import BEFORE_ALL, Place
from classifier.models import Batch, Classification
from classifier.recording import record_rows

PIECE = 500


def carry_over(
    *, batch_id: int, between: Callable[[], object] = lambda: None, piece: int = PIECE
) -> int:
    """Record the verdicts that stand for the batch's jobs, without a call; how many.

    A piece a transaction; `between` is called after each. It ends where no more are to be had, or
    where the batch is not being planned any more. The recording step is everybody's, so what becomes
    current, and what people see of it, is no different from an answer.
    """
    carried, after = 0, BEFORE_ALL
    while found := _carry_piece(batch_id, after, piece):
        count, after = found
        carried += count
        between()
    return carried


def _carry_piece(batch_id: int, after: Place, piece: int) -> tuple[int, Place] | None:
    """How many were carried over and how far this went; None where no more are to be had."""
    with transaction.atomic():
        batch = Batch.objects.select_related("policy_version").get(pk=batch_id)
        if batch.state != Batch.State.PLANNING:
            return None
        versions = same_content(batch.policy_version)
        if not versions:
            return None
        through, job_id = after
        with connection.cursor() as cursor:
            cursor.execute(
                _NEXT,
                {
                    "batch": batch_id,
                    "versions": versions,
                    "through": through,
                    "after": job_id,
                    "piece": piece,
                },
            )
            found = cursor.fetchall()
        if not found:
            return None
        said = Classification.objects.in_bulk([one for _through, _job, one in found])
        rows = {job: _copy(said[one], batch) for _through, job, one in found}
        record_rows(rows, batch_id=batch_id)
        Batch.objects.filter(pk=batch_id).update(carried=F("carried") + len(rows))
    return len(rows), found[-1][:2]


# The newest of them for each job, by the partial index `job_to_do_of_batch` in its order: jobs without
# one stay in it, and would be passed over again for every piece.
_NEXT = """
SELECT job.through, job.id, older.id
FROM classifier_job AS job CROSS JOIN LATERAL (
    SELECT id FROM classifier_classification
    WHERE report_id = job.report_id AND policy_version_id = ANY(%(versions)s)
    ORDER BY policy_version_id DESC LIMIT 1) AS older
WHERE job.batch_id = %(batch)s AND NOT job.done AND NOT job.parked
    AND (job.through, job.id) > (%(through)s, %(after)s)
ORDER BY job.through, job.id
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
