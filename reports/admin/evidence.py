"""What the lists of the admin share: read only, and no slower at a million rows."""

from math import ceil
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from reports.audit import write_audit
from reports.counting import COUNTED_AT_MOST
from reports.foreign_text import show_controls
from reports.models import Item, Severity

if TYPE_CHECKING:  # generic for the type checker only
    AnyModelAdmin = admin.ModelAdmin[Any]
    AnyPaginator = Paginator[Any]
else:
    AnyModelAdmin = admin.ModelAdmin
    AnyPaginator = Paginator


class BoundedPaginator(AnyPaginator):
    """Counts, and leads on, up to `COUNTED_AT_MOST` rows; what is beyond it is for a filter to find."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        # The key alone: an annotation would be computed for each row that is counted.
        return int(rows.order_by().values("pk")[: COUNTED_AT_MOST + 1].count())

    @cached_property
    def num_pages(self) -> int:
        return max(1, ceil(min(self.count, COUNTED_AT_MOST) / self.per_page))


class FastList(AnyModelAdmin):
    """A list that counts up to a bound; its search finds whole ids, by an index."""

    paginator = BoundedPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Those that a typed id means; an admin with `search_fields` says which."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        # PostgreSQL takes no NUL, and nothing that we hold has one.
        if "\0" in term:
            return queryset.none(), False
        if not term or not self.get_search_fields(request):
            return queryset, False
        return self.find(queryset, term), False


class ReadOnly:
    """Evidence: nobody adds, changes or deletes it here, superusers included."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False


class EvidenceAdmin(ReadOnly, FastList):
    """A list to read that offers no action of Django's."""

    actions: Any = None


def describe(item: Item) -> SafeString:
    """Type and id, each isolated, its hidden characters shown."""
    return format_html(
        "<bdi>{}</bdi> <bdi>{}</bdi>", show_controls(item.type), show_controls(item.external_id)
    )


class EvidenceOfItems(EvidenceAdmin):
    """Rows about an item each, found by its id at the sender."""

    search_fields = ("item__external_id",)
    search_help_text = _("An item's id at the sender.")
    ordering = ("-id",)
    sortable_by = ()

    def find(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        return rows.filter(item__in=Item.objects.filter(external_id=term))

    @admin.display(description=_("item"))
    def about(self, row: Any) -> SafeString:
        return describe(row.item)


def severity_word(rank: int) -> SafeString:
    """The severity in words, and in the tone of its rank."""
    return format_html('<span class="severity rank-{}">{}</span>', rank, Severity(rank).label)


def person(request: HttpRequest) -> User:
    """Who is logged in; the admin lets nobody else in."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


class AuditedSave:
    """What is saved here leaves one audit row, `<kind>_created` or `<kind>_changed`; nothing is deleted."""

    audited_kind = ""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:  # noqa: ARG002
        return False

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:  # noqa: FBT001
        if change and not form.changed_data:
            return
        super().save_model(request, obj, form, change)  # type: ignore[misc]  # the admin's own
        write_audit(
            action=f"{self.audited_kind}_{'changed' if change else 'created'}",
            of=obj,
            actor=person(request),
            detail={"fields": form.changed_data},
        )
