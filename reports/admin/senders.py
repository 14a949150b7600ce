"""Senders, their keys, and the reporters whose word has weight with them."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from reports.admin.evidence import AuditedSave, EvidenceAdmin, FastList, person
from reports.admin.filters import SenderFilter
from reports.counting import COUNTED_AT_MOST, bounded
from reports.foreign_text import show_controls
from reports.models import ApiKey, Sender, TrustedFlagger
from reports.senders import issue_key, revoke_key

ISSUE = "reports.add_apikey"

_RETRIES = f"""(SELECT count(*) FROM (
    SELECT FROM reports_report WHERE sender_id = reports_sender.id AND likely_retry
    LIMIT {COUNTED_AT_MOST + 1}) AS found)"""  # noqa: S608 - our own constant


@admin.register(Sender)
class SenderAdmin(AuditedSave, FastList):
    """Configuration. A key is issued on a page of its own, which shows it once."""

    audited_kind = "sender"
    list_display = (
        "name",
        "is_active",
        "latency_budget",
        "keys",
        "likely_retries",
        "created_at",
        "pages",
    )
    readonly_fields = ("keys", "likely_retries", "created_at", "pages")
    list_filter = ("is_active",)
    search_fields = ("name",)
    search_help_text = _("A sender's whole name.")
    actions: Any = None
    ordering = ("name",)
    change_form_template = "admin/reports/sender/change_form.html"

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(name=term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Sender]:
        senders: QuerySet[Sender] = super().get_queryset(request)
        valid = ApiKey.objects.filter(sender=OuterRef("pk"), revoked_at=None)
        in_use = valid.order_by().values("sender")
        return senders.annotate(
            retries=RawSQL(_RETRIES, []),  # noqa: S611 - our own constant
            keys_in_use=Coalesce(Subquery(in_use.annotate(count=Count("*")).values("count")), 0),
        )

    def get_urls(self) -> list[URLPattern]:
        issue = path(
            "<int:sender_id>/issue-key/",
            self.admin_site.admin_view(self.issue_key),
            name="reports_sender_issue_key",
        )
        return [issue, *super().get_urls()]

    # The answer holds a secret: no cache keeps it.
    @method_decorator(never_cache)
    def issue_key(self, request: HttpRequest, sender_id: int) -> HttpResponse:
        """Ask; on the form, make a key and show it this once."""
        if not request.user.has_perm(ISSUE):
            raise PermissionDenied
        sender = self.get_object(request, str(sender_id))
        if sender is None:
            raise Http404
        made = issue_key(sender=sender, actor=person(request)) if request.method == "POST" else None
        return TemplateResponse(
            request,
            "admin/reports/sender/issue_key.html",
            {
                **self.admin_site.each_context(request),
                "opts": self.opts,
                "title": gettext("A key for %(sender)s") % {"sender": sender},
                "sender": sender,
                "key": made.key if made else None,
            },
        )

    @admin.display(description=_("keys in use"), ordering="keys_in_use")
    def keys(self, sender: Any) -> int:
        return int(sender.keys_in_use)

    @admin.display(description=_("likely retries with a fresh key"))
    def likely_retries(self, sender: Any) -> str:
        return bounded(sender.retries)

    @admin.display(description=_("what it sent"))
    def pages(self, sender: Sender) -> SafeString:
        return format_html_join(
            " · ",
            '<a href="{}?sender={}">{}</a>',
            (
                (reverse(f"admin:reports_{kind}_changelist"), sender.name, words)
                for kind, words in (
                    ("report", _("reports")),
                    ("item", _("items")),
                    ("apikey", _("API keys")),
                )
            ),
        )


@admin.register(ApiKey)
class ApiKeyAdmin(EvidenceAdmin):
    """Found by the part before the dot, which names a key and opens nothing."""

    list_display = ("__str__", "sender", "created_at", "revoked_at")
    list_filter = (SenderFilter, ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("sender",)
    search_fields = ("prefix",)
    search_help_text = _("The part of a key before the dot.")
    fields = ("sender", "prefix", "created_at", "revoked_at")
    ordering = ("-id",)
    actions = ("revoke",)

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        # Whoever pastes a whole key finds it by its name, and its secret is not looked at.
        return rows.filter(prefix=term.partition(".")[0])

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("reports.change_apikey")

    @admin.action(description=_("Revoke the chosen keys"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        revoked = sum(revoke_key(api_key=key, actor=person(request)) for key in queryset)
        self.message_user(request, _("Revoked: %(count)d.") % {"count": revoked})


@admin.register(TrustedFlagger)
class TrustedFlaggerAdmin(EvidenceAdmin):
    """Made and ended by `manage.py trust_reporter`."""

    list_display = ("their_name", "sender", "reasons", "trusted_at", "ended_at")
    fields = ("their_name", "sender", "pseudonym", "reasons", "trusted_at", "ended_at")
    readonly_fields = ("their_name",)
    list_filter = (SenderFilter, ("ended_at", admin.EmptyFieldListFilter))
    list_select_related = ("sender",)
    ordering = ("-trusted_at",)

    @admin.display(description=_("name"))
    def their_name(self, flagger: TrustedFlagger) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(flagger.name))
