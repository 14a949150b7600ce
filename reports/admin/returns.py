"""What came back and what was invalidated: evidence, only read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import EvidenceAdmin, EvidenceOfItems
from reports.admin.filters import EndedFilter, SenderFilter
from reports.foreign_text import show_controls
from reports.models import Invalidation, Report, Return


class OpenFilter(EndedFilter):
    ended = "ended_at"
    names = (_("nobody has decided since"), _("decided"))


class RevokedFilter(EndedFilter):
    ended = "revoked_at"
    names = (_("in force"), _("revoked"))


@admin.register(Return)
class ReturnAdmin(EvidenceOfItems):
    """Written by intake and by verdicts; a decision ends it."""

    list_display = ("about", "reporters", "brigade", "returned_at", "ended_at")
    fields = (
        "about",
        "reporters",
        "fresh",
        "unreliable",
        "brigade",
        "report",
        "since",
        "returned_at",
        "ended_at",
    )
    readonly_fields = ("about", "brigade")
    list_filter = (OpenFilter,)
    list_select_related = ("item",)

    @admin.display(description=_("looks like a brigade"))
    def brigade(self, returned: Return) -> str:
        # Not as a boolean: its tick is green.
        return str(_("yes")) if returned.looks_like_a_brigade else str(_("no"))


@admin.register(Invalidation)
class InvalidationAdmin(EvidenceAdmin):
    """Made and revoked on the page of a reporter, and by `manage.py invalidate_reports`."""

    list_display = ("pseudonym", "sender", "why", "made_at", "revoked_at")
    fields = (
        "pseudonym",
        "sender",
        "scope",
        "why",
        "actor_name",
        "made_at",
        "revoked_at",
        "named",
        "desk",
    )
    readonly_fields = ("why", "named", "desk")
    list_filter = (SenderFilter, RevokedFilter)
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

    @admin.display(description=_("reports"))
    def named(self, invalidation: Invalidation) -> int:
        return invalidation.reports.count()

    @admin.display(description=_("at the desk"))
    def desk(self, invalidation: Invalidation) -> SafeString | None:
        one = Report.objects.filter(invalidated__invalidation=invalidation).first()
        if one is None:
            return None
        address = reverse("review-reporter", args=[one.public_id])
        return format_html('<a href="{}">{}</a>', address, _("open"))
