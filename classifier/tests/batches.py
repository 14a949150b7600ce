"""Batches as rows, without a planner or a provider: what pages, commands and counts start from."""

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from classifier.models import (
    Batch,
    BatchFlow,
    Classification,
    Disagreement,
    Job,
    PolicyVersion,
    ProviderBatch,
    WaitingReason,
)
from classifier.tests.situations import make_many
from reports.models import Report, Severity
from reports.nudge import Lane


def make_batch(policy: PolicyVersion, **fields: Any) -> Batch:
    """A batch that has asked nothing yet, all of it planned; keyword arguments replace its fields."""
    batch = Batch.objects.create(
        **{
            "purpose": Batch.Purpose.POLICY_MIGRATION,
            "policy_version": policy,
            "state": Batch.State.RUNNING,
            "words": "all history",
            "last_report": 1_000,
            "planned_up_to": 1_000,
            "actor_name": "test",
            **fields,
        }
    )
    batch.refresh_from_db()
    return batch


def add_jobs(batch: Batch, count: int, *, sender_name: str = "history", **fields: Any) -> list[Job]:
    """So many jobs of the batch, about reports of their own; keyword arguments set their fields.

    The batch wants as many more. The reports are left as they came.
    """
    make_many(sender_name, count)
    reports = Report.objects.filter(sender__name=sender_name).order_by("id")
    jobs = Job.objects.bulk_create(
        Job(
            report=report,
            policy_version_id=batch.policy_version_id,
            lane=Lane.BATCH,
            batch=batch,
            **fields,
        )
        for report in reports
    )
    batch.wanted += count
    batch.save(update_fields=["wanted"])
    return jobs


def end_jobs(jobs: list[Job], *, reason: WaitingReason | None = None, ago: timedelta) -> None:
    """Done, or parked with a reason, so long ago."""
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(
        done=reason is None,
        parked=reason is not None,
        reason=reason or "",
        ended_at=Now() - ago,
    )


def add_flow(batch: Batch, before: str, after: str, reports: int) -> BatchFlow:
    return BatchFlow.objects.create(batch=batch, before=before, after=after, reports=reports)


def add_provider_batch(batch: Batch, state: str, lines: int, **fields: Any) -> ProviderBatch:
    """One file at the provider; `submitted_at` and the like by keyword."""
    if state == ProviderBatch.State.SUBMITTED:
        fields.setdefault("remote_id", f"batch_{ProviderBatch.objects.count()}")
    return ProviderBatch.objects.create(batch=batch, state=state, lines=lines, **fields)


def add_disagreement(batch: Batch, job: Job, *, state: str = "open") -> Disagreement:
    """The batch's verdict about the job's report is critical, where a machine had found it safe."""
    Report.objects.filter(pk=job.report_id).update(status=Report.Status.JUDGED_SAFE)
    verdict = Classification.objects.create(
        report_id=job.report_id,
        policy_version_id=batch.policy_version_id,
        category="credible_threat",
        confidence=0.9,
        summary="A threat.",
        quotes=[],
        severity=Severity.CRITICAL,
        safe=False,
        served_model="stand-in-not-a-model",
        model_seconds=0.1,
        answer_hash="0" * 64,
    )
    return Disagreement.objects.create(
        classification=verdict,
        report_id=job.report_id,
        batch=batch,
        severity=Severity.CRITICAL,
        unseen=True,
        state=state,
        ended_at=None if state == Disagreement.State.OPEN else Now(),
    )
