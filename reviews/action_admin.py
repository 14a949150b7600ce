"""The admin of actions: what reviewers can choose is the installation's; none is ever deleted."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import AuditedSave, FastList
from reports.foreign_text import name_controls
from reviews.models import Action
from reviews.models.action import COMMANDS

NAME_LIMIT = 60


class ActionForm(forms.ModelForm):  # type: ignore[type-arg]
    """The names as one field a language."""

    class Meta:
        model = Action
        fields = ("slug", "outcome", "key", "second_from", "position", "is_active")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for language, title in settings.LANGUAGES:
            self.fields[f"name_{language}"] = forms.CharField(
                label=_("Name (%(language)s)") % {"language": title},
                max_length=NAME_LIMIT,
                required=language == "en",
                initial=self.instance.names.get(language, "") if self.instance.names else "",
            )

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"]
        if not (key.isascii() and key.islower()) or key in COMMANDS:
            raise forms.ValidationError(
                _("A letter from b to z, but none of these: %(commands)s.")
                % {"commands": " ".join(COMMANDS)}
            )
        return key

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        names = {
            language: cleaned[f"name_{language}"]
            for language, _title in settings.LANGUAGES
            if cleaned.get(f"name_{language}")
        }
        for language, name in names.items():
            if name_controls(name) != name:
                self.add_error(f"name_{language}", _("It holds characters that cannot be seen."))
        if "en" in names:  # else the form is shown again, under the name that it had
            self.instance.names = names
        return cleaned


@admin.register(Action)
class ActionAdmin(AuditedSave, FastList):
    """What an action means stands once it is there; out of use it goes by being offered no more."""

    audited_kind = "action"
    form = ActionForm
    list_display = ("name", "slug", "outcome", "key", "second_from", "position", "is_active")
    list_filter = ("is_active", "outcome")
    ordering = ("position", "slug")
    actions: Any = None

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:  # noqa: ARG002
        names = [f"name_{language}" for language, _title in settings.LANGUAGES]
        return ["slug", *names, "outcome", "key", "second_from", "position", "is_active"]

    def get_form(
        self,
        request: HttpRequest,
        obj: Any = None,
        change: bool = False,  # noqa: FBT001, FBT002 - Django's own
        **kwargs: Any,
    ) -> Any:
        # The names' fields come with the form itself, not with the model.
        own = [f for f in ActionForm.Meta.fields if f not in self.get_readonly_fields(request, obj)]
        return super().get_form(request, obj, change, **{**kwargs, "fields": own})

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:  # noqa: ARG002
        return ("slug", "outcome") if obj else ()
