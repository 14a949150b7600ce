from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion

PERIODS = {
    "30d": (timedelta(days=30), _("30 days")),
    "90d": (timedelta(days=90), _("90 days")),
    "365d": (timedelta(days=365), _("a year")),
    "all": (None, _("all the time")),
}
DEFAULT, EVER = "90d", "all"


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

    def __init__(
        self, data: Any, *, versions: Sequence[PolicyVersion], period: str = DEFAULT
    ) -> None:
        """`period`: of which time it is where the address says nothing."""
        self._period = period
        super().__init__({"within": period, **data.dict()}, auto_id="of-%s")
        field = self.fields["version"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = [
            ("", _("all")),
            *((each.number, f"{each.number} · {each.title}") for each in versions),
        ]
        self.is_valid()

    @property
    def period(self) -> timedelta | None:
        return PERIODS[self._chosen][0]

    @property
    def since(self) -> datetime | None:
        return timezone.now() - self.period if self.period else None

    @property
    def in_words(self) -> list[str]:
        """What was chosen, for who reads it on paper."""
        version = self.policy_version
        words = [f"{self.fields['within'].label}: {PERIODS[self._chosen][1]}"]
        return words + ([f"{self.fields['version'].label}: {version}"] if version else [])

    @property
    def chosen(self) -> dict[str, str | int]:
        """The same for an address."""
        version = self.policy_version
        return {"within": self._chosen, **({"version": version} if version else {})}

    @property
    def _chosen(self) -> str:
        return self.cleaned_data.get("within") or self._period

    @property
    def policy_version(self) -> int | None:
        version: int | None = self.cleaned_data.get("version")
        return version
