"""The admin of decisions: evidence, only read."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin import EvidenceOfItems
from reports.foreign_text import show_controls
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
class DecisionAdmin(EvidenceOfItems):
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

    @admin.display(description=_("note for colleagues"))
    def their_note(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.note or ""))

    @admin.display(description=_("reason for the author"))
    def their_reason(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.reason or ""))
