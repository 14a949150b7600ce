"""Planning: a batch's jobs, written set-wise in the order of report ids, a piece a transaction."""

from django.db import connection, transaction

from classifier.batches.selection import Selection, history
from classifier.models import Batch, Job
from reports.models import Report

PIECE = 20_000
Place = tuple[str, int]
"""How far a batch's open jobs were gone through: `through` and id of the last, as their index goes."""
BEFORE_ALL: Place = ("", 0)


def write_jobs(*, batch_id: int, through: Job.Through, piece: int = PIECE) -> bool:
    """Write the batch's jobs among the next `piece` reports; whether these were the last ones.

    The piece and how far it went are one transaction: whoever plans on begins where it ended.
    Nothing of a report is loaded. True too where the batch is not being planned any more.
    """
    with transaction.atomic():
        batch = (
            # Of itself alone: activation has the version's row before it comes to the batch's.
            Batch.objects.select_for_update(no_key=True, of=("self",))
            .select_related("policy_version")
            .get(pk=batch_id)
        )
        if batch.state != Batch.State.PLANNING or batch.planned_up_to >= batch.last_report:
            return True
        selection = Selection.from_json(batch.selection)
        # By ids, so that no piece reads more of the history than its own part.
        after = Report.objects.filter(pk__gt=batch.planned_up_to, pk__lt=batch.last_report)
        end = after.order_by("pk").values_list("pk", flat=True)[piece - 1 : piece].first()
        up_to = batch.last_report if end is None else end
        wanted = batch.wanted + _write(batch, selection, through, up_to)
        if selection.limit is not None and wanted >= selection.limit:
            up_to = batch.last_report
        Batch.objects.filter(pk=batch_id).update(planned_up_to=up_to, wanted=wanted)
    if up_to >= batch.last_report and wanted > PIECE:
        # Until PostgreSQL looks by itself it takes a million new jobs for a few, and sorts them all.
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE classifier_job")
    return up_to >= batch.last_report


_PLANNED_AGAIN = (Batch.Purpose.POLICY_MIGRATION, Batch.Purpose.NIGHTLY)


def plan_again(*, batch_id: int) -> bool:
    """Begin planning anew where reports of the selection have no job; whether there are any.

    A worker that asked before the version became active may answer after its report's range was
    planned. Each pass gives all of them jobs, and who asks now asks under this version: they run out.
    Of a batch that was to be so many reports, or is not running any more, nothing is planned.
    """
    batch = Batch.objects.select_related("policy_version").get(pk=batch_id)
    selection = Selection.from_json(batch.selection)
    if batch.purpose not in _PLANNED_AGAIN or selection.limit is not None:
        return False
    tables, parameters = history(
        purpose=Batch.Purpose(batch.purpose), policy=batch.policy_version, selection=selection
    )
    with connection.cursor() as cursor:
        # Before the row is locked: a million reports take seconds.
        cursor.execute(f"SELECT min(report.id), max(report.id) {tables}", parameters)
        first, last = cursor.fetchone()
    if first is None:
        return False
    rows = Batch.objects.filter(pk=batch_id, state=Batch.State.RUNNING)
    return bool(rows.update(state=Batch.State.PLANNING, planned_up_to=first - 1, last_report=last))


def _write(batch: Batch, selection: Selection, through: Job.Through, up_to: int) -> int:
    """How many jobs were written."""
    tables, parameters = history(
        purpose=Batch.Purpose(batch.purpose), policy=batch.policy_version, selection=selection
    )
    limited = "ORDER BY report.id LIMIT %(left)s" if selection.limit is not None else ""
    with connection.cursor() as cursor:
        cursor.execute(
            _WRITE.format(tables=tables, limited=limited),
            {
                **parameters,
                "batch": batch.pk,
                "after": batch.planned_up_to,
                "up_to": up_to,
                "through": through,
                "left": (selection.limit or 0) - batch.wanted,
            },
        )
        written: int = cursor.rowcount
    return written


# A job that stands was of nobody, or of a batch that ended without it: it becomes this batch's, with
# new attempts. Holders whose lease ran out are fenced off by the new claim.
_WRITE = """
INSERT INTO classifier_job AS job (report_id, policy_version_id, batch_id, lane, through,
    attempts, claims, faults, reason, parked, done)
SELECT chosen.id, %(version)s, %(batch)s, 'batch', %(through)s, 0, 0, 0, '', false, false
FROM (SELECT report.id {tables} AND report.id > %(after)s AND report.id <= %(up_to)s
    {limited}) AS chosen
ON CONFLICT ON CONSTRAINT one_job_per_report_and_version DO UPDATE
SET batch_id = excluded.batch_id, lane = 'batch', through = excluded.through, attempts = 0,
    claims = job.claims + 1, faults = 0, further_calls = 0, submissions = 0, reason = '',
    parked = false, not_before = NULL, nudged_at = NULL, lease_until = NULL, ended_at = NULL
WHERE NOT job.done AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
"""
