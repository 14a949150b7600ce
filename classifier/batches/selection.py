"""Which history a batch asks about: as data, in words, and as the one piece of SQL that means it."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from classifier.jobs import MAY_BE_ASKED
from classifier.models import Batch, PolicyVersion


@dataclass(frozen=True)
class Selection:
    """Reports that have been judged or decided; each field narrows them, all None means all.

    Received in [`since`, `until`), of the sender with this name, in a language, in a list, with this
    current category. `retry_of` is the id of the batch whose parked jobs are meant. `limit`: so many
    at most, the oldest first.
    """

    since: datetime | None = None
    until: datetime | None = None
    sender: str | None = None
    language: str | None = None
    status: str | None = None
    category: str | None = None
    retry_of: int | None = None
    limit: int | None = None

    def as_json(self) -> dict[str, Any]:
        """What narrows it, for the row of a batch."""
        chosen = {name: value for name, value in asdict(self).items() if value is not None}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in chosen.items()
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Selection":
        chosen = dict(data)
        for name in ("since", "until"):
            if name in chosen:
                chosen[name] = datetime.fromisoformat(chosen[name])
        return cls(**chosen)

    def words(self, purpose: Batch.Purpose) -> str:
        """One English sentence for logs, commands and the audit trail."""
        found = [_OF_PURPOSE[purpose]]
        if self.since:
            found.append(f"received from {self.since.isoformat()}")
        if self.until:
            found.append(f"received before {self.until.isoformat()}")
        found += [
            f"{name} {getattr(self, name)}"
            for name in ("sender", "language", "status", "category")
            if getattr(self, name)
        ]
        if self.retry_of:
            found.append(f"parked in batch {self.retry_of}")
        if self.limit:
            found.append(f"the oldest {self.limit} of them")
        return ", ".join(found)


KEYS = tuple(field.name for field in fields(Selection))

_OF_PURPOSE = {
    Batch.Purpose.POLICY_MIGRATION: "reports whose verdict is an older version's",
    Batch.Purpose.NIGHTLY: "reports whose verdict is an older version's",
    Batch.Purpose.BACKFILL: "reports that no model has judged",
    Batch.Purpose.RETRY: "reports that an earlier batch could not get judged",
}

_WANTED = {
    Batch.Purpose.POLICY_MIGRATION: "current.policy_version_id < %(version)s",
    Batch.Purpose.NIGHTLY: "current.policy_version_id < %(version)s",
    Batch.Purpose.BACKFILL: "current.id IS NULL",
    Batch.Purpose.RETRY: "job.batch_id = %(retry_of)s AND job.parked",
}

# A job of a batch is that batch's until it ended; what a cancelled one left is anybody's.
_FREE = """(job.id IS NULL OR NOT job.done
    AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
    AND (job.batch_id IS NULL OR job.parked AND job.reason = 'batch_cancelled'))"""

_NARROWED = {
    "since": "report.received_at >= %(since)s",
    "until": "report.received_at < %(until)s",
    "sender": "report.sender_id = (SELECT id FROM reports_sender WHERE name = %(sender)s)",
    "language": "report.language = %(language)s",
    "status": "report.status = %(status)s",
    "category": "current.category = %(category)s",
}


def history(
    *, purpose: Batch.Purpose, policy: PolicyVersion, selection: Selection, refused: bool = False
) -> tuple[str, dict[str, Any]]:
    """FROM and WHERE of the selected reports, with their parameters.

    The tables stand as `report`, `current` (its classification, if any) and `job` (under this
    version, if any). Pending reports are the live lane's, never of a batch. `refused`: instead those
    that are never asked again, because a model or a filter would not judge them.
    """
    conditions = [
        "report.status <> 'pending'",
        # What an invalidation closed is nobody's question any more.
        "NOT (report.invalidated_at IS NOT NULL AND report.status = 'resolved')",
        f"NOT {MAY_BE_ASKED}" if refused else MAY_BE_ASKED,
        _WANTED[purpose],
        *(condition for name, condition in _NARROWED.items() if getattr(selection, name)),
    ]
    if purpose != Batch.Purpose.RETRY:
        conditions.append(_FREE)
    return (
        "FROM reports_report AS report"
        " LEFT JOIN classifier_classification AS current"
        " ON current.report_id = report.id AND NOT current.superseded"
        " LEFT JOIN classifier_job AS job"
        " ON job.report_id = report.id AND job.policy_version_id = %(version)s"
        " WHERE " + " AND ".join(conditions),
        {**asdict(selection), "version": policy.number},
    )


def same_content(policy: PolicyVersion) -> list[int]:
    """Numbers of the older versions that say the same, so that their verdicts can be carried over."""
    older = PolicyVersion.objects.filter(
        content_hash=policy.content_hash, number__lt=policy.number
    ).exclude(content_hash="")
    return sorted(older.values_list("number", flat=True))
