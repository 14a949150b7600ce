"""What came back and what was invalidated: evidence, only read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import EvidenceAdmin, describe
from reports.admin.filters import SenderFilter
from reports.foreign_text import show_controls
from reports.models import Invalidation, Item, Return


@admin.register(Return)
class ReturnAdmin(EvidenceAdmin):
    """Written by intake and by verdicts; a decision ends it."""

    list_display = (
        "about",
        "reporters",
        "fresh",
        "unreliable",
        "brigade",
        "returned_at",
        "ended_at",
    )
    fields = (*list_display, "report", "since")
    readonly_fields = ("about", "brigade")
    list_filter = (("ended_at", admin.EmptyFieldListFilter),)
    list_select_related = ("item",)
    search_fields = ("item__external_id",)
    search_help_text = _("An item's id at the sender.")
    ordering = ("-id",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(item__in=Item.objects.filter(external_id=term))

    @admin.display(description=_("item"))
    def about(self, returned: Return) -> SafeString:
        return describe(returned.item)

    @admin.display(description=_("looks like a brigade"), boolean=True)
    def brigade(self, returned: Return) -> bool:
        return returned.looks_like_a_brigade


@admin.register(Invalidation)
class InvalidationAdmin(EvidenceAdmin):
    """Made and revoked on the page of a reporter, and by `manage.py invalidate_reports`."""

    list_display = ("pseudonym", "sender", "why", "actor_name", "made_at", "revoked_at")
    fields = ("pseudonym", "sender", "scope", "why", "actor_name", "made_at", "revoked_at")
    readonly_fields = ("why",)
    list_filter = (SenderFilter, ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("sender",)
    search_fields = ("pseudonym",)
    search_help_text = _("A reporter's whole pseudonym.")
    ordering = ("-id",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(pseudonym=term)

    @admin.display(description=_("why"))
    def why(self, invalidation: Invalidation) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(invalidation.reason))
