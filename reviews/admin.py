"""The admin of decisions: evidence, only read."""

from django.contrib import admin

from reports.admin import EvidenceAdmin
from reviews.models import Decision


@admin.register(Decision)
class DecisionAdmin(EvidenceAdmin):
    list_display = ("item", "action", "category", "reviewer", "created_at", "effective_at")
    list_filter = ("action",)
    list_select_related = ("item", "reviewer")
    ordering = ("-id",)
