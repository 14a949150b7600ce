"""What becomes of disagreements once something newer has the last word."""

from collections.abc import Collection

from django.db.models.functions import Now

from classifier.models import Disagreement
from reports import lifecycle
from reports.models import Report, Severity


def settle_open(report_ids: Collection[int]) -> None:
    """End the open disagreements about locked reports: a later verdict or decision stands now.

    One that was reopened stays so, for it says why its report came back to people.
    """
    Disagreement.objects.filter(report__any=report_ids, state=Disagreement.State.OPEN).update(
        state=Disagreement.State.SETTLED, ended_at=Now()
    )


def note_refusal(*, report: Report, rule: str) -> None:
    """A model or a filter would not judge a locked report: its floor rises, for a person to look."""
    lifecycle.raise_floor(report=report, to=Severity.HIGH, rule=rule)
    if report.status == Report.Status.NEEDS_REVIEW:
        settle_open([report.pk])
