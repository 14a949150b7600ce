"""History for batches: reports that an older version judged, and the version after it."""

from typing import Any

from classifier.batches.plan import plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import start_batch
from classifier.batches.write_jobs import write_jobs
from classifier.models import Batch, Job, PolicyVersion
from classifier.tests.situations import load_version, send_text
from reports.models import Report
from reports.tests.outcomes import judge
from reports.tests.sending import Client

EVERYTHING = Selection()


def judged(client: Client, policy: PolicyVersion, count: int, **changes: Any) -> list[Report]:
    """So many reports, judged safe under the version unless the changes say otherwise."""
    reports = [send_text(client, f"Text {number}") for number in range(count)]
    for report in reports:
        judge(report, policy, **{"safe": True, "category": "none", **changes})
    return [Report.objects.get(pk=report.pk) for report in reports]


def next_version() -> PolicyVersion:
    """A newer version, active."""
    number = PolicyVersion.objects.count() + 1
    return load_version(prompt=f"Say what the reported content is, the {number}th way.")


def start(policy: PolicyVersion, selection: Selection = EVERYTHING, **further: Any) -> Batch:
    """A batch started, its jobs not written yet."""
    purpose = further.pop("purpose", Batch.Purpose.POLICY_MIGRATION)
    plan = plan_batch(purpose=purpose, policy=policy, selection=selection)
    return start_batch(
        purpose=purpose,
        policy=policy,
        selection=selection,
        plan=plan,
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
