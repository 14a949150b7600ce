"""What narrows the differences between machine and people, as a form in the address."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from classifier.policies.content import CATEGORY_ID
from reviews.filter_form import Chip
from reviews.filters import AGES
from reviews.forms import categories_of
from reviews.quality.differences import NO_VIOLATION, UNSURE, Kind, Narrowed
from reviews.words import category_name

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

KINDS: "dict[str, StrOrPromise]" = {
    Kind.MISSED: _("missed: the machine judged it safe"),
    Kind.UNSURE: _("It was unsure and asked people"),
    Kind.FALSE_ALARM: _("false alarm: people found no violation"),
    Kind.OTHER_CATEGORY: _("another category"),
}
UNSURE_NAMED = (UNSURE, _("No violation, but unsure"))


class DifferencesForm(forms.Form):
    """A value that is not offered is ignored, but for a category that an older version named."""

    kind = forms.ChoiceField(label=_("Kind"), required=False)
    machine = forms.ChoiceField(label=_("The machine found"), required=False)
    people = forms.ChoiceField(label=_("People found"), required=False)
    language = forms.CharField(
        label=_("Language"),
        required=False,
        max_length=35,
        widget=forms.TextInput(attrs={"size": 6, "dir": "ltr", "placeholder": "en, ar"}),
    )
    sender = forms.ChoiceField(label=_("Sender"), required=False)
    version = forms.IntegerField(
        label=_("Policy version"), required=False, min_value=1, max_value=2**31 - 1
    )
    within = forms.ChoiceField(label=_("Decided within"), required=False)

    def __init__(
        self, data: Mapping[str, str], *, policy: PolicyVersion | None, senders: Collection[str]
    ) -> None:
        super().__init__(data, auto_id="differences-%s")
        self._names: dict[str, dict[str, StrOrPromise]] = {}
        found = [(NO_VIOLATION, category_name(NO_VIOLATION)), *categories_of(policy)]
        offered: list[tuple[str, Sequence[tuple[str, StrOrPromise]]]] = [
            ("kind", list(KINDS.items())),
            ("machine", [found[0], UNSURE_NAMED, *found[1:], *_older(data.get("machine", ""))]),
            ("people", [*found, *_older(data.get("people", ""))]),
            ("sender", [(name, name) for name in senders]),
            ("within", [(key, said) for key, (_age, said) in AGES.items()]),
        ]
        for name, choices in offered:
            self._names[name] = dict(choices)
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = [("", _("any")), *self._names[name].items()]

    def chosen(self) -> dict[str, str]:
        """What narrows at all, by the names in the address."""
        self.is_valid()
        return {name: str(value) for name, value in self.cleaned_data.items() if value}

    def narrowed(self) -> Narrowed:
        chosen = self.chosen()
        within, version = chosen.pop("within", ""), chosen.pop("version", "")
        return Narrowed(
            **chosen,
            version=int(version) if version else None,
            within=AGES[within][0] if within else None,
        )

    def chips(self) -> list[Chip]:
        """The filters in force, each with the address that is left without it."""
        chosen = self.chosen()
        return [
            Chip(
                name,
                str(self.fields[name].label),
                str(self._names.get(name, {}).get(value, value)),
                urlencode({key: each for key, each in chosen.items() if key != name}),
            )
            for name, value in chosen.items()
        ]


def _older(category: str) -> list[tuple[str, str]]:
    """The table names categories that the active version has no more, and links to them."""
    return [(category, category_name(category))] if re.fullmatch(CATEGORY_ID, category) else []
