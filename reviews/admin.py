"""The admin of decisions: evidence, only read."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin import EvidenceAdmin, describe
from reports.foreign_text import show_controls
from reviews import accounts_admin, batch_admin, desk_admin
from reviews.models import Decision

__all__ = ["DecisionAdmin", "accounts_admin", "batch_admin", "desk_admin"]


@admin.register(Decision)
class DecisionAdmin(EvidenceAdmin):
    list_display = ("about", "action", "category", "reviewer", "created_at", "effective_at")
    fields = (
        "about",
        "action",
        "category",
        "reviewer",
        "their_note",
        "their_reason",
        "overrides",
        "created_at",
        "effective_at",
    )
    readonly_fields = ("about", "their_note", "their_reason")
    list_filter = ("action",)
    list_select_related = ("item", "reviewer", "action")
    ordering = ("-id",)

    @admin.display(description=_("item"))
    def about(self, decision: Decision) -> SafeString:
        return describe(decision.item)

    @admin.display(description=_("note for colleagues"))
    def their_note(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.note or ""))

    @admin.display(description=_("reason for the author"))
    def their_reason(self, decision: Decision) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(decision.reason or ""))
