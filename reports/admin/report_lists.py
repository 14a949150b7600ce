"""Reports in the admin: all, those without a verdict, those judged safe by a machine.

The last two have lists of their own, because they must not be confused.
"""

from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import EvidenceAdmin, describe, severity_word
from reports.admin.filters import ALL, SenderFilter, StandingFilter
from reports.foreign_text import shorten, show_controls
from reports.models import (
    Content,
    ContentUnreadableError,
    Item,
    JudgedSafeReport,
    PendingReport,
    Report,
)
from reports.models.report import FirstReportedText
from reports.waiting import waiting_sentence


class OverdueFilter(admin.SimpleListFilter):
    title = _("latency budget")
    parameter_name = "overdue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [("yes", _("overdue"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset.overdue() if self.value() == "yes" else queryset  # type: ignore[attr-defined]


class WaitsFilter(admin.SimpleListFilter):
    """By a job's named reason. A job, not the newest: `in` keeps one line for each report."""

    title = _("why it waits")
    parameter_name = "waits"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        job: Any = Report._meta.get_field("jobs").related_model
        return [*job.Reason.choices, ("parked", _("parked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        chosen = self.value()
        if not chosen:
            return queryset
        wanted = {"jobs__parked": True} if chosen == "parked" else {"jobs__reason": chosen}
        return queryset.filter(pk__in=Report.objects.filter(**wanted).values("pk"))


class ReportAdmin(EvidenceAdmin):
    """What the report lists share: their order is the queue's and cannot be changed by a click."""

    list_display: Any = ("severity", "excerpt", "about", "sender", "reason")
    list_filter: ClassVar[Any] = (SenderFilter, "reason", "rank")
    search_fields = ("public_id", "item__external_id")
    search_help_text = _("A report's id, or the id of its item at the sender.")
    sortable_by = ()
    list_select_related = ("item", "sender")
    readonly_fields = ("public_id", "sender", "about", "severity", "conversation", "machine")
    fields: ClassVar[Any] = (
        "public_id",
        "sender",
        "about",
        "severity",
        "reason",
        "language",
        "likely_retry",
        "received_at",
        "due_at",
        "conversation",
        "machine",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        chosen: QuerySet[Report] = super().get_queryset(request)
        return chosen.with_outcome().with_excerpt().in_list_order()  # type: ignore[attr-defined,no-any-return]

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        try:
            return rows.filter(public_id=UUID(term))
        except ValueError:
            return rows.filter(item__in=Item.objects.filter(external_id=term))

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:  # noqa: ARG002
        return ("-rank", "received_at", "id")

    @admin.display(description=_("severity"))
    def severity(self, report: Report) -> SafeString:
        return severity_word(report.rank)

    @admin.display(description=_("reported text"))
    def excerpt(self, report: Any) -> SafeString:
        return format_html(
            '<bdi dir="auto" class="foreign">{}</bdi>',
            show_controls(shorten(report.excerpt or "", fetched=FirstReportedText.CHARACTERS)),
        )

    @admin.display(description=_("item"))
    def about(self, report: Report) -> SafeString:
        return describe(report.item)

    @admin.display(description=_("what was reported"))
    def conversation(self, report: Report) -> str:
        try:
            submission = report.content.submission()
        except Content.DoesNotExist:
            return str(_("Its text was purged."))
        except ContentUnreadableError:
            return str(_("The content of this report cannot be read."))
        return render_to_string("admin/reports/conversation.html", {"submission": submission})

    @admin.display(description=_("what the machine answered"))
    def machine(self, report: Report) -> str:
        return render_to_string(
            "admin/reports/machine.html",
            {
                "report": report,
                "jobs": report.jobs.all(),
                "floor_rules": report.floor_rules,
                "waiting": waiting_sentence(report),
            },
        )


@admin.register(PendingReport)
class PendingReportAdmin(ReportAdmin):
    """Without a verdict: why, since when, and whether the sender's budget has run out."""

    list_display = (*ReportAdmin.list_display, "waits_because", "attempts", "received_at", "due")
    list_filter = (OverdueFilter, WaitsFilter, *ReportAdmin.list_filter)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).pending()  # type: ignore[attr-defined,no-any-return]

    @admin.display(description=_("why it waits"))
    def waits_because(self, report: Report) -> str:
        return waiting_sentence(report)

    @admin.display(description=_("attempts"))
    def attempts(self, report: Report) -> Any:
        job = report.newest_job()
        if job is None:
            return 0
        if job.parked:
            return format_html('{} <strong class="parked">{}</strong>', job.attempts, _("parked"))
        return job.attempts

    @admin.display(description=_("due"))
    def due(self, report: Report) -> Any:
        if report.is_overdue():
            return format_html('<strong class="overdue">{}</strong>', _("overdue"))
        return report.due_at


@admin.register(JudgedSafeReport)
class JudgedSafeReportAdmin(ReportAdmin):
    """Judged safe by a machine: under which version and how sure it was."""

    list_display = (*ReportAdmin.list_display, "confidence", "version", "received_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return super().get_queryset(request).judged_safe()  # type: ignore[attr-defined,no-any-return]

    @admin.display(description=_("confidence"))
    def confidence(self, report: Report) -> str:
        return f"{report.current_classification().confidence:.2f}"

    @admin.display(description=_("policy version"))
    def version(self, report: Report) -> Any:
        verdict = report.current_classification()
        if verdict.safe:
            return verdict.policy_version_id
        return format_html(
            '{} <strong class="overdue">{}</strong>',
            verdict.policy_version_id,
            _("finds a violation"),
        )


class StatusFilter(StandingFilter):
    title = _("status")
    parameter_name = "status"


@admin.register(Report)
class AllReportsAdmin(ReportAdmin):
    """Every report, the pending ones unless others are asked for."""

    list_display = (*ReportAdmin.list_display, "status", "received_at")
    list_filter = (StatusFilter, *ReportAdmin.list_filter)
    fields = ("status", *ReportAdmin.fields)

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        # Each order is an index's: that of the open lists has no resolved ones.
        if StatusFilter.chosen_by(request) in {ALL, Report.Status.RESOLVED}:
            return ("-id",)
        return super().get_ordering(request)
