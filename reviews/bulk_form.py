import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from classifier.models import PolicyVersion
from reports.models import Item
from reviews.bulk import Chosen
from reviews.decision_form import ActionChoice
from reviews.forms import LongText, categories_of
from reviews.lists import ListPage
from reviews.models import Action
from reviews.queue import PAGE

_CHOSEN = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})\.([0-9]{1,18})")


class ChosenField(forms.Field):
    """The boxes that were ticked: item, newest row about it (0: none), newest report."""

    widget = forms.MultipleHiddenInput

    def to_python(self, value: Any) -> list[Chosen]:
        found = [_CHOSEN.fullmatch(each) for each in value or []]
        if len(found) > PAGE or not all(found):
            raise forms.ValidationError(_("The form is broken. Open the list again."))
        numbers = [[int(part) for part in each.groups()] for each in found if each]
        unique = {item: Chosen(item, last or None, report) for item, last, report in numbers}
        return list(unique.values())


class BulkForm(ActionChoice):
    """One decision about the chosen items: an action that needs no more than a look at the list."""

    item = ChosenField(error_messages={"required": _("Choose at least one item.")})
    action = forms.ChoiceField(label=_("Decision"))
    category = forms.ChoiceField(label=_("Category"), required=False)
    note = LongText(label=_("Note for colleagues"))

    def __init__(self, data: Any, *, listed: ListPage, policy: PolicyVersion | None) -> None:
        super().__init__(data, auto_id="bulk-%s")
        judged = listed.name in {Item.List.JUDGED_SAFE, Item.List.RESOLVED}
        self.actions = {
            action.slug: action
            for action in Action.objects.offered()
            if action.resolves or (judged and action.outcome == Action.Outcome.REOPENS)
        }
        for name, choices in (
            ("action", [(action.slug, action.name) for action in self.actions.values()]),
            ("category", categories_of(policy)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101 - declared above
            field.choices = [("", _("choose")), *choices]

    @property
    def ticked(self) -> list[int]:
        """Ids of the items whose boxes were ticked, to be ticked again beside what is wrong."""
        sent = self["item"].value() or []
        return [int(found[1]) for each in sent if (found := _CHOSEN.fullmatch(each))]
