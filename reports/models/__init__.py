"""What was reported, by whom, to whom: the rows that intake writes."""

from reports import any_of  # noqa: F401 - a lookup of every query
from reports.models.audit import AuditEntry
from reports.models.invalidation import InvalidatedReport, Invalidation
from reports.models.item import Item
from reports.models.report import (
    Content,
    ContentUnreadableError,
    JudgedSafeReport,
    PendingReport,
    Report,
)
from reports.models.reporter import ReporterIdentity, TrustedFlagger
from reports.models.returned import Return
from reports.models.sender import ApiKey, Sender
from reports.models.severity import Severity

__all__ = [
    "ApiKey",
    "AuditEntry",
    "Content",
    "ContentUnreadableError",
    "InvalidatedReport",
    "Invalidation",
    "Item",
    "JudgedSafeReport",
    "PendingReport",
    "Report",
    "ReporterIdentity",
    "Return",
    "Sender",
    "Severity",
    "TrustedFlagger",
]
