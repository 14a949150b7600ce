"""What becomes of disagreements once something newer has the last word."""

from collections.abc import Collection
from datetime import datetime

from django.db import connection
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Now

from classifier.models import Classification, Disagreement, Job
from reports import lifecycle
from reports.models import Report, Severity


def settle_open(report_ids: Collection[int]) -> None:
    """End the open disagreements about locked reports: a later verdict or decision stands now.

    One that was reopened stays so, for it says why its report came back to people.
    """
    Disagreement.objects.filter(report__any=report_ids, state=Disagreement.State.OPEN).update(
        state=Disagreement.State.SETTLED, ended_at=Now()
    )


def dispute_again(report_ids: Collection[int], *, since: datetime) -> set[int]:
    """Open what a decision settled that is taken back: what of locked reports ended `since` then.

    Only where its verdict is still the current one. Answers with the reports.
    """
    settled = Disagreement.objects.filter(
        report__any=report_ids,
        state=Disagreement.State.SETTLED,
        ended_at__gte=since,
        classification__superseded=False,
    )
    again = set(settled.values_list("report", flat=True))
    settled.update(state=Disagreement.State.OPEN, ended_at=None)
    return again


def returned_to_people(report_ids: Collection[int], *, since: datetime) -> set[int]:
    """Those whose disagreement was reopened `since` then."""
    reopened = Disagreement.objects.filter(
        report__any=report_ids, state=Disagreement.State.REOPENED, ended_at__gte=since
    )
    return set(reopened.values_list("report", flat=True))


def dispute_what_came(report_ids: Collection[int], *, since: datetime) -> None:
    """List what batches found `since` then in locked reports in which a person had found nothing.

    A decision that upheld it stood between, and is taken back.
    """
    job = Job.objects.filter(report=OuterRef("report"), policy_version=OuterRef("policy_version"))
    found = Classification.objects.filter(
        report__any=report_ids,
        report__status=Report.Status.RESOLVED,
        report__upheld_at=None,
        superseded=False,
        safe=False,
        severity__gt=Severity.NONE,
        created_at__gte=since,
        disagreement=None,
    ).annotate(of_batch=Subquery(job.values("batch")))
    Disagreement.objects.bulk_create(
        Disagreement(
            classification=row,
            report_id=row.report_id,
            batch_id=row.of_batch,
            severity=row.severity,
            unseen=False,
        )
        for row in found.exclude(of_batch=None)
    )


def settle_what_is_moot(report_ids: Collection[int]) -> None:
    """End open disagreements about locked reports that stand where people look, or upheld them."""
    found_none = Q(report__status=Report.Status.JUDGED_SAFE) | Q(
        report__status=Report.Status.RESOLVED, report__upheld_at=None
    )
    moot = Disagreement.objects.filter(report__any=report_ids).exclude(found_none)
    settle_open(list(moot.values_list("report", flat=True)))


def taken_from_people(report_ids: Collection[int]) -> set[int]:
    """Those of locked reports, judged safe, that stood before people until a batch passed them.

    No decision names one of them, for such a report is never passed.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TAKEN, [sorted(report_ids)])
        return {row[0] for row in cursor.fetchall()}


# A verdict that was not safe brought its report to people, unless it came too late to be current, or
# was listed as a disagreement and not reopened. Rows are inserted under the report's lock, so their
# ids tell which came first.
_TAKEN = """
SELECT DISTINCT report_id FROM classifier_classification AS older
WHERE report_id = ANY(%s) AND superseded AND NOT safe
    AND NOT EXISTS (SELECT FROM classifier_classification
        WHERE report_id = older.report_id AND policy_version_id > older.policy_version_id
            AND id < older.id)
    AND NOT EXISTS (SELECT FROM classifier_disagreement
        WHERE classification_id = older.id AND state <> 'reopened')
"""


def note_refusal(*, report: Report, rule: str) -> None:
    """A model or a filter would not judge a locked report: its floor rises, for a person to look."""
    lifecycle.raise_floor(report=report, to=Severity.HIGH, rule=rule)
    if report.status == Report.Status.NEEDS_REVIEW:
        settle_open([report.pk])
