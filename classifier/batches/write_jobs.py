"""Planning: a batch's jobs, written set-wise in the order of report ids, a piece a transaction."""

from django.db import connection, transaction
from django.db.models import F

from classifier.batches.selection import Selection, history
from classifier.models import Batch, Job

PIECE = 20_000


def write_jobs(*, batch_id: int, through: Job.Through, piece: int = PIECE) -> bool:
    """Write the next piece of the batch's jobs; whether it was the last one.

    The piece and how far it went are one transaction: whoever plans on begins where it ended.
    Nothing of a report is loaded. False too where the batch is not being planned any more.
    """
    with transaction.atomic():
        batch = (
            Batch.objects.select_for_update(no_key=True, of=("self",))
            .select_related("policy_version")
            .get(pk=batch_id)
        )
        if batch.state != Batch.State.PLANNING or batch.planned_up_to >= batch.last_report:
            return True
        selection = Selection.from_json(batch.selection)
        if selection.limit is not None:
            piece = min(piece, selection.limit - batch.wanted)
        chosen, written, last = _write(batch, selection, through, piece) if piece else (0, 0, 0)
        ended = chosen < piece or not piece
        Batch.objects.filter(pk=batch_id).update(
            planned_up_to=batch.last_report if ended else last, wanted=F("wanted") + written
        )
    return ended


def _write(
    batch: Batch, selection: Selection, through: Job.Through, piece: int
) -> tuple[int, int, int]:
    """How many reports were chosen, how many jobs written, and the last report's id."""
    tables, parameters = history(
        purpose=Batch.Purpose(batch.purpose), policy=batch.policy_version, selection=selection
    )
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE.format(tables=tables),
            {
                **parameters,
                "batch": batch.pk,
                "after": batch.planned_up_to,
                "last": batch.last_report,
                "through": through,
                "piece": piece,
            },
        )
        chosen, written, last = cursor.fetchone()
    return chosen, written, last or 0


# A job that stands was of nobody, or of a batch that ended without it: it becomes this batch's, with
# new attempts. Holders whose lease ran out are fenced off by the new claim.
_WRITE = """
WITH chosen AS MATERIALIZED (
    SELECT report.id {tables} AND report.id > %(after)s AND report.id <= %(last)s
    ORDER BY report.id LIMIT %(piece)s
), written AS (
    INSERT INTO classifier_job AS job (report_id, policy_version_id, batch_id, lane, through,
        attempts, claims, faults, reason, parked, done)
    SELECT id, %(version)s, %(batch)s, 'batch', %(through)s, 0, 0, 0, '', false, false FROM chosen
    ON CONFLICT ON CONSTRAINT one_job_per_report_and_version DO UPDATE
    SET batch_id = excluded.batch_id, lane = 'batch', through = excluded.through, attempts = 0,
        claims = job.claims + 1, faults = 0, further_calls = 0, submissions = 0, reason = '',
        parked = false, not_before = NULL, nudged_at = NULL, lease_until = NULL, ended_at = NULL
    WHERE NOT job.done AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
    RETURNING 1
)
SELECT (SELECT count(*) FROM chosen), (SELECT count(*) FROM written), (SELECT max(id) FROM chosen)
"""
