"""Cards of reports from anywhere: each shows one report and stands for its item."""

from typing import Any

from django.db.models import Count, OuterRef, Subquery

from reports.models import Item, Report
from reports.models.report import ReportQuerySet
from reviews.in_hand import in_hand_of, returned_of, waiting_of, with_hands
from reviews.models import Decision
from reviews.queue import Card


def cards_of(reports: ReportQuerySet) -> list[Card]:
    """A card for each of these reports, in their order; one report an item, and not too many."""
    counted = Report.objects.filter(item=OuterRef("item")).order_by().values("item")
    rows: list[Any] = list(
        reports.with_outcome()
        .select_related("item__sender")
        .with_excerpt()
        .annotate(report_count=Subquery(counted.annotate(count=Count("*")).values("count")))
    )
    item_ids = [row.item_id for row in rows]
    decisions = Decision.objects.newest_of(item_ids)
    hands = with_hands(Item.objects.filter(pk__in=item_ids)).in_bulk()
    return [
        Card(
            row.item,
            row,
            row.report_count,
            decisions.get(row.item_id),
            in_hand_of(hands[row.item_id]),
            waiting_of(hands[row.item_id]),
            returned=returned_of(hands[row.item_id]),
        )
        for row in rows
    ]
