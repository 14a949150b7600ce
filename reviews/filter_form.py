"""What narrows lists and searches, as forms in the address."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from classifier import rules
from classifier.models import PolicyVersion, WaitingReason
from reports.submission import Reason
from reviews.filters import AGES, ME, NOBODY, PARKED, Filters
from reviews.forms import categories_of
from reviews.lists import BY_SLUG
from reviews.models import Action, Hold
from reviews.words import FLOOR

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class Chip:
    """A filter in force: its name in the address, what it says, and the address without it."""

    name: str
    label: str
    said: str
    without: str


class FilterForm(forms.Form):
    """The filters of a list, in the address. A value that is not offered is ignored."""

    category = forms.ChoiceField(label=_("Category"), required=False)
    language = forms.CharField(label=_("Language"), required=False, max_length=35)
    sender = forms.ChoiceField(label=_("Sender"), required=False)
    reason = forms.ChoiceField(label=_("Reason"), required=False)
    waiting = forms.ChoiceField(label=_("Waits because"), required=False)
    item_type = forms.CharField(label=_("Item type"), required=False, max_length=255)
    assignee = forms.CharField(label=_("In the hands of"), required=False, max_length=150)
    hold = forms.ChoiceField(label=_("Held"), required=False)
    rule = forms.ChoiceField(label=_("Rule"), required=False)
    confidence_from = forms.FloatField(
        label=_("Confidence from"), required=False, min_value=0, max_value=1
    )
    confidence_to = forms.FloatField(
        label=_("Confidence to"), required=False, min_value=0, max_value=1
    )
    older_than = forms.ChoiceField(label=_("Waiting longer than"), required=False)
    newer_than = forms.ChoiceField(label=_("Waiting less than"), required=False)
    version = forms.IntegerField(
        label=_("Policy version"), required=False, min_value=1, max_value=2**31 - 1
    )

    # What the page shows at once; the rest is folded away.
    FIRST = ("category", "language", "sender", "reason", "waiting")

    def __init__(
        self,
        data: Any,
        *,
        pending: bool,
        policy: PolicyVersion | None,
        viewer: int,
        senders: Collection[str],
    ) -> None:
        super().__init__(data, auto_id="filter-%s")
        self._viewer = viewer
        any_value = ("", _("any"))
        ages = [(key, said) for key, (_age, said) in AGES.items()]
        self._names: dict[str, dict[str, StrOrPromise]] = {}
        offered: list[tuple[str, Sequence[tuple[str, StrOrPromise]]]] = [
            ("category", categories_of(policy)),
            ("sender", [(name, name) for name in senders]),
            ("reason", Reason.choices),
            ("waiting", [(PARKED, _("waits for a person")), *WaitingReason.choices]),
            ("hold", Hold.Kind.choices),
            ("rule", RULES),
            ("older_than", ages),
            ("newer_than", ages),
        ]
        for name, choices in offered:
            self._names[name] = dict(choices)
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = [any_value, *choices]
        for name, size in (("language", 6), ("item_type", 10), ("assignee", 10)):
            self.fields[name].widget.attrs.update(size=size, dir="auto")
        self.fields["language"].widget.attrs.update(dir="ltr", placeholder="en, ar")
        self.fields["assignee"].widget.attrs.update(list="assignees")
        for name in ("confidence_from", "confidence_to"):
            self.fields[name].widget.attrs.update(step="0.01")
        if not pending:
            del self.fields["waiting"]

    def first(self) -> "list[forms.BoundField]":
        return [field for field in self if field.name in self.FIRST]

    def more(self) -> "list[forms.BoundField]":
        return [field for field in self if field.name not in self.FIRST]

    def filters(self) -> Filters:
        self.is_valid()
        values = {
            name: "" if each is None else str(each) for name, each in self.cleaned_data.items()
        }
        return Filters(**values, viewer=self._viewer)

    def chips(self, filters: Filters) -> list[Chip]:
        """The filters in force, each with the address that is left without it."""
        chosen = filters.chosen()
        return [
            Chip(
                name,
                str(self.fields[name].label),
                self._said(name, value),
                urlencode({key: each for key, each in chosen.items() if key != name}),
            )
            for name, value in chosen.items()
        ]

    def _said(self, name: str, value: str) -> str:
        if name == "assignee":
            return str({ME: _("me"), NOBODY: _("nobody")}.get(value, value))
        return str(self._names.get(name, {}).get(value, value))


RULES = [
    (name, sentence) for name, sentence in {**FLOOR, **rules.SENTENCES}.items() if name != "floor"
]


class SearchForm(forms.Form):
    """What to look for, in the address."""

    q = forms.CharField(
        label=_("Words or an exact id"),
        required=False,
        max_length=255,
        widget=forms.TextInput(attrs={"type": "search", "dir": "auto"}),
    )


class SavedViewForm(forms.Form):
    """A name for a list and its filters; both as the list's own address has them."""

    name = forms.CharField(
        label=_("Name"), max_length=80, widget=forms.TextInput(attrs={"dir": "auto"})
    )
    list = forms.ChoiceField(choices=[(slug, slug) for slug in BY_SLUG], widget=forms.HiddenInput)
    query = forms.CharField(required=False, max_length=5_000, widget=forms.HiddenInput)
    shared = forms.BooleanField(label=_("Colleagues see it too"), required=False)

    def filters(self) -> Filters:
        """Of a form that is valid; what is no filter is left out."""
        return Filters.read(QueryDict(self.cleaned_data["query"]))


class DecisionsForm(forms.Form):
    """Whose decisions, in the address. A value that is not offered is ignored."""

    reviewer = forms.CharField(
        label=_("Reviewer"),
        required=False,
        max_length=150,
        widget=forms.TextInput(attrs={"dir": "auto", "size": 12}),
    )
    action = forms.ChoiceField(label=_("Decision"), required=False)
    category = forms.ChoiceField(label=_("Category"), required=False)
    within = forms.ChoiceField(
        label=_("Within"),
        required=False,
        choices=[("", _("any")), *((key, said) for key, (_age, said) in AGES.items())],
    )

    def __init__(self, data: Any, *, policy: PolicyVersion | None) -> None:
        super().__init__(data, auto_id="decisions-%s")
        actions = Action.objects.order_by("position", "slug")
        for name, choices in (
            ("action", [(action.slug, action.name) for action in actions]),
            ("category", categories_of(policy)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = [("", _("any")), *choices]

    def chosen(self) -> dict[str, str]:
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}
