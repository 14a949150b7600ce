from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from reviews.forms import LongText

NOTE_LIMIT = 1_000


class PutAsideForm(forms.Form):
    """For how long an item is put aside, and why."""

    note = LongText(label=_("Why it waits"), limit=NOTE_LIMIT)
    hours = forms.TypedChoiceField(
        label=_("For how long"),
        choices=[(1, _("1 hour")), (4, _("4 hours")), (24, _("24 hours"))],
        coerce=int,
    )

    def lasts(self) -> timedelta:
        return timedelta(hours=self.cleaned_data["hours"])


class HandOverForm(forms.Form):
    """The colleague whom an item is given to, and what they should know."""

    to = forms.ModelChoiceField(
        label=_("Colleague"), queryset=User.objects.none(), empty_label=_("choose")
    )
    note = LongText(label=_("Note for colleagues"), limit=NOTE_LIMIT)

    def __init__(self, *args: Any, colleagues: QuerySet[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - declared above
        field.queryset = colleagues
