"""The admin of disagreements: evidence, only read."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from classifier.models import Batch, Disagreement
from reports.admin import EvidenceAdmin, describe
from reports.admin.filters import ALL, NAMED, DefaultFilter


class BatchFilter(admin.SimpleListFilter):
    """The newest batches; asking the disagreements for theirs would read them all."""

    title = _("batch")
    parameter_name = "batch"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        numbers = Batch.objects.order_by("-pk").values_list("pk", flat=True)[:NAMED]
        return [(str(number), str(number)) for number in numbers]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        number = self.value() or ""
        return queryset.filter(batch=number) if number.isdecimal() else queryset


class StateFilter(DefaultFilter):
    title = _("state")
    parameter_name = "state"
    default = Disagreement.State.OPEN
    known = tuple(Disagreement.State.values)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [*Disagreement.State.choices, (ALL, _("all"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset if self.chosen == ALL else queryset.filter(state=self.chosen)


@admin.register(Disagreement)
class DisagreementAdmin(EvidenceAdmin):
    list_display = (
        "about",
        "severity",
        "found",
        "unseen",
        "state",
        "batch",
        "created_at",
        "ended_at",
    )
    fields = ("report", *list_display)
    readonly_fields = ("about", "found")
    list_filter = (StateFilter, "severity", "unseen", BatchFilter)
    list_select_related = ("report__item", "classification", "batch")
    sortable_by = ()

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        # Each order is an index's: that of the list has open ones only.
        if StateFilter.chosen_by(request) == Disagreement.State.OPEN:
            return ("-severity", "-unseen", "classification")
        return ("-classification",)

    @admin.display(description=_("item"))
    def about(self, disagreement: Disagreement) -> SafeString:
        return describe(disagreement.report.item)

    @admin.display(description=_("what was found"))
    def found(self, disagreement: Disagreement) -> SafeString:
        verdict = disagreement.classification
        return format_html(
            gettext("<bdi>{category}</bdi> under policy version {version}"),
            category=verdict.category,
            version=verdict.policy_version_id,
        )
