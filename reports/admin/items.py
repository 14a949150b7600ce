"""Items in the admin: one line for each reported thing, the pending ones unless others are asked for."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import EvidenceAdmin, describe, severity_word
from reports.admin.filters import ABOUT, ALL, SenderFilter, StandingFilter
from reports.models import Item


class ListFilter(StandingFilter):
    title = _("list")
    parameter_name = "list"


@admin.register(Item)
class ItemAdmin(EvidenceAdmin):
    list_display = ("about", "sender", "list", "severity", "since", "due", "resolved_at", "reports")
    fields = ("about", "sender", "list", "severity", "since", "due", "resolved_at", "reports")
    readonly_fields = ("about", "severity", "due", "reports")
    list_filter = (ListFilter, SenderFilter, "rank")
    search_fields = ("external_id",)
    search_help_text = _(
        "An item's id at the sender, as it was sent. It is looked for in all lists."
    )
    list_select_related = ("sender",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(external_id=term)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        # Each order is an index's: of one list, of the resolved ones, of all.
        chosen = ListFilter.chosen_by(request)
        if chosen == Item.List.RESOLVED:
            return ("-resolved_at", "-id")
        return ("-id",) if chosen == ALL else ("-rank", "since", "id")

    @admin.display(description=_("item"))
    def about(self, item: Item) -> SafeString:
        return describe(item)

    @admin.display(description=_("severity"))
    def severity(self, item: Item) -> SafeString:
        return severity_word(item.rank)

    @admin.display(description=_("due"))
    def due(self, item: Item) -> Any:
        if item.is_overdue():
            return format_html('<strong class="overdue">{}</strong>', _("overdue"))
        return item.due_at

    @admin.display(description=_("reports"))
    def reports(self, item: Item) -> SafeString:
        return format_html(
            '<a href="{}?{}={}">{}</a>',
            reverse("admin:reports_report_changelist"),
            ABOUT,
            item.pk,
            _("its reports"),
        )
