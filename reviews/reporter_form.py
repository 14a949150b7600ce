"""The form that invalidates reports of one reporter: the scope, and why."""

from datetime import date, datetime, time

from django import forms
from django.utils.timezone import make_aware
from django.utils.translation import gettext_lazy as _

from reports.invalidation import Scope
from reports.models import Invalidation, Item


class InvalidationForm(forms.Form):
    """Days are the site's; the last one is included."""

    since = forms.DateField(
        label=_("Received from"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    until = forms.DateField(
        label=_("Received up to"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    item_type = forms.CharField(
        label=_("Type of item"),
        help_text=_("Blank: items of every type."),
        required=False,
        max_length=Item._meta.get_field("type").max_length,
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    reason = forms.CharField(
        label=_("Why they count for nothing"),
        required=False,
        max_length=Invalidation._meta.get_field("reason").max_length,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "required": True}),
    )

    def clean_reason(self) -> str:
        """The plan shows whether there is a reason; it is wanted once the plan is to be done."""
        reason = str(self.cleaned_data["reason"])
        if "confirm" in self.data and not reason:
            raise forms.ValidationError(_("Say why, for the record."))
        return reason

    def scope(self) -> Scope:
        said = self.cleaned_data
        return Scope(
            since=_start_of(said["since"]),
            until=_start_of(said["until"], days_later=1),
            item_type=said["item_type"] or None,
        )


def _start_of(day: date | None, *, days_later: int = 0) -> datetime | None:
    if day is None:
        return None
    return make_aware(datetime.combine(date.fromordinal(day.toordinal() + days_later), time.min))
