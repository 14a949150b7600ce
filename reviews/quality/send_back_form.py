import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from reviews.quality.like import SHOWN_AT_MOST, Why, found_misses

_NUMBER = re.compile(r"[0-9]{1,18}")


class ReportsField(forms.Field):
    """The boxes that were ticked: numbers of reports."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[int]:
        sent = value or []
        if len(sent) > SHOWN_AT_MOST * len(Why) or not all(map(_NUMBER.fullmatch, sent)):
            raise forms.ValidationError(_("The form is broken. Open the list again."))
        return [int(each) for each in sent]


class SendBackForm(forms.Form):
    """What a lead sends back to people after a found miss; they say what is like it."""

    audit = forms.ModelChoiceField(found_misses())
    report = ReportsField(error_messages={"required": _("Choose at least one report.")})
