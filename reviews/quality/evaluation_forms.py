"""What makes an evaluation set, and what adds a report to one."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator, slug_re
from django.utils.translation import gettext_lazy as _

from classifier.models import EvaluationCase, EvaluationSet

_DESCRIPTION = EvaluationSet._meta.get_field("description").max_length
_NAME = EvaluationSet._meta.get_field("name").max_length
_NAMED = _("Latin letters, digits, hyphens and underscores.")


class SetForm(forms.Form):
    """A new set's name, which stands in addresses and commands, and what it is for."""

    name = forms.CharField(
        label=_("Name"),
        max_length=_NAME,
        validators=[RegexValidator(slug_re, _NAMED)],
        help_text=_NAMED,
        widget=forms.TextInput(attrs={"dir": "ltr"}),
    )
    description = forms.CharField(
        label=_("What it is for"),
        max_length=_DESCRIPTION,
        required=False,
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if EvaluationSet.objects.filter(name=name).exists():
            raise forms.ValidationError(_("There is a set of this name."))
        return name


class CaseForm(forms.Form):
    """Which report to which set; the button of a card sends it."""

    report = forms.UUIDField()
    set = forms.SlugField(max_length=_NAME)
    source = forms.ChoiceField(choices=EvaluationCase.Source.choices)
    next: Any = forms.CharField(required=False)
