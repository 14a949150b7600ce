"""The admin: senders and keys are configuration, everything else is evidence and only read.

Reports stand in two lists that cannot be confused: without a verdict, and judged safe by a machine.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.audit import write_audit
from reports.foreign_text import shorten, show_controls
from reports.models import (
    ApiKey,
    AuditEntry,
    ContentUnreadableError,
    Item,
    JudgedSafeReport,
    PendingReport,
    Report,
    Sender,
    Severity,
    TrustedFlagger,
)
from reports.models.report import FirstReportedText
from reports.senders import revoke_key
from reports.waiting import waiting_sentence

if TYPE_CHECKING:  # generic for the type checker only
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    AnyModelAdmin = admin.ModelAdmin


class ReadOnly:
    """Evidence: nobody adds, changes or deletes it here, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class EvidenceAdmin(ReadOnly, AnyModelAdmin):
    """A list that does not count a million rows and offers no action."""

    actions: Any = None
    show_full_result_count = False
    list_per_page = 50


class OverdueFilter(admin.SimpleListFilter):
    title = _("latency budget")
    parameter_name = "overdue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [("yes", _("overdue"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset.overdue() if self.value() == "yes" else queryset  # type: ignore[attr-defined]


class ReportAdmin(EvidenceAdmin):
    """What both report lists share: their order is the queue's and cannot be changed by a click."""

    list_display: Any = ("severity", "excerpt", "about", "sender", "reason")
    list_filter: ClassVar[Any] = ("sender", "reason", "rank")
    search_fields = ("=public_id", "=item__external_id")
    search_help_text = _("A report's id, or the id of its item at the sender.")
    sortable_by = ()
    list_select_related = ("item", "sender")
    readonly_fields = ("public_id", "sender", "about", "severity", "conversation", "machine")
    fields = (
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

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:  # noqa: ARG002
        return ("-rank", "received_at", "id")

    @admin.display(description=_("severity"))
    def severity(self, report: Report) -> SafeString:
        return format_html(
            '<span class="severity rank-{}">{}</span>', report.rank, Severity(report.rank).label
        )

    @admin.display(description=_("reported text"))
    def excerpt(self, report: Any) -> SafeString:
        return format_html(
            '<bdi dir="auto" class="foreign">{}</bdi>',
            shorten(report.excerpt or "", fetched=FirstReportedText.CHARACTERS),
        )

    @admin.display(description=_("item"))
    def about(self, report: Report) -> SafeString:
        return describe(report.item)

    @admin.display(description=_("what was reported"))
    def conversation(self, report: Report) -> str:
        try:
            submission = report.content.submission()
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
    list_filter = (OverdueFilter, "jobs__reason", "jobs__parked", *ReportAdmin.list_filter)

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


def describe(item: Item) -> SafeString:
    """Type and id, each isolated, its hidden characters shown."""
    return format_html(
        "<bdi>{}</bdi> <bdi>{}</bdi>", show_controls(item.type), show_controls(item.external_id)
    )


def person(request: HttpRequest) -> User:
    """Who is logged in; the admin lets nobody else in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


@admin.register(Item)
class ItemAdmin(EvidenceAdmin):
    list_display = ("about", "sender", "list", "rank", "since")
    fields = ("about", "sender", "list", "rank", "since", "resolved_at")
    readonly_fields = ("about",)
    list_filter = ("list", "sender", "rank")
    search_fields = ("=external_id",)
    list_select_related = ("sender",)
    sortable_by = ()
    ordering = ("-rank", "since", "id")

    @admin.display(description=_("item"))
    def about(self, item: Item) -> SafeString:
        return describe(item)


@admin.register(Sender)
class SenderAdmin(AnyModelAdmin):
    """Configuration. Keys are made by `manage.py issue_key`, which shows them once."""

    list_display = ("name", "is_active", "latency_budget", "likely_retries", "created_at")
    readonly_fields = ("likely_retries", "created_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Sender]:
        senders: QuerySet[Sender] = super().get_queryset(request)
        retries = Report.objects.filter(sender=OuterRef("pk"), likely_retry=True).order_by()
        count = retries.values("sender").annotate(count=Count("*")).values("count")
        return senders.annotate(retries=Coalesce(Subquery(count), 0))

    @admin.display(description=_("likely retries with a fresh key"))
    def likely_retries(self, sender: Any) -> int:
        return int(sender.retries)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:  # noqa: FBT001
        super().save_model(request, obj, form, change)
        write_audit(
            action="sender_changed" if change else "sender_created",
            of=obj,
            actor=person(request),
            detail={"fields": form.changed_data},
        )


@admin.register(ApiKey)
class ApiKeyAdmin(EvidenceAdmin):
    list_display = ("__str__", "sender", "created_at", "revoked_at")
    list_filter = ("sender",)
    list_select_related = ("sender",)
    fields = ("sender", "prefix", "created_at", "revoked_at")
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("reports.change_apikey")

    @admin.action(description=_("Revoke the chosen keys"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        revoked = sum(revoke_key(api_key=key, actor=person(request)) for key in queryset)
        self.message_user(request, _("Revoked: %(count)d.") % {"count": revoked})


@admin.register(TrustedFlagger)
class TrustedFlaggerAdmin(EvidenceAdmin):
    """Made and ended by `manage.py trust_reporter`."""

    list_display = ("name", "sender", "reasons", "trusted_at", "ended_at")
    list_filter = ("sender",)
    list_select_related = ("sender",)
    ordering = ("-trusted_at",)


@admin.register(AuditEntry)
class AuditEntryAdmin(EvidenceAdmin):
    list_display = ("at", "actor_name", "action", "object_type", "object_id", "detail")
    list_filter = ("action", "object_type")
    search_fields = ("=object_id", "=actor_name")
    ordering = ("-id",)
    sortable_by = ()
