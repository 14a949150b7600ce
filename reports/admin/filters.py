"""Filters of the admin's lists; each reads a bounded number of rows, whatever the table holds."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.views.main import SEARCH_VAR
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from reports.foreign_text import name_controls, shorten
from reports.models import Item, Sender

ALL = "all"
# The parameter of a list about one item.
ABOUT = "item"
# Lists in the order of their making look at so many of the newest rows, unless asked for all.
NEWEST = 100_000
# A filter names so many of them at most.
NAMED = 100


class DefaultFilter(admin.SimpleListFilter):
    """Narrows the list also where nothing was chosen; what it is narrowed to can be seen and changed.

    A search, or a list about one object, is about all rows unless something was chosen.
    """

    default: ClassVar[str]
    known: ClassVar[tuple[str, ...]]

    def __init__(
        self, request: HttpRequest, params: dict[str, list[str]], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        self.chosen = self.chosen_by(request)

    @classmethod
    def chosen_by(cls, request: HttpRequest) -> str:
        """What the list is narrowed to; `ALL` for nothing."""
        asked = request.GET.get(str(cls.parameter_name))
        if asked in {*cls.known, ALL}:
            return asked or ALL
        return ALL if request.GET.get(SEARCH_VAR) or ABOUT in request.GET else cls.default

    def value(self) -> str:
        return self.chosen

    def choices(self, changelist: Any) -> Iterator[Any]:
        for key, name in self.lookup_choices:
            yield {
                "selected": self.chosen == str(key),
                "query_string": changelist.get_query_string({self.parameter_name: key}),
                "display": name,
            }


class EndedFilter(admin.SimpleListFilter):
    """Whether the time in the column `ended` has come; `names` says so of what it has not and has."""

    title = _("standing")
    parameter_name = "standing"
    ended: ClassVar[str]
    names: ClassVar[tuple[Any, Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return list(zip(("open", "ended"), self.names, strict=True))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        if self.value() not in {"open", "ended"}:
            return queryset
        return queryset.filter(**{f"{self.ended}__isnull": self.value() == "open"})


class NewestFilter(DefaultFilter):
    """The newest rows: then a filter without an index of its own reads no more than those."""

    title = _("how far back")
    parameter_name = "back"
    default = "newest"
    known = ("newest",)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            ("newest", _("the newest %(count)s") % {"count": f"{NEWEST:,}"}),
            (ALL, _("everything, which may be slow")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        return queryset if self.chosen == ALL else newest(queryset)


class StandingFilter(DefaultFilter):
    """Where something stands: pending unless another list is asked for."""

    default = "pending"
    known = tuple(Item.List.values)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            *Item.List.choices,
            (ALL, _("all, the newest %(count)s") % {"count": f"{NEWEST:,}"}),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.chosen != ALL:
            return queryset.filter(**{str(self.parameter_name): self.chosen})
        searched = request.GET.get(SEARCH_VAR) or ABOUT in request.GET
        return queryset if searched else newest(queryset)


def newest(rows: QuerySet[Any], *, at_most: int = NEWEST) -> QuerySet[Any]:
    """Those of the rows that are among the newest of the whole table."""
    last = rows.model.objects.order_by("-pk").values_list("pk", flat=True).first()
    return rows if last is None else rows.filter(pk__gt=last - at_most)


class SenderFilter(admin.SimpleListFilter):
    title = _("sender")
    parameter_name = "sender"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return list(Sender.objects.order_by("name").values_list("name", "name")[:NAMED])

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        if not (name := self.value()):
            return queryset
        # Its id rather than a join: then the planner knows how many rows it has.
        sender = Sender.objects.filter(name=name).values_list("pk", flat=True).first()
        return queryset.none() if sender is None else queryset.filter(sender=sender)


class RecentValueFilter(admin.SimpleListFilter):
    """The values of one column that stand in the newest rows; asking for all would read them all."""

    LOOKED_AT = 5_000

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        column = str(self.parameter_name)
        recent = newest(model_admin.model.objects.all(), at_most=self.LOOKED_AT)
        found = recent.order_by(column).values_list(column, flat=True).distinct()[:NAMED]
        return [(value, shorten(name_controls(str(value)), at_most=40)) for value in found]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        value = self.value()
        return queryset.filter(**{str(self.parameter_name): value}) if value else queryset


class SinceFilter(admin.SimpleListFilter):
    """How long ago at most, by the column `since`."""

    title = _("time")
    parameter_name = "since"
    since: ClassVar[str]
    SPANS: ClassVar[dict[str, timedelta]] = {
        "hour": timedelta(hours=1),
        "day": timedelta(days=1),
        "week": timedelta(days=7),
        "month": timedelta(days=30),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:  # noqa: ARG002
        return [
            ("hour", _("the last hour")),
            ("day", _("the last day")),
            ("week", _("the last 7 days")),
            ("month", _("the last 30 days")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:  # noqa: ARG002
        span = self.SPANS.get(self.value() or "")
        return queryset.filter(**{f"{self.since}__gte": Now() - span}) if span else queryset
