"""The admin of decisions: evidence, only read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin import EvidenceAdmin, describe
from reports.foreign_text import show_controls
from reports.models import Item
from reviews import (
    accounts_admin,
    action_admin,
    batch_admin,
    desk_admin,
    double_review_admin,
    quality_admin,
)
from reviews.models import Decision

__all__ = [
    "DecisionAdmin",
    "accounts_admin",
    "action_admin",
    "batch_admin",
    "desk_admin",
    "double_review_admin",
    "quality_admin",
]


@admin.register(Decision)
class DecisionAdmin(EvidenceAdmin):
    list_display = (
        "about",
        "kind",
        "action",
        "category",
        "severity",
        "reviewer",
        "created_at",
        "effective_at",
    )
    fields = (
        "about",
        "kind",
        "action",
        "category",
        "policy_version",
        "severity",
        "reviewer",
        "their_note",
        "their_reason",
        "overrides",
        "approves",
        "created_at",
        "effective_at",
    )
    readonly_fields = ("about", "their_note", "their_reason")
    list_filter = ("kind", "action", "severity")
    list_select_related = ("item", "reviewer", "action")
    search_fields = ("item__external_id",)
    search_help_text = _("An item's id at the sender.")
    ordering = ("-id",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(item__in=Item.objects.filter(external_id=term))

    @admin.display(description=_("item"))
    def about(self, decision: Decision) -> SafeString:
        return describe(decision.item)

    @admin.display(description=_("note for colleagues"))
    def their_note(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.note or ""))

    @admin.display(description=_("reason for the author"))
    def their_reason(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.reason or ""))
