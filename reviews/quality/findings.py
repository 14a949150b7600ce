"""What people found in a report, as a case of an evaluation set says it."""

from typing import Any

from django.db.models import Q
from django.db.models.functions import Now

from classifier.evaluation import Found
from reports.models import Report, Severity
from reviews.models import Decision


class NothingFoundError(Exception):
    """No decision about the report is in effect, or the newest one does not settle it."""


def found_in(report: Report) -> Found:
    """Of the newest decision about it that stands; raises `NothingFoundError` before it is in effect."""
    rows = Decision.objects.filter(pk__in=report.decided.values("decision")).standing()
    newest = rows.select_related("action", "policy_version").order_by("-pk")
    decision: Any = newest.annotate(in_effect=Q(effective_at__lte=Now())).first()
    if decision is None or not decision.in_effect or not decision.action.resolves:
        raise NothingFoundError
    if not decision.action.upholds:
        return Found("", Severity.NONE, None)
    version = decision.policy_version
    severity = version.category(decision.category)["severity"] if version else Severity.NONE
    return Found(decision.category, Severity(severity), version)
