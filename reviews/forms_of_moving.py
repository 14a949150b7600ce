import re
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

NOTE_LIMIT = 1_000
HOURS = (1, 4, 24)
_ID = re.compile(r"[0-9]{1,18}")  # within PostgreSQL's bigint


def read_id(text: str) -> int | None:
    """A row's id that a page carries; None for anything else."""
    return int(text) if _ID.fullmatch(text) else None


class _Note(forms.CharField):
    def __init__(self) -> None:
        super().__init__(
            label=_("Note for colleagues"),
            required=False,
            max_length=NOTE_LIMIT,
            widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
        )


class PutAsideForm(forms.Form):
    """For how long an item is put aside, and why."""

    hours = forms.TypedChoiceField(choices=[(hours, hours) for hours in HOURS], coerce=int)
    note = _Note()

    def lasts(self) -> timedelta:
        return timedelta(hours=self.cleaned_data["hours"])


class HandOverForm(forms.Form):
    """The colleague whom an item is given to, and what they should know."""

    to = forms.ModelChoiceField(
        label=_("Colleague"), queryset=User.objects.none(), empty_label=_("choose")
    )
    note = _Note()

    def __init__(self, *args: Any, colleagues: QuerySet[User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["to"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - declared above
        field.queryset = colleagues
