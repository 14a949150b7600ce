import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from reports.models import Severity
from reviews.drafts import Typed
from reviews.models import Draft, Preferences
from reviews.preferences import Choices
from reviews.words import category_name

TEXT_LIMIT = 5_000
_ID = re.compile(r"[0-9]{1,18}")  # within PostgreSQL's bigint


def read_id(text: str) -> int | None:
    """A row's id that a page carries; None for anything else."""
    return int(text) if _ID.fullmatch(text) else None


class PreferencesForm(forms.Form):
    """What a reviewer chooses for themselves; its fields are those of `Preferences`."""

    veil_from = forms.TypedChoiceField(
        label=_("Hide texts until I ask for them"),
        help_text=_("Links and what was sent along too. Lists show the model's summary instead."),
        required=False,
        coerce=int,
        empty_value=None,
    )
    greyscale = forms.BooleanField(
        label=_("Show reported texts without colours"),
        help_text=_("Emoji and coloured signs in grey."),
        required=False,
    )
    opted_out = forms.MultipleChoiceField(
        label=_("Do not hand me"),
        help_text=_("Such items stay in the lists, their texts hidden; you can open them there."),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    pause_after = forms.IntegerField(
        label=_("Propose a pause after so many severe items"), min_value=1, max_value=500
    )
    single_keys = forms.BooleanField(
        label=_("Single letters are commands"),
        help_text=_("Off: letters do nothing; every command is a button."),
        required=False,
    )

    def __init__(
        self, data: Any = None, *, standing: Preferences, policy: PolicyVersion | None
    ) -> None:
        initial = {name: getattr(standing, name) for name in self.base_fields}
        super().__init__(data, initial=initial)
        self.offered = [each for each, _name in categories_of(policy)]
        severities = [
            (each.value, _("from severity: %(name)s") % {"name": each.label})
            for each in Severity
            if each != Severity.NONE
        ]
        for name, choices in (
            ("veil_from", [("", _("hide nothing")), (0, _("hide every text")), *severities]),
            ("opted_out", categories_of(policy)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = choices

    def choices(self) -> Choices:
        return Choices(**self.cleaned_data)


class LongText(forms.CharField):
    """A text area of bounded length: a line break counts once, as the browser counts it."""

    def __init__(self, *, key: str = "", limit: int = TEXT_LIMIT, **kwargs: Any) -> None:
        attrs = {"rows": 2, "dir": "auto", **({"data-key": key} if key else {})}
        super().__init__(
            required=False, max_length=limit, widget=forms.Textarea(attrs=attrs), **kwargs
        )

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class DraftForm(forms.Form):
    """What stands in the decision form, complete or not."""

    action = forms.CharField(required=False, max_length=Draft._meta.get_field("action").max_length)
    category = forms.CharField(
        required=False, max_length=Draft._meta.get_field("category").max_length
    )
    note = LongText(strip=False)
    reason = LongText(strip=False)
    last = forms.IntegerField(required=False)

    def typed(self) -> Typed:
        data = self.cleaned_data
        return Typed(data["action"], data["category"], data["note"], data["reason"])


def categories_of(policy: PolicyVersion | None) -> list[tuple[str, str]]:
    """The active version's categories but the safe ones."""
    return [
        (each["id"], category_name(each["id"], policy))
        for each in (policy.categories if policy else [])
        if not each["safe"]
    ]
