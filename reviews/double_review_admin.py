"""The admin of second reviews: evidence, only read."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin import EvidenceAdmin, describe
from reports.foreign_text import show_controls
from reviews.models import DoubleReview


@admin.register(DoubleReview)
class DoubleReviewAdmin(EvidenceAdmin):
    list_display = ("about", "reviewer", "action", "answered_at", "agrees", "side")
    fields = (
        "about",
        "decision",
        "reviewer",
        "action",
        "category",
        "severity",
        "their_note",
        "answered_at",
        "agrees",
        "settled_by",
        "side",
        "settling",
        "settled_at",
    )
    readonly_fields = ("about", "their_note")
    list_filter = ("agrees", "side")
    list_select_related = ("decision__item", "reviewer", "action")
    ordering = ("-id",)
    sortable_by = ()

    @admin.display(description=_("item"))
    def about(self, review: DoubleReview) -> SafeString:
        return describe(review.decision.item)

    @admin.display(description=_("note for colleagues"))
    def their_note(self, review: DoubleReview) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(review.note))
