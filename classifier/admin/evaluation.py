"""Evaluation sets, which people name and describe here, and their cases, which are only read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from classifier.models import EvaluationCase, EvaluationSet
from reports.admin import EvidenceAdmin, describe
from reports.admin.evidence import AuditedSave, FastList
from reports.foreign_text import shorten, show_controls
from reports.models.report import FirstReportedText


@admin.register(EvaluationSet)
class EvaluationSetAdmin(AuditedSave, FastList):
    """A name stands in addresses and in commands: once given it stays."""

    audited_kind = "evaluation_set"
    list_display = ("name", "description", "created_at")
    fields = ("name", "description")
    actions: Any = None
    ordering = ("name",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("name",) if obj else ()


@admin.register(EvaluationCase)
class EvaluationCaseAdmin(EvidenceAdmin):
    """The desk adds them and takes them out."""

    list_display = ("excerpt", "set", "language", "category", "severity", "source", "added_at")
    fields = (
        "set",
        "about",
        "excerpt",
        "language",
        "safe",
        "category",
        "severity",
        "policy_version",
        "source",
        "added_by",
        "added_at",
        "purged_at",
    )
    readonly_fields = ("about", "excerpt")
    list_filter = ("source", "set")
    list_select_related = ("set",)
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationCase]:
        cases: QuerySet[EvaluationCase] = super().get_queryset(request)
        return cases.annotate(text=FirstReportedText("content")).defer("content")

    @admin.display(description=_("text"))
    def excerpt(self, case: Any) -> SafeString | str:
        if case.purged_at:
            return str(_("Its text was purged."))
        text = shorten(case.text or "", fetched=FirstReportedText.CHARACTERS)
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(text))

    @admin.display(description=_("item"))
    def about(self, case: EvaluationCase) -> SafeString:
        return describe(case.report.item)
