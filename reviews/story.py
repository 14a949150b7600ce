"""What happened to an item, told on its page from rows that are read along with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, OuterRef
from django.db.models.functions import Cast, JSONObject

from reports.models import AuditEntry, InvalidatedReport, Invalidation, Report, Return
from reviews.models import Decision
from reviews.quality.reopen import SENT_BACK

if TYPE_CHECKING:
    from reviews.item import ItemPage

SHOWN_OF_A_KIND = 20
"""So many of an item's sendings back, and of each report's invalidations, the newest."""


@dataclass(frozen=True)
class Event:
    """One line of the item's story. `kind` is received, classified, invalidated, revoked, returned,
    sent back or decided.
    """

    at: datetime
    kind: str
    report: Report | None = None
    classification: Any = None
    decision: Decision | None = None
    returned: Return | None = None
    invalidation: Invalidation | None = None
    sent_back: AuditEntry | None = None


def events_of(page: "ItemPage") -> Iterator[Event]:
    """In no order."""
    invalidations: dict[int, Invalidation] = {}
    for each in page.shown:
        yield Event(each.report.received_at, "received", report=each.report)
        for verdict in each.report.classifications.all():
            yield Event(
                verdict.created_at, "classified", report=each.report, classification=verdict
            )
        invalidations |= {found.pk: found for found in each.invalidations}
    for found in invalidations.values():
        yield Event(found.made_at, "invalidated", invalidation=found)
        if found.revoked_at:
            yield Event(found.revoked_at, "revoked", invalidation=found)
    for returned in page.returns:
        yield Event(returned.returned_at, "returned", returned=returned)
    for row in page.sent_back:
        yield Event(row.at, "sent back", sent_back=row)
    for decision in page.decisions:
        yield Event(decision.created_at, "decided", decision=decision)


def sendings_back() -> ArraySubquery:
    """For a statement over items: what `read_sendings_back` takes."""
    of_item = {"object_type": "item", "object_id": Cast(OuterRef("pk"), CharField())}
    rows = AuditEntry.objects.filter(**of_item, action=SENT_BACK).order_by("-pk")
    told = JSONObject(at="at", actor_name="actor_name", detail="detail")
    return ArraySubquery(rows.values(told=told)[:SHOWN_OF_A_KIND])


def read_sendings_back(rows: Sequence[dict[str, Any]]) -> list[AuditEntry]:
    """Who sent reports of the item back, for they are like something that was missed."""
    return [AuditEntry(**{**row, "at": datetime.fromisoformat(row["at"])}) for row in rows]


def invalidations() -> ArraySubquery:
    """For a statement over reports: what `read_invalidations` takes."""
    names = ("actor_name", "reason", "made_at", "revoked_at")
    told = {"id": "invalidation", **{name: f"invalidation__{name}" for name in names}}
    rows = InvalidatedReport.objects.filter(report=OuterRef("pk")).order_by("-pk")
    return ArraySubquery(rows.values(told=JSONObject(**told))[:SHOWN_OF_A_KIND])


def read_invalidations(rows: Sequence[dict[str, Any]]) -> list[Invalidation]:
    """Those that named the report, revoked ones included."""
    return [
        Invalidation(
            **{
                **row,
                "made_at": datetime.fromisoformat(row["made_at"]),
                "revoked_at": row["revoked_at"] and datetime.fromisoformat(row["revoked_at"]),
            }
        )
        for row in rows
    ]
