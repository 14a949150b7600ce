"""Lines of a provider's batch that brought no verdict, and what becomes of their jobs."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Least, Now

from classifier.disagreements import note_refusal
from classifier.models import BatchLine, Job, WaitingReason
from reports import lifecycle


class OpenLine(NamedTuple):
    """A line that has no outcome yet."""

    custom_id: UUID
    job_id: int
    report_id: int


Lost = tuple[OpenLine, str, WaitingReason]
"""A line without a verdict, its outcome and why."""


def refuse(line: OpenLine, outcome: str, reason: WaitingReason) -> None:
    """What a filter or the model would not judge is a person's: never asked again."""
    with transaction.atomic():
        report = lifecycle.lock(line.report_id)
        note_refusal(report=report, rule=reason)
        BatchLine.objects.filter(pk=line.custom_id).update(outcome=outcome, reason=reason)
        Job.objects.filter(pk=line.job_id, done=False, parked=False).update(
            parked=True, reason=reason, ended_at=Now(), lease_until=None
        )


def lose(lost: Sequence[Lost]) -> None:
    """Lines without a verdict, and what becomes of their jobs; inside the caller's transaction.

    What is too long for one line goes through calls, and so does what has stood in as many files as
    it may. The rest is sent again.
    """
    if not lost:
        return
    note_outcomes(lost)
    for reason in sorted({reason for _line, _outcome, reason in lost}):
        too_long = reason == WaitingReason.TOO_LONG
        Job.objects.filter(
            pk__any=[line.job_id for line, _outcome, each in lost if each == reason],
            done=False,
            parked=False,
        ).update(
            reason=reason,
            submissions=Least(F("submissions") + 1, Job.MAX_SUBMISSIONS),
            through=Value(Job.Through.CALLS) if too_long else _UNTIL_IT_HAD_ITS_CHANCES,
        )


def note_outcomes(lost: Sequence[Lost]) -> None:
    """Write the outcomes of lines that have none yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE classifier_batchline AS line SET outcome = lost.outcome, reason = lost.reason"
            " FROM unnest(%s::uuid[], %s::text[], %s::text[]) AS lost (custom_id, outcome, reason)"
            " WHERE line.custom_id = lost.custom_id AND line.outcome = ''",
            [
                [line.custom_id for line, _outcome, _reason in lost],
                [str(outcome) for _line, outcome, _reason in lost],
                [str(reason) for _line, _outcome, reason in lost],
            ],
        )


_UNTIL_IT_HAD_ITS_CHANCES = Case(
    When(submissions__gte=Job.MAX_SUBMISSIONS - 1, then=Value(Job.Through.CALLS)),
    default=F("through"),
)


def park_cancelled(lines: Sequence[OpenLine]) -> None:
    """The batch is called in: what was not answered waits for the next one under this version."""
    BatchLine.objects.filter(pk__any=[line.custom_id for line in lines]).update(
        outcome=BatchLine.Outcome.EXPIRED, reason=WaitingReason.BATCH_CANCELLED
    )
    Job.objects.filter(pk__any=[line.job_id for line in lines], done=False, parked=False).update(
        parked=True, reason=WaitingReason.BATCH_CANCELLED, ended_at=Now(), lease_until=None
    )
