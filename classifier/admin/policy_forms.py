"""The forms about policy versions: a draft's content, which two to compare, what activation starts."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.batches.plan import Plan
from classifier.models import PolicyVersion
from classifier.policies import PolicyContent
from classifier.policies.content import CATEGORY_ID, PolicyContentError, check_policy
from reports.models import Severity


def _foreign(**attributes: Any) -> forms.Textarea:
    return forms.Textarea(attrs={"class": "vLargeTextField", "dir": "auto", **attributes})


def _line(**attributes: Any) -> forms.TextInput:
    return forms.TextInput(attrs={"class": "vTextField", **attributes})


class CategoryForm(forms.Form):
    id = forms.RegexField(
        CATEGORY_ID,
        label=_("id"),
        help_text=_("Small letters and underscores."),
        widget=forms.TextInput(attrs={"dir": "ltr"}),
    )
    name = forms.CharField(label=_("name"), widget=forms.TextInput(attrs={"dir": "auto"}))
    severity = forms.ChoiceField(
        label=_("severity"),
        # Blank first: a form that nobody filled in must look untouched.
        choices=[("", "—"), *((each.name.lower(), each.label) for each in reversed(Severity))],
    )
    safe = forms.BooleanField(label=_("no violation: may pass as safe"), required=False)
    guidance = forms.CharField(label=_("guidance"), required=False, widget=_foreign(rows=3))


CategoryFormSet = forms.formset_factory(
    CategoryForm,
    can_order=True,
    can_delete=True,
    extra=2,
    min_num=2,
    validate_min=True,
    max_num=100,
    validate_max=True,
)


class DraftForm(forms.Form):
    """A draft's content but its categories. `seen` is the content that the form was filled from."""

    seen = forms.CharField(widget=forms.HiddenInput)
    title = forms.CharField(label=_("title"), max_length=200, widget=_line(dir="auto"))
    model = forms.CharField(label=_("model"), max_length=200, widget=_line(dir="ltr"))
    safe_threshold = forms.FloatField(
        label=_("threshold for safe"),
        min_value=0,
        max_value=1,
        help_text=_("A safe category below this confidence goes to people."),
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )
    prompt = forms.CharField(label=_("prompt"), widget=_foreign(rows=24))


class DraftForms:
    """Both forms of a draft's page, checked together as a policy file is."""

    def __init__(self, draft: PolicyVersion, data: Any = None) -> None:
        self.draft = DraftForm(
            data,
            initial={
                "seen": draft.content_hash,
                "title": draft.title,
                "model": draft.model,
                "safe_threshold": draft.safe_threshold,
                "prompt": draft.prompt,
            },
        )
        self.categories = CategoryFormSet(
            data,
            prefix="categories",
            initial=[
                {**each, "severity": Severity(each["severity"]).name.lower()}
                for each in draft.categories
            ],
        )

    def read(self) -> tuple[str, PolicyContent] | None:
        """The title and the content; None where the forms now say what is wrong."""
        if not (self.draft.is_valid() & self.categories.is_valid()):
            return None
        values = self.draft.cleaned_data
        try:
            return check_policy(
                {
                    "title": values["title"],
                    "safe_threshold": values["safe_threshold"],
                    "prompt": values["prompt"],
                    "categories": [
                        {
                            name: form.cleaned_data[name]
                            for name in ("id", "name", "severity", "safe", "guidance")
                        }
                        for form in self.categories.ordered_forms
                    ],
                },
                model=values["model"],
            )
        except PolicyContentError as error:
            self.draft.add_error(None, str(error))
            return None


class _VersionField(forms.ModelChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj.number} ({obj.get_state_display()})"


class CompareForm(forms.Form):
    old = _VersionField(PolicyVersion.objects.order_by("-number"), label=_("version"))
    new = _VersionField(PolicyVersion.objects.order_by("-number"), label=_("compared with"))


class ActivationForm(forms.Form):
    """Whether history is asked at once, and within which bounds."""

    start = forms.BooleanField(label=_("Start the migration at once"), required=False)
    max_cost = forms.DecimalField(
        label=_("cost limit"),
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=4,
        help_text=_("It stops before it costs more, and waits for a person. Blank: no limit."),
    )
    reopen_at_most = forms.IntegerField(
        label=_("reopen at most"),
        required=False,
        min_value=0,
        max_value=1_000_000,
        help_text=_(
            "So many reports that were judged safe or decided otherwise come before people again, the "
            "most severe first. Blank: critical ones that no person saw, within a fixed bound."
        ),
    )

    def __init__(self, plan: Plan, data: Any = None) -> None:
        super().__init__(data)
        self._plan = plan

    def clean_max_cost(self) -> Any:
        limit, plan = self.cleaned_data["max_cost"], self._plan
        if limit is None or not plan.reports:
            return limit
        if plan.cost_low is None:
            raise forms.ValidationError(
                _(
                    "The cost is not known, so it cannot be limited. See the plan for what is missing."
                )
            )
        if plan.cost_low > limit:
            raise forms.ValidationError(
                _("It would cost %(cost)s at the least.") % {"cost": plan.cost_low}
            )
        return limit
