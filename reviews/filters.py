"""What the address narrows a list to."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from classifier.models import Classification, Job
from reports.models import Item, Report

PARKED = "parked"  # as a filter: whatever waits for a person, for whichever reason


@dataclass(frozen=True)
class Filters:
    """What the address narrows a list to; blank means any."""

    sender: str = ""
    category: str = ""
    language: str = ""
    reason: str = ""
    waiting: str = ""


def narrowed(items: QuerySet[Item], name: Item.List, filters: Filters) -> QuerySet[Item]:
    """Each filter asks whether any of the item's reports matches; so no join doubles a card."""
    if filters.sender:
        items = items.filter(sender__name=filters.sender)
    if filters.language:
        tag = Q(language=filters.language) | Q(language__startswith=f"{filters.language}-")
        items = items.filter(_any_report(tag))
    if filters.reason:
        items = items.filter(_any_report(Q(reason=filters.reason)))
    if filters.category:
        current = Classification.objects.filter(
            report__item=OuterRef("pk"), superseded=False, category=filters.category
        )
        items = items.filter(Exists(current))
    if filters.waiting and name == Item.List.PENDING:
        waiting = Job.objects.filter(report__item=OuterRef("pk"), report__status="pending")
        wanted = Q(parked=True) if filters.waiting == PARKED else Q(reason=filters.waiting)
        items = items.filter(Exists(waiting.filter(wanted)))
    return items


def _any_report(condition: Q) -> Exists:
    return Exists(Report.objects.filter(condition, item=OuterRef("pk")))
