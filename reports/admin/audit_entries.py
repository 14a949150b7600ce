"""The audit in the admin: what was done, by whom, to what."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.admin.evidence import EvidenceAdmin
from reports.admin.filters import NewestFilter, RecentValueFilter, SinceFilter
from reports.foreign_text import shorten, show_controls
from reports.models import AuditEntry


class ActionFilter(RecentValueFilter):
    title = _("what")
    parameter_name = "action"


class ActorFilter(RecentValueFilter):
    title = _("who")
    parameter_name = "actor_name"


class ObjectFilter(RecentValueFilter):
    title = _("object")
    parameter_name = "object_type"


class TimeFilter(SinceFilter):
    since = "at"


@admin.register(AuditEntry)
class AuditEntryAdmin(EvidenceAdmin):
    list_display = ("at", "who", "action", "about", "its_detail")
    fields = list_display
    readonly_fields = list_display
    list_filter = (NewestFilter, TimeFilter, ActionFilter, ActorFilter, ObjectFilter)
    search_fields = ("object_id",)
    search_help_text = _("An object's id, or a person's user name.")
    ordering = ("-id",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        by = User.objects.filter(username=term).first()
        if by is not None:
            return rows.filter(actor=by)
        # With its kind, for that is what the index begins with.
        return rows.filter(object_type__in=kinds(), object_id=term)

    @admin.display(description=_("who"))
    def who(self, entry: AuditEntry) -> SafeString:
        return format_html('<bdi dir="auto">{}</bdi>', show_controls(entry.actor_name))

    @admin.display(description=_("object"))
    def about(self, entry: AuditEntry) -> SafeString:
        words = format_html(
            "{} <bdi>{}</bdi>", _named(entry.object_type), show_controls(entry.object_id)
        )
        try:
            address = reverse(_pages().get(entry.object_type, ""), args=[entry.object_id])
        except NoReverseMatch:
            return words
        return format_html('<a href="{}">{}</a>', address, words)

    @admin.display(description=_("detail"))
    def its_detail(self, entry: AuditEntry) -> SafeString:
        return format_html_join(
            " · ",
            '<bdi dir="ltr">{}: {}</bdi>',
            (
                (show_controls(name), show_controls(shorten(str(value))))
                for name, value in entry.detail.items()
            ),
        )


def kinds() -> list[str]:
    """What an entry may be about: the product's tables, and the accounts."""
    return [model._meta.model_name or "" for model in apps.get_models()]


def _pages() -> dict[str, str]:
    """The name of the address of each kind's page, for those that have one."""
    return {
        each._meta.model_name or "": f"admin:{each._meta.app_label}_{each._meta.model_name}_change"
        for each in apps.get_models()
        if admin.site.is_registered(each)
    }


def _named(kind: str) -> str:
    """The kind in words."""
    names = {each._meta.model_name: each._meta.verbose_name for each in apps.get_models()}
    return str(names.get(kind, kind))
