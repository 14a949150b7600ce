"""How tests give a report its verdict or decision: the rows that the database's triggers ask for.

Through related managers, because intake imports neither the classifier nor the reviewers.
"""

import uuid
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from conftest import check_constraints_now
from reports import lifecycle
from reports.models import Report, Severity


def verdict_of(report: Report, policy: Any, **changes: Any) -> Any:
    """A current classification row, nothing else."""
    values = {
        "policy_version": policy,
        "category": "spam",
        "confidence": 0.75,
        "summary": "An advertisement.",
        "quotes": ["lunch"],
        "severity": Severity.LOW,
        "safe": False,
        "served_model": policy.model,
        "model_seconds": 0.5,
        "answer_hash": "0" * 64,
        **changes,
    }
    return report.classifications.create(**values)


def judge(
    report: Report, policy: Any, *, safe: bool, severity: Severity = Severity.NONE, **changes: Any
) -> Any:
    """A verdict and what it makes of the report's status and place."""
    row = verdict_of(report, policy, safe=safe, severity=severity, **changes)
    lifecycle.apply_verdicts(
        reports=lifecycle.lock_many([report.pk]),
        verdicts={report.pk: lifecycle.NewVerdict(safe, severity)},
    )
    check_constraints_now()
    return row


def decision_on(
    report: Report,
    *,
    action: str = "remove",
    effective_at: datetime | None = None,
    **changes: Any,
) -> Any:
    """A person's decision about one report, nothing else."""
    reviewer = User.objects.create_user(f"reviewer-{uuid.uuid4().hex[:8]}")
    decision = report.item.decisions.create(
        reviewer=reviewer,
        effective_at=effective_at or timezone.now(),
        **{"category": "spam", "note": "n", "reason": "r", **changes},
        action_id=action,
    )
    report.decided.create(decision=decision, status_before=Report.objects.get(pk=report.pk).status)
    return decision


def resolve(report: Report, **changes: Any) -> Any:
    """A decision in effect, and the status and place that follow."""
    with transaction.atomic():
        decision = decision_on(report, **changes)
        lifecycle.lock_item(report.item_id)
        locked = lifecycle.lock_reports(report.item_id, [report.pk])
        lifecycle.apply_decision(
            item_id=report.item_id,
            reports=locked,
            reopen=False,
            upheld=decision.action.upholds,
        )
        check_constraints_now()
    return decision
