"""The admin of disagreements: evidence, only read."""

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from classifier.models import Disagreement
from reports.admin import EvidenceAdmin, describe


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
    list_filter = ("state", "severity", "unseen", ("batch", admin.RelatedOnlyFieldListFilter))
    list_select_related = ("report__item", "classification", "batch")
    sortable_by = ()
    ordering = ("-severity", "-unseen", "classification")

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
