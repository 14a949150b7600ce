"""The admin of sampling: how much is looked at again, which is the installation's, and what was drawn."""

import re
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Sum
from django.db.models.functions import Coalesce
from django.forms.models import model_to_dict
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from reports.admin import EvidenceAdmin, describe
from reports.admin.evidence import AuditedSave, FastList, person
from reports.audit import write_audit
from reports.foreign_text import show_controls
from reviews.models import BlindAudit, Draw, SamplingRate
from reviews.quality.strata import BANDS
from reviews.words import category_name, decided_sentence

SHOWN_AT_MOST = 500

# What each kind of rate may be narrowed by; of the others there is one row.
_NARROWED_BY = {
    SamplingRate.Of.AUDITS: {"sender", "language", "category", "band", "at_least"},
    SamplingRate.Of.DOUBLE_REVIEWS: {"sender", "language", "category"},
}


# As the strata have it: no region, except beside a script alone.
_LANGUAGE = re.compile(r"[a-z]{2,3}|und(-[a-z0-9]{1,8})+")


class RateForm(forms.ModelForm):  # type: ignore[type-arg]
    """Refuses what would match nothing that is drawn from."""

    rate = forms.FloatField(
        label=capfirst(_("share")), help_text=_("Between 0 and 1."), min_value=0, max_value=1
    )
    category = forms.ChoiceField(
        label=capfirst(_("category")),
        help_text=_(
            "Audits are of what a machine found no violation in. A decision of no violation has no"
            " category: only “any” covers it."
        ),
        required=False,
    )
    band = forms.ChoiceField(
        label=capfirst(_("confidence band")),
        choices=[("", _("any")), *((band, band) for band in BANDS)],
        required=False,
    )

    class Meta:
        model = SamplingRate
        fields = ("of", "sender", "language", "category", "band", "rate", "at_least")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        policy = PolicyVersion.objects.filter(state=PolicyVersion.State.ACTIVE).first()
        self.safe = {each["id"]: each["safe"] for each in policy.categories} if policy else {}
        known = [*self.safe, *({self.instance.category} - {"", *self.safe})]
        self.fields["category"].choices = [  # type: ignore[attr-defined]
            ("", _("any")),
            *((each, category_name(each, policy)) for each in known),
        ]

    def clean_language(self) -> str:
        language = str(self.cleaned_data["language"]).lower()
        if language and not _LANGUAGE.fullmatch(language):
            said = _("Two or three letters such as “ar”, without a region; or “und-Arab”.")
            raise forms.ValidationError(said)
        return language

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        may = _NARROWED_BY.get(cleaned.get("of", ""), set())
        for name in ("sender", "language", "category", "band", "at_least"):
            if name not in may and cleaned.get(name):
                self.add_error(name, _("A rate of this kind cannot be narrowed by it."))
        is_safe = self.safe.get(cleaned.get("category", ""))
        if cleaned.get("of") == SamplingRate.Of.AUDITS and is_safe is False:
            said = _("Nothing in this category is judged safe, so there is nothing to audit.")
            self.add_error("category", said)
        if cleaned.get("of") == SamplingRate.Of.DOUBLE_REVIEWS and is_safe:
            said = _("A decision of no violation has no category.")
            self.add_error("category", said)
        return cleaned


@admin.register(SamplingRate)
class SamplingRateAdmin(AuditedSave, FastList):
    """A narrower rate may go again, and then the broader one counts."""

    audited_kind = "rate"
    empty_value_display = _("any")
    form = RateForm
    list_display = ("of", "sender", "language", "category", "band", "rate", "at_least")
    list_filter = ("of",)
    list_select_related = ("sender",)
    ordering = ("of", "sender", "language", "category", "band")
    sortable_by = ()
    actions: Any = None

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return FastList.has_delete_permission(self, request, obj)

    def delete_model(self, request: HttpRequest, obj: SamplingRate) -> None:
        detail = model_to_dict(obj, exclude=["id"])
        write_audit(action="rate_deleted", of=obj, actor=person(request), detail=detail)
        super().delete_model(request, obj)


@admin.register(Draw)
class DrawAdmin(EvidenceAdmin):
    list_display = ("of", "since", "until", "population", "drawn", "who")
    fields = (*list_display, "drawn_at", "seed", "strata")
    readonly_fields = ("population", "drawn", "who", "strata")
    list_filter = ("of",)
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        draws = super().get_queryset(request)
        return draws.annotate(
            there=Coalesce(Sum("strata__population"), 0), taken=Coalesce(Sum("strata__drawn"), 0)
        )

    @admin.display(description=_("there were"))
    def population(self, draw: Any) -> int:
        return int(draw.there)

    @admin.display(description=_("samples"))
    def drawn(self, draw: Any) -> int:
        return int(draw.taken)

    @admin.display(description=_("who"))
    def who(self, draw: Draw) -> str:
        return show_controls(draw.actor_name)

    @admin.display(description=_("strata"))
    def strata(self, draw: Draw) -> SafeString:
        found = draw.strata.select_related("sender").order_by(
            "sender__name", "language", "category", "band", "policy_version"
        )
        rows = list(found[: SHOWN_AT_MOST + 1])
        return render_to_string(
            "admin/reviews/draw/strata.html",
            {
                "strata": rows[:SHOWN_AT_MOST],
                "more": found.count() - SHOWN_AT_MOST if len(rows) > SHOWN_AT_MOST else 0,
            },
        )


@admin.register(BlindAudit)
class BlindAuditAdmin(EvidenceAdmin):
    """Those that were answered: who reviews here as well is not to know the others."""

    list_display = ("about", "its_draw", "answer", "report")
    fields = ("about", "its_draw", "stratum", "classification", "report", "decision")
    readonly_fields = ("about", "its_draw")
    list_select_related = (
        "report__item",
        "stratum__draw",
        "decision__reviewer",
        "decision__action",
    )
    ordering = ("-id",)
    sortable_by = ()

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).exclude(decision=None)

    @admin.display(description=_("item"))
    def about(self, audit: BlindAudit) -> SafeString:
        return describe(audit.report.item)

    @admin.display(description=_("draw"))
    def its_draw(self, audit: BlindAudit) -> str:
        return str(audit.stratum.draw)

    @admin.display(description=_("answer"))
    def answer(self, audit: BlindAudit) -> str | None:
        return decided_sentence(audit.decision) if audit.decision else None
