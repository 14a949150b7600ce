"""The admin of policy versions: made elsewhere, read here."""

from django.contrib import admin

from classifier.models import PolicyVersion
from reports.admin import EvidenceAdmin


@admin.register(PolicyVersion)
class PolicyVersionAdmin(EvidenceAdmin):
    list_display = ("number", "state", "title", "model", "safe_threshold", "activated_at")
    list_filter = ("state",)
    ordering = ("-number",)
