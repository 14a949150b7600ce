"""The admin of policy versions and of models: made elsewhere, read here, a model's switches set here."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from classifier.capabilities import forget
from classifier.cooldown import ask_again_now
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from reports.admin import AnyModelAdmin, EvidenceAdmin, person
from reports.audit import write_audit


@admin.register(PolicyVersion)
class PolicyVersionAdmin(EvidenceAdmin):
    list_display = ("number", "state", "title", "model", "safe_threshold", "activated_at")
    list_filter = ("state",)
    ordering = ("-number",)


@admin.register(ProviderModel)
class ProviderModelAdmin(AnyModelAdmin):
    """How each model is asked, and whether it is being left alone; `worker-live` writes both."""

    list_display = ("name", "base_url", "mode", "rest", "rests_until", "probed_at")
    list_filter = ("mode", "rest_reason")
    search_fields = ("name",)
    fields = (
        "name",
        "base_url",
        "rest",
        "rests_since",
        "rests_until",
        "mode",
        "output_limit",
        "takes_temperature",
        "little_room",
        "probed_at",
        "thinks",
        "echoes_ref",
    )
    readonly_fields = tuple(name for name in fields if name not in {"thinks", "echoes_ref"})
    actions = ("ask_again", "probe_again")
    ordering = ("name", "base_url")

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

    @admin.action(description=_("End the rest: ask again now"), permissions=["change"])
    def ask_again(self, request: HttpRequest, queryset: QuerySet[ProviderModel]) -> None:
        ended = sum(ask_again_now(model=model, actor=person(request)) for model in queryset)
        self.message_user(request, _("Rests ended: %(count)d.") % {"count": ended})

    @admin.action(description=_("Probe again before the next question"), permissions=["change"])
    def probe_again(self, request: HttpRequest, queryset: QuerySet[ProviderModel]) -> None:
        for model in queryset:
            forget(model=model, actor=person(request))
        self.message_user(request, _("To be probed: %(count)d.") % {"count": len(queryset)})
