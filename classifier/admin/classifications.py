"""The admin of verdicts: evidence, only read."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from classifier.admin import rules
from classifier.models import Classification, PolicyVersion
from classifier.rules import SENTENCES
from reports.admin import EvidenceAdmin, describe, severity_word
from reports.admin.filters import NAMED, NewestFilter
from reports.foreign_text import name_controls, show_controls
from reports.models import Report


class VersionFilter(admin.SimpleListFilter):
    title = _("policy version")
    parameter_name = "version"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        numbers = PolicyVersion.objects.order_by("-number").values_list("number", flat=True)
        return [(str(number), str(number)) for number in numbers[:NAMED]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        version = self.value() or ""
        return queryset.filter(policy_version=version) if version.isdecimal() else queryset


class CategoryFilter(admin.SimpleListFilter):
    """The categories that policies name: asking the verdicts for theirs would read them all."""

    title = _("category")
    parameter_name = "category"
    VERSIONS = 20

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        newest = PolicyVersion.objects.order_by("-number").values_list("categories", flat=True)
        ids = {each["id"] for categories in newest[: self.VERSIONS] for each in categories}
        return [(each, name_controls(each)) for each in sorted(ids)[:NAMED]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset.filter(category=self.value()) if self.value() else queryset


class CurrentFilter(admin.SimpleListFilter):
    title = _("standing")
    parameter_name = "current"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [("yes", _("current")), ("no", _("superseded"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        superseded = {"yes": False, "no": True}.get(self.value() or "")
        return queryset if superseded is None else queryset.filter(superseded=superseded)


@admin.register(Classification)
class ClassificationAdmin(EvidenceAdmin):
    list_display = (
        "found",
        "word",
        "confidence",
        "safe",
        "about",
        "version",
        "standing",
        "created_at",
    )
    fields = (
        "report_of_it",
        "about",
        "version",
        "standing",
        "found",
        "word",
        "confidence",
        "safe",
        "its_rules",
        "its_summary",
        "its_quotes",
        "its_model",
        "carried_from",
        "prompt_tokens",
        "completion_tokens",
        "model_seconds",
        "answer_hash",
        "created_at",
        "purged_at",
    )
    readonly_fields = (
        "report_of_it",
        "about",
        "version",
        "standing",
        "found",
        "word",
        "its_rules",
        "its_summary",
        "its_quotes",
        "its_model",
    )
    list_filter = (NewestFilter, CurrentFilter, VersionFilter, CategoryFilter, "safe", "severity")
    list_select_related = ("report__item",)
    search_fields = ("report__public_id",)
    search_help_text = _("A report's id.")
    ordering = ("-id",)
    sortable_by = ()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(rules.show_rules)
        return [path("rules/", view, name="classifier_classification_rules"), *super().get_urls()]

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return of_report(rows, term)

    @admin.display(description=_("category"))
    def found(self, verdict: Classification) -> SafeString:
        return format_html("<bdi>{}</bdi>", show_controls(verdict.category))

    @admin.display(description=_("severity"))
    def word(self, verdict: Classification) -> SafeString:
        return severity_word(verdict.severity)

    @admin.display(description=_("item"))
    def about(self, verdict: Classification) -> SafeString:
        return describe(verdict.report.item)

    @admin.display(description=_("report"))
    def report_of_it(self, verdict: Classification) -> SafeString:
        return link_to_report(verdict.report)

    @admin.display(description=_("policy version"))
    def version(self, verdict: Classification) -> int:
        return verdict.policy_version_id

    @admin.display(description=_("standing"))
    def standing(self, verdict: Classification) -> Any:
        return _("superseded") if verdict.superseded else _("current")

    @admin.display(description=_("rules that fired"))
    def its_rules(self, verdict: Classification) -> SafeString:
        return format_html_join(
            " ", "<bdi>{}</bdi>", ((SENTENCES.get(each, each),) for each in verdict.rules)
        )

    @admin.display(description=_("summary"))
    def its_summary(self, verdict: Classification) -> Any:
        if verdict.summary is None:
            return _("Its text was purged.")
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(verdict.summary))

    @admin.display(description=_("quotes"))
    def its_quotes(self, verdict: Classification) -> Any:
        if verdict.quotes is None:
            return _("Its text was purged.")
        return format_html_join(
            "",
            '<blockquote class="foreign" dir="auto">{}</blockquote>',
            ((show_controls(str(each)),) for each in verdict.quotes),
        )

    @admin.display(description=_("answered by"))
    def its_model(self, verdict: Classification) -> SafeString:
        return format_html('<bdi dir="ltr">{}</bdi>', show_controls(verdict.served_model))


def of_report(rows: QuerySet[Any], term: str) -> QuerySet[Any]:
    """Those about the report with this public id."""
    try:
        return rows.filter(report__public_id=UUID(term))
    except ValueError:
        return rows.none()


def link_to_report(report: Report) -> SafeString:
    return format_html(
        '<a href="{}"><bdi>{}</bdi></a>',
        reverse("admin:reports_report_change", args=[report.pk]),
        report.public_id,
    )
