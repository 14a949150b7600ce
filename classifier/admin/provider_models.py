"""The admin of models: the catalogue is read here, and a model's switches are set."""

from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Model, OuterRef, QuerySet
from django.db.models.functions import JSONObject
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.timesince import timesince
from django.utils.translation import gettext_lazy as _

from classifier.capabilities import forget
from classifier.catalogue import (
    SHUTDOWN_NOTICE,
    effective_limit,
    is_expired,
    is_stale,
    is_unlisted,
    sync_model,
)
from classifier.cooldown import ask_again_now
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from reports.admin import person
from reports.admin.evidence import FastList
from reports.audit import write_audit


@admin.register(ProviderModel)
class ProviderModelAdmin(FastList):
    """The catalogue: how much each model takes, how it is asked, whether it is being left alone.

    `sync_models` and `record_limit` write the first, `worker-live` the rest.
    """

    list_display = (
        "name",
        "base_url",
        "used_by",
        "limit",
        "source",
        "list_age",
        "shutdown",
        "mode",
        "rest",
        "rests_until",
    )
    list_filter = ("mode", "rest_reason")
    search_fields = ("name",)
    search_help_text = _("A model's whole name.")
    fields = (
        "name",
        "base_url",
        "used_by",
        "limit",
        "source",
        "list_age",
        "record",
        "shutdown",
        "rest",
        "rests_since",
        "rests_until",
        "mode",
        "output_limit",
        "takes_temperature",
        "probed_at",
        "tokenizer",
        "token_ratios",
        "frame_tokens",
        "thinks",
        "echoes_ref",
    )
    readonly_fields = tuple(name for name in fields if name not in {"thinks", "echoes_ref"})
    actions = ("read_list_now", "ask_again", "probe_again")
    ordering = ("name", "base_url")

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(name=term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProviderModel]:
        rows: QuerySet[ProviderModel] = super().get_queryset(request)
        # With the rows, because a query for each would grow with the catalogue.
        versions = PolicyVersion.objects.filter(model=OuterRef("name")).order_by("number")
        facts = versions.values(facts=JSONObject(number="number", state="state"))
        return rows.annotate(versions=ArraySubquery(facts))

    @admin.display(description=_("used by"))
    def used_by(self, model: Any) -> Any:
        if model.base_url != settings.OPENAI_BASE_URL:
            return _("no version: another provider is configured")
        return format_html_join(
            ", ",
            "{} ({})",
            ((each["number"], PolicyVersion.State(each["state"]).label) for each in model.versions),
        )

    @admin.display(description=_("limit in tokens"))
    def limit(self, model: ProviderModel) -> Any:
        found = effective_limit(model, today=timezone.localdate())
        if found is None:
            return format_html(
                '<strong class="parked">{}</strong> {}',
                WaitingReason.UNKNOWN_LIMIT.label,
                WaitingReason.UNKNOWN_LIMIT.for_operations,
            )
        what = _("prompt and answer") if found.counts_answer else _("prompt alone")
        return format_html("<bdi>{}</bdi> {}", found.tokens, what)

    @admin.display(description=_("source of the limit"))
    def source(self, model: ProviderModel) -> str:
        found = effective_limit(model, today=timezone.localdate())
        return found.source if found else ""

    @admin.display(description=_("list read"))
    def list_age(self, model: ProviderModel) -> Any:
        if model.listed_at is None:
            return format_html('<strong class="overdue">{}</strong>', _("never"))
        now = timezone.now()
        marks = [
            text
            for holds, text in (
                (is_stale(model, now), _("stale")),
                (is_unlisted(model), _("not in the list")),
            )
            if holds
        ]
        return format_html(
            "{} {}",
            _("%(time)s ago") % {"time": timesince(model.listed_at, now)},
            format_html_join(" ", '<strong class="overdue">{}</strong>', ((m,) for m in marks)),
        )

    @admin.display(description=_("recorded limit"))
    def record(self, model: ProviderModel) -> Any:
        if model.recorded_limit is None:
            return None
        over = is_expired(model, today=timezone.localdate())
        return format_html(
            '<bdi>{}</bdi> <a href="{}" rel="noopener noreferrer"><bdi dir="ltr">{}</bdi></a> {} {}',
            model.recorded_limit,
            model.recorded_evidence,
            model.recorded_evidence,
            _("until %(day)s") % {"day": model.recorded_until},
            _warning(_("expired"), holds=True) if over else "",
        )

    @admin.display(description=_("shut down on"))
    def shutdown(self, model: ProviderModel) -> Any:
        if model.shutdown_on is None:
            return None
        left = model.shutdown_on - timezone.localdate()
        days = _("days left: %(days)d") if left.days >= 0 else _("days since: %(days)d")
        return format_html(
            "<bdi>{}</bdi> {}",
            model.shutdown_on,
            _warning(days % {"days": abs(left.days)}, holds=left <= SHUTDOWN_NOTICE),
        )

    @admin.display(description=_("why it rests"))
    def rest(self, model: ProviderModel) -> Any:
        if not model.rest_reason:
            return _("asked freely")
        return format_html(
            '<strong class="parked">{}</strong> {}',
            model.get_rest_reason_display(),
            WaitingReason(model.rest_reason).for_operations,
        )

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:  # noqa: ARG002, FBT001
        # The workers write the other fields meanwhile.
        if form.changed_data:
            obj.save(update_fields=form.changed_data)
            write_audit(
                action="model_changed",
                of=obj,
                actor=person(request),
                detail={name: form.cleaned_data[name] for name in form.changed_data},
            )

    @admin.action(description=_("Read the provider's list now"), permissions=["change"])
    def read_list_now(self, request: HttpRequest, queryset: QuerySet[ProviderModel]) -> None:
        # No transaction is open here: the admin opens one for its forms only.
        here = [model for model in queryset if model.base_url == settings.OPENAI_BASE_URL]
        read = [sync_model(model, actor=person(request)) for model in here]
        failures = [each.failure for each in read if each.failure]
        self.message_user(request, _("Read: %(count)d.") % {"count": len(here) - len(failures)})
        if failures:
            self.message_user(
                request,
                _("The list was not read: %(why)s") % {"why": failures[0]},
                messages.ERROR,
            )
        if elsewhere := len(queryset) - len(here):
            self.message_user(
                request,
                _("At another provider than the configured one: %(count)d.") % {"count": elsewhere},
                messages.WARNING,
            )

    @admin.action(description=_("End the rest: ask again now"), permissions=["change"])
    def ask_again(self, request: HttpRequest, queryset: QuerySet[ProviderModel]) -> None:
        ended = sum(ask_again_now(model=model, actor=person(request)) for model in queryset)
        self.message_user(request, _("Rests ended: %(count)d.") % {"count": ended})

    @admin.action(description=_("Probe again before the next question"), permissions=["change"])
    def probe_again(self, request: HttpRequest, queryset: QuerySet[ProviderModel]) -> None:
        for model in queryset:
            forget(model=model, actor=person(request))
        self.message_user(request, _("To be probed: %(count)d.") % {"count": len(queryset)})


def _warning(text: object, *, holds: bool) -> Any:
    """The text, marked where the warning holds."""
    return format_html('<strong class="overdue">{}</strong>', text) if holds else text
