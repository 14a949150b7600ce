from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion

PERIODS = {
    "30d": (timedelta(days=30), _("30 days")),
    "90d": (timedelta(days=90), _("90 days")),
    "365d": (timedelta(days=365), _("a year")),
    "all": (None, _("all the time")),
}
DEFAULT = "90d"


class PeriodForm(forms.Form):
    """What the page about quality is of, in the address. A value that is not offered is ignored."""

    within = forms.ChoiceField(
        label=_("Of the last"),
        required=False,
        initial=DEFAULT,
        choices=[(name, said) for name, (_within, said) in PERIODS.items()],
    )
    version = forms.TypedChoiceField(
        label=_("Policy version"), required=False, coerce=int, empty_value=None
    )

    def __init__(self, data: Any, *, versions: Sequence[PolicyVersion]) -> None:
        super().__init__({"within": DEFAULT, **data.dict()}, auto_id="of-%s")
        field = self.fields["version"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [
            ("", _("all")),
            *((each.number, f"{each.number} · {each.title}") for each in versions),
        ]
        self.is_valid()

    @property
    def period(self) -> timedelta | None:
        return PERIODS[self.cleaned_data.get("within") or DEFAULT][0]

    @property
    def policy_version(self) -> int | None:
        version: int | None = self.cleaned_data.get("version")
        return version
