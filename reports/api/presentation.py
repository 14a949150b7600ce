"""What a sender reads of its report: no reviewer's name, only decisions in effect."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from pydantic import BaseModel, Field

from reports.lifecycle import status_without_decision
from reports.models import Report
from reports.waiting import Waiting, waiting_reason


class ClassificationOut(BaseModel):
    policy_version: int
    category: str
    confidence: float
    summary: str | None = Field(description="Null after the personal text was purged.")
    classified_at: datetime


class DecisionOut(BaseModel):
    action: str = Field(
        description="The id of one of the installation's actions, such as `remove`."
    )
    category: str | None = Field(description="Null where the action names no violation.")
    effective_at: datetime


class ReportOut(BaseModel):
    """One report as it is now."""

    id: UUID
    status: str = Field(
        json_schema_extra={"enum": list(Report.Status.values)},
        description="Until a person's decision is in effect, a few seconds after it was taken, the "
        "status from before it.",
    )
    received_at: datetime
    due_at: datetime = Field(description="Received plus your latency budget.")
    overdue: bool
    pending_reason: str | None = Field(
        description="Why there is no verdict yet; null unless the status is pending."
    )
    classification: ClassificationOut | None = Field(description="The current verdict.")
    decision: DecisionOut | None = Field(
        description="The latest decision in effect; null unless the status is resolved. Not one that "
        "can still be taken back, nor one that waits for a second person. Null as well where a report "
        "was resolved without one, because its reporter acted in bad faith."
    )


class ReportsPageOut(BaseModel):
    """A page of reports, oldest first."""

    next: str | None = Field(description="The address of the following page.")
    previous: str | None = Field(description="The address of the page before.")
    results: list[ReportOut]


def status_in_effect(report: Report, *, now: datetime) -> str:
    """The report's status; until its newest decision is in effect, the one from before it."""
    return _in_effect(report, now=now)[0]


def _in_effect(report: Report, *, now: datetime) -> tuple[str, Any]:
    """The status that its sender sees, and the newest row of a decision that took effect, or None.

    What a later row overrode before its time never does. A proposal takes nothing back by itself:
    what is resolved stays so for its sender until a decision says otherwise.
    """
    rows = sorted(report.decisions_that_stand(), key=lambda row: -row.decision_id)
    status, until, effective = report.status, now, None
    in_review = ""
    for row in rows:
        in_effect_from = row.decision.effective_at
        if in_effect_from and in_effect_from <= until:
            effective = row.decision
            break
        if in_effect_from is None:
            in_review = in_review or status
        status, until = row.status_before, min(until, row.decision.created_at)
    if in_review and status != Report.Status.RESOLVED:
        status = in_review
    current = report.current_classification()
    return status_without_decision(status, safe=current.safe if current else None), effective


def present_report(report: Report, *, now: datetime | None = None) -> dict[str, Any]:
    """JSON-ready; the report comes from `ReportQuerySet.with_decisions`."""
    now = now or timezone.now()
    current = report.current_classification()
    # On this copy alone; nobody writes it.
    report.status, decision = _in_effect(report, now=now)
    if report.status != Report.Status.RESOLVED:
        decision = None  # a report that went back to review has none in effect
    return _present(
        report,
        now=now,
        pending_reason=waiting_reason(report),
        classification=ClassificationOut(
            policy_version=current.policy_version_id,
            category=current.category,
            confidence=current.confidence,
            summary=current.summary,
            classified_at=current.created_at,
        )
        if current
        else None,
        decision=DecisionOut(
            action=decision.action_id,
            category=decision.category or None,
            effective_at=decision.effective_at,
        )
        if decision
        else None,
    )


def present_new_report(report: Report) -> dict[str, Any]:
    """The same for one that was stored just now: there is nothing to look up yet."""
    return _present(report, now=timezone.now(), pending_reason=Waiting.WAITING_FOR_WORKER)


def _present(
    report: Report,
    *,
    now: datetime,
    pending_reason: str | None,
    classification: ClassificationOut | None = None,
    decision: DecisionOut | None = None,
) -> dict[str, Any]:
    return ReportOut(
        id=report.public_id,
        status=report.status,
        received_at=report.received_at,
        due_at=report.due_at,
        overdue=report.is_overdue(at=now),
        pending_reason=pending_reason,
        classification=classification,
        decision=decision,
    ).model_dump(mode="json")
