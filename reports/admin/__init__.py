"""The admin: senders and keys are configuration, everything else is evidence and only read.

A file for each thing that is shown; `evidence` and `filters` hold what all of them share.
"""

from reports.admin import audit_entries, items, report_lists, returns, senders
from reports.admin.evidence import (
    AnyModelAdmin,
    EvidenceAdmin,
    EvidenceOfItems,
    describe,
    person,
    severity_word,
)

__all__ = [
    "AnyModelAdmin",
    "EvidenceAdmin",
    "EvidenceOfItems",
    "audit_entries",
    "describe",
    "items",
    "person",
    "report_lists",
    "returns",
    "senders",
    "severity_word",
]
