"""History for the batch lane: reports that were judged, and a batch that asks them anew."""

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from classifier.batches.by_calls import claim_history
from classifier.batches.plan import plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import start_batch
from classifier.batches.write_jobs import write_jobs
from classifier.jobs import Claimed
from classifier.models import Batch, Job, PolicyVersion
from classifier.pipeline import Outcome, classify_report
from classifier.tests.situations import claim, load_version, record, send_text
from reports import lifecycle
from reports.models import Report
from reports.nudge import Lane
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


def load_next(prompt: str = "Judge anew.") -> PolicyVersion:
    """A newer version, active."""
    return load_version(prompt=prompt)


def resolve(report: Report) -> None:
    """A person has decided that nothing is wrong with it."""
    with transaction.atomic():
        locked = lifecycle.lock(report.pk)
        decision = apps.get_model("reviews", "Decision").objects.create(
            item=locked.item,
            reviewer=User.objects.create_user("dana"),
            action="no_violation",
            note="",
            reason="",
            effective_at=Now(),
        )
        decision.reports.add(locked)
        lifecycle.apply_decision(
            item_id=locked.item_id, reports=[locked], reopen=False, upheld=False
        )


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


def make_batch(policy: PolicyVersion, reports: Sequence[Report], **fields: Any) -> Batch:
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
