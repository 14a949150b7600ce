"""The admin of what people have in hand and what waits by name; only read, the desk changes it."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin import EvidenceOfItems
from reports.admin.filters import ALL, DefaultFilter
from reports.foreign_text import show_controls
from reviews.models import Claim, Hold


class OpenFilter(DefaultFilter):
    """What is in force now, unless the past is asked for."""

    title = _("standing")
    parameter_name = "standing"
    default = "open"
    known = ("open",)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [("open", _("in force")), (ALL, _("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset if self.chosen == ALL else queryset.in_force()  # type: ignore[attr-defined]


class WithDesk(EvidenceOfItems):
    """With a link to the item at the desk."""

    @admin.display(description=_("at the desk"))
    def desk(self, row: Claim | Hold) -> SafeString:
        return format_html(
            '<a href="{}">{}</a>', reverse("review-item", args=[row.item_id]), _("open")
        )

    @admin.display(description=_("note for colleagues"))
    def their_note(self, row: Claim | Hold) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(row.note))


@admin.register(Claim)
class ClaimAdmin(WithDesk):
    list_display = ("about", "who", "by", "claimed_at", "expires_at", "released_at", "desk")
    fields = ("about", "who", "by", "their_note", "claimed_at", "expires_at", "released_at")
    readonly_fields = ("about", "who", "by", "their_note")
    list_filter = (OpenFilter,)
    list_select_related = ("item", "reviewer", "handed_by")

    @admin.display(description=_("reviewer"))
    def who(self, claim: Claim) -> SafeString:
        return _name(claim.reviewer)

    @admin.display(description=_("handed over by"))
    def by(self, claim: Claim) -> SafeString | None:
        return _name(claim.handed_by) if claim.handed_by else None


@admin.register(Hold)
class HoldAdmin(WithDesk):
    list_display = ("about", "kind", "who", "placed_at", "until", "ended_at", "desk")
    fields = ("about", "kind", "who", "their_note", "placed_at", "until", "ended_at")
    readonly_fields = ("about", "who", "their_note")
    list_filter = (OpenFilter, "kind")
    list_select_related = ("item", "placed_by")

    @admin.display(description=_("placed by"))
    def who(self, hold: Hold) -> SafeString:
        return _name(hold.placed_by)


def _name(user: Any) -> SafeString:
    return format_html('<bdi dir="auto">{}</bdi>', show_controls(user.get_username()))
