"""Write before acknowledge: one transaction that makes verdicts the outcomes of their reports."""

import json
import logging
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Case, F, IntegerField, Value, When
from django.db.models.functions import Now

from classifier.answer_rows import answer_row
from classifier.asking import Asked
from classifier.batches.tally import tally
from classifier.disagreements import settle_open, taken_from_people
from classifier.jobs import Claimed
from classifier.models import Classification, Disagreement, Job, PolicyVersion
from classifier.rules import Judgement
from reports import lifecycle
from reports.failpoints import Point, hit
from reports.models import Report, Severity

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0


class Recorded(StrEnum):
    """What became of an answer."""

    CURRENT = "current"
    SUPERSEDED = "superseded"  # a newer policy version had answered before
    DUPLICATE = "duplicate"  # another answer under the same version stands


def record_answer(*, claimed: Claimed, asked: Asked, judgement: Judgement) -> Recorded:
    """Store the answer once, whatever the connection does, for as long as the lease lasts.

    A commit whose confirmation was lost is found as a duplicate by the next try, which is right:
    the first recorded answer stands. Raises `OperationalError` when the lease ends first.
    """
    row = answer_row(claimed=claimed, asked=asked, judgement=judgement)
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            with transaction.atomic():
                return record_rows({claimed.job_id: row}, batch_id=claimed.batch_id)[0]
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if time.monotonic() + wait > claimed.expires:
                raise
            log.warning(
                "report %s: the verdict is not written yet (%s), trying again",
                claimed.report_id,
                type(error).__name__,
            )
            time.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)


def record_rows(rows: Mapping[int, Classification], *, batch_id: int | None) -> list[Recorded]:
    """The recording step: of one answer, or of a slice of a batch. Says what became of each.

    `rows` are unsaved verdicts by the id of the job that wanted them, each about another report and
    all of one batch or none. Inside the caller's transaction: locks, supersedes, inserts, moves
    reports and items, closes the jobs.
    """
    reports = lifecycle.lock_many([row.report_id for row in rows.values()])
    # Every writer holds the report's lock, so what is read here stands until the commit; the unique
    # key would refuse a second row all the same.
    standing = _standing(reports)
    recorded = {
        job_id: _outcome(row, standing[row.report_id].versions) for job_id, row in rows.items()
    }
    fresh = [rows[job] for job, outcome in recorded.items() if outcome is not Recorded.DUPLICATE]
    current = [row for row in fresh if not row.superseded]
    supersede([row.report_id for row in current])
    hit(Point.RECORD_AFTER_SUPERSEDE)
    for row in fresh:
        if row.safe and reports[row.report_id].floor > Severity.NONE:
            # Raised since the verdict was judged, by a refusal under another version.
            row.safe, row.rules = False, [*row.rules, "floor"]
    insert(fresh)
    hit(Point.RECORD_AFTER_INSERT)
    settle(current, reports=reports, batch_id=batch_id)
    close_jobs(rows, again=[job for job in rows if recorded[job] is Recorded.DUPLICATE])
    if batch_id is not None:
        with connection.cursor() as cursor:
            # What is checked at the commit is checked before the batch's own row is held.
            # And then again at the commit, for whatever the caller still writes.
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        tally(
            batch_id=batch_id,
            flows=[(standing[row.report_id].category, row.category) for row in fresh],
            rows=fresh,
        )
    return list(recorded.values())


def insert(rows: Sequence[Classification]) -> None:
    """Store unsaved rows in one statement and give them their ids; each is about another report.

    As one JSON text: it costs a slice of a batch a fifth of what a parameter for each value does.
    """
    if not rows:
        return
    values = [{name: getattr(row, name) for name in _COLUMNS} for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [json.dumps(values, default=str)])
        ids = dict(cursor.fetchall())
    for row in rows:
        row.pk = ids[row.report_id]


_COLUMNS = [
    field.attname
    for field in Classification._meta.concrete_fields
    if field.attname not in {"id", "created_at"}  # the database's own
]
_INSERT = f"""
INSERT INTO classifier_classification ({", ".join(_COLUMNS)})
SELECT {", ".join(_COLUMNS)} FROM json_populate_recordset(NULL::classifier_classification, %s)
RETURNING report_id, id
"""  # noqa: S608 - our own columns


@dataclass
class _Standing:
    """What a report has been judged: under which versions, and the current category."""

    versions: set[int]
    category: str = ""


def _standing(report_ids: Collection[int]) -> dict[int, _Standing]:
    found = {report_id: _Standing(set()) for report_id in report_ids}
    rows = Classification.objects.filter(report__any=report_ids).values_list(
        "report_id", "policy_version_id", "superseded", "category"
    )
    for report_id, version, superseded, category in rows:
        found[report_id].versions.add(version)
        if not superseded:
            found[report_id].category = category
    return found


def _outcome(row: Classification, versions: Collection[int]) -> Recorded:
    """Whether the row may be written, and as what: the highest version that answered is current."""
    if row.policy_version_id in versions:
        return Recorded.DUPLICATE
    row.superseded = max(versions, default=0) > row.policy_version_id
    return Recorded.SUPERSEDED if row.superseded else Recorded.CURRENT


def supersede(report_ids: Collection[int]) -> None:
    """Make room for newer verdicts of locked reports: those that were current are so no longer."""
    Classification.objects.filter(report__any=report_ids, superseded=False).update(superseded=True)


def settle(
    current: Sequence[Classification], *, reports: Mapping[int, Report], batch_id: int | None
) -> None:
    """Move locked reports by their new current verdicts; list those that a batch may not move."""
    settle_open([row.report_id for row in current])
    verdicts = {
        row.report_id: lifecycle.NewVerdict(row.safe, Severity(row.severity)) for row in current
    }
    if batch_id is None:
        lifecycle.apply_verdicts(reports=reports, verdicts=verdicts)
        return
    found = [
        row.report_id
        for row in current
        if not row.safe and reports[row.report_id].status == Report.Status.JUDGED_SAFE
    ]
    disagree = lifecycle.apply_verdicts(
        reports=reports,
        verdicts=verdicts,
        historical=True,
        # A retired version may have been a bad one; its late answers take nothing from people.
        may_pass=PolicyVersion.objects.filter(
            number__in={row.policy_version_id for row in current}, state=PolicyVersion.State.ACTIVE
        ).exists(),
        taken=taken_from_people(found) if found else (),
    )
    Disagreement.objects.bulk_create(
        Disagreement(
            classification=row,
            report_id=row.report_id,
            batch_id=batch_id,
            severity=row.severity,
            unseen=reports[row.report_id].status == Report.Status.JUDGED_SAFE,
        )
        for row in current
        if row.report_id in disagree
    )


def close_jobs(job_ids: Collection[int], *, again: Collection[int] = ()) -> None:
    """Nothing is wanted any more; `again` are those whose answer came second."""
    Job.objects.filter(pk__any=job_ids).update(
        done=True,
        parked=False,
        reason="",
        lease_until=None,
        not_before=None,
        ended_at=Now(),
        dropped=F("dropped")
        + Case(When(pk__in=again, then=Value(1)), default=Value(0), output_field=IntegerField()),
    )
