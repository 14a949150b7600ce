from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from reviews.decisions import Wish
from reviews.forms import LongText, categories_of, read_id
from reviews.item import SHOWN_REPORTS
from reviews.models import Action


class SeenForm(forms.Form):
    """What its writer had seen: the reports, and the newest row about the item."""

    reports = forms.CharField(widget=forms.HiddenInput)
    last = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def clean_reports(self) -> list[int]:
        parts = self.cleaned_data["reports"].split(",")
        found = [pk for part in parts if (pk := read_id(part)) is not None]
        if len(parts) > SHOWN_REPORTS or len(found) < len(parts):
            raise forms.ValidationError(_("The form is broken. Open the item again."))
        return found


class ApprovalForm(SeenForm):
    """A second person agrees to what stands proposed, with a note of their own."""

    note = LongText(label=_("Note on the approval"))


class ActionRadios(forms.RadioSelect):
    """Each button carries the letter that chooses it."""

    keys: Mapping[str, str] = {}

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        option["attrs"]["data-key"] = self.keys[str(value)]
        return option


class ActionChoice(forms.Form):
    """What every form that decides has in common; it offers `actions`, by their slugs."""

    actions: Mapping[str, Action]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        action = self.actions.get(cleaned.get("action", ""))
        if action and action.upholds and not cleaned.get("category"):
            self.add_error("category", _("Choose the category that the content breaks."))
        return cleaned

    def wish(self) -> Wish:
        """Of a form that is valid."""
        data = self.cleaned_data
        action = self.actions[data["action"]]
        return Wish(
            action=action.slug,
            category=data["category"] if action.upholds else "",
            note=data["note"],
            reason=data.get("reason", ""),
        )


class DecisionForm(ActionChoice, SeenForm):
    """A decision: one of the actions that are offered, the category where there was a violation."""

    action = forms.ChoiceField(label=_("Decision"), widget=ActionRadios)
    category = forms.ChoiceField(
        label=_("Category"), required=False, widget=forms.Select(attrs={"data-key": "c"})
    )
    note = LongText(label=_("Note for colleagues"), key="m")
    reason = LongText(label=_("Reason for the author"))
    field_order = ("action", "category", "note", "reason", "reports", "last")

    def __init__(
        self, *args: Any, policy: PolicyVersion | None, actions: Sequence[Action], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.policy = policy
        self.actions = {action.slug: action for action in actions}
        for name, choices in (
            ("action", [(action.slug, action.name) for action in actions]),
            ("category", [("", _("choose")), *categories_of(policy)]),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = choices
        radios = self.fields["action"].widget
        assert isinstance(radios, ActionRadios)  # noqa: S101 - declared above
        radios.keys = {action.slug: action.key for action in actions}

    def meanings(self) -> list[dict[str, str]]:
        """What the policy says of each category that can be chosen."""
        return [
            {"id": each["id"], "name": name, "guidance": each["guidance"]}
            for each in (self.policy.categories if self.policy else [])
            for identity, name in categories_of(self.policy)
            if identity == each["id"]
        ]

    def choices(self) -> Iterator[tuple[Any, Action]]:
        """Each radio button with its action."""
        return zip(self["action"].subwidgets, self.actions.values(), strict=True)
