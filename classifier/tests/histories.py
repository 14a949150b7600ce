"""Reports with a past, and batches that ask about them again."""

import time
from typing import Any

from classifier.jobs import Claimed
from classifier.models import Batch, Disagreement, Job, PolicyVersion
from classifier.recording import Recorded
from classifier.tests.situations import claim, load_version, record, send_text
from reports.models import Report, Severity
from reports.tests.outcomes import resolve
from reports.tests.sending import Client


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


def disagreement_about(report: Report) -> Disagreement:
    return Disagreement.objects.get(report=report)
