"""Reports with a past, and batches that ask about them again."""

import time
from collections.abc import Sequence
from typing import Any

from classifier.batches.by_calls import claim_history
from classifier.batches.plan import plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import start_batch
from classifier.batches.write_jobs import write_jobs
from classifier.jobs import Claimed
from classifier.models import Batch, Disagreement, Job, PolicyVersion
from classifier.pipeline import Outcome, classify_report
from classifier.recording import Recorded
from classifier.tests.situations import claim, load_version, record, send_text
from reports.models import Report, Severity
from reports.nudge import Lane
from reports.tests.outcomes import resolve
from reports.tests.sending import Client

EVERYTHING = Selection()


def send_judged(
    client: Client, count: int, *, policy: PolicyVersion, **verdict: Any
) -> list[Report]:
    """Reports about items of their own, judged safe unless the verdict's fields say otherwise."""
    reports = [send_text(client) for _report in range(count)]
    for report in reports:
        record(claim(report, policy), **verdict)
        report.refresh_from_db()
    return reports


def judged_safe(client: Client, policy: PolicyVersion, **changes: Any) -> Report:
    """A report that a machine judged safe."""
    report = send_text(client, **changes)
    record(claim(report, policy))
    return report


def found_harmless(client: Client, policy: PolicyVersion, **changes: Any) -> Report:
    """A report in which a person found no violation."""
    report = judged_safe(client, policy, **changes)
    resolve(report, action="no_violation", category="")
    return report


def next_version() -> PolicyVersion:
    """One more version than there are, active."""
    return load_version(prompt=f"Judge anew, {PolicyVersion.objects.count()}.")


def take_for(batch: Batch, report: Report) -> Claimed:
    """The batch's job about a report, in somebody's hands."""
    job = Job.objects.create(
        report=report, policy_version=batch.policy_version, lane="batch", batch=batch, claims=1
    )
    return Claimed(
        job_id=job.pk,
        report_id=report.pk,
        policy=batch.policy_version,
        number=1,
        reason="",
        expires=time.monotonic() + 60,
        batch_id=batch.pk,
    )


def ask_again(report: Report, batch: Batch, **fields: Any) -> Recorded:
    """The batch asks about a report, and this is recorded."""
    report.refresh_from_db()
    return record(take_for(batch, report), floor=Severity(report.floor), **fields)


def disagreement_about(report: Report) -> Disagreement:
    return Disagreement.objects.get(report=report)


def start(policy: PolicyVersion, selection: Selection = EVERYTHING, **further: Any) -> Batch:
    """A batch started, its jobs not written yet."""
    purpose = further.pop("purpose", Batch.Purpose.POLICY_MIGRATION)
    return start_batch(
        purpose=purpose,
        policy=policy,
        selection=selection,
        plan=plan_batch(purpose=purpose, policy=policy, selection=selection),
        actor_name="a test",
        **further,
    )


def write_all_jobs(
    batch: Batch, *, through: Job.Through = Job.Through.CALLS, piece: int = 3
) -> None:
    """Its jobs, in small pieces."""
    while not write_jobs(batch_id=batch.pk, through=through, piece=piece):
        pass
    batch.refresh_from_db()


def batch_of(policy: PolicyVersion, reports: Sequence[Report], **fields: Any) -> Batch:
    """A planned batch of these reports, to be asked by calls."""
    batch = Batch.objects.create(
        **{
            "purpose": Batch.Purpose.NIGHTLY,
            "policy_version": policy,
            "state": Batch.State.RUNNING,
            "words": "these reports",
            "last_report": max(report.pk for report in reports),
            "wanted": len(reports),
            **fields,
        }
    )
    Job.objects.bulk_create(
        Job(report=report, policy_version=policy, lane=Lane.BATCH, batch=batch)
        for report in reports
    )
    return batch


def wanted_of(report: Report) -> Job:
    """The report's job in its batch."""
    return Job.objects.get(report=report, batch__isnull=False)


def ask(report: Report) -> Outcome:
    """A worker takes up the report's nudge of the batch lane."""
    return classify_report(report_id=report.pk, lane=Lane.BATCH)


def claim_wanted(report: Report, policy: PolicyVersion) -> Claimed:
    """The claim of a batch's job that must be free."""
    claimed = claim_history(report_id=report.pk, policy=policy)
    assert claimed is not None
    return claimed


def ends_of(batch: Batch) -> list[tuple[str, bool]]:
    """How each job stands, and whether it has the time of its end."""
    jobs = Job.objects.filter(batch=batch).order_by("id")
    return [
        (
            "done" if job.done else "parked" if job.parked else "open",
            job.ended_at is not None,
        )
        for job in jobs
    ]
