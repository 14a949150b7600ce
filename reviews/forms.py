import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion, WaitingReason
from reports.models import Sender
from reports.submission import Reason
from reviews.decisions import Wish
from reviews.filters import PARKED, Filters
from reviews.item import SHOWN_REPORTS
from reviews.models import Decision
from reviews.words import category_name

TEXT_LIMIT = 5_000
_ID = re.compile(r"[0-9]{1,18}")  # within PostgreSQL's bigint
NEEDS_CATEGORY = {Decision.Action.WARN, Decision.Action.REMOVE, Decision.Action.SUSPEND}


class FilterForm(forms.Form):
    """The filters of a list, in the address. A value that is not offered is ignored."""

    category = forms.ChoiceField(label=_("Category"), required=False)
    language = forms.CharField(label=_("Language"), required=False, max_length=35)
    sender = forms.ChoiceField(label=_("Sender"), required=False)
    reason = forms.ChoiceField(label=_("Reason"), required=False)
    waiting = forms.ChoiceField(label=_("Waits because"), required=False)

    def __init__(self, data: Any, *, pending: bool, policy: PolicyVersion | None) -> None:
        super().__init__(data, auto_id="filter-%s")
        every = [("", _("any"))]
        self._choices("category", every + _categories(policy))
        senders = Sender.objects.order_by("name").values_list("name", "name")[:200]
        self._choices("sender", every + list(senders))
        self._choices("reason", every + list(Reason.choices))
        self._choices(
            "waiting", [*every, (PARKED, _("waits for a person")), *WaitingReason.choices]
        )
        self.fields["language"].widget.attrs.update(size=6, dir="ltr", placeholder="en, ar")
        if not pending:
            del self.fields["waiting"]

    def _choices(self, name: str, choices: list[Any]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
        field.choices = choices

    def filters(self) -> Filters:
        self.is_valid()
        return Filters(**self.cleaned_data)


class DecisionForm(forms.Form):
    """A decision, and what its writer had seen: the reports and the newest decision before it."""

    action = forms.ChoiceField(label=_("Decision"), widget=forms.RadioSelect)
    category = forms.ChoiceField(label=_("Category"), required=False)
    note = forms.CharField(
        label=_("Note for colleagues"),
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
    reason = forms.CharField(
        label=_("Reason for the author"),
        required=False,
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )
    reports = forms.CharField(widget=forms.HiddenInput)
    last = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(
        self, *args: Any, policy: PolicyVersion | None, may_reopen: bool, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        actions = [
            choice
            for choice in Decision.Action.choices
            if may_reopen or choice[0] != Decision.Action.REOPEN
        ]
        for name, choices in (
            ("action", actions),
            ("category", [("", _("choose")), *_categories(policy)]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = choices

    def clean_reports(self) -> list[int]:
        parts = self.cleaned_data["reports"].split(",")
        if len(parts) > SHOWN_REPORTS or not all(_ID.fullmatch(part) for part in parts):
            raise forms.ValidationError(_("The form is broken. Open the item again."))
        return [int(part) for part in parts]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("action") in NEEDS_CATEGORY and not cleaned.get("category"):
            self.add_error("category", _("Choose the category that the content breaks."))
        return cleaned

    def wish(self) -> Wish:
        data = self.cleaned_data
        action = Decision.Action(data["action"])
        return Wish(
            action=action,
            category=data["category"] if action in NEEDS_CATEGORY else "",
            note=data["note"],
            reason=data["reason"],
        )


def _categories(policy: PolicyVersion | None) -> list[tuple[str, str]]:
    """The active version's categories but the safe ones."""
    return [
        (each["id"], category_name(each["id"], policy))
        for each in (policy.categories if policy else [])
        if not each["safe"]
    ]
