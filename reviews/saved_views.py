"""Lists with filters that people keep under a name: their own, and those that colleagues share."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import EmptyResultSet
from django.db import IntegrityError, connection, transaction
from django.db.models import Q

from reports.audit import write_audit
from reports.models import Item
from reviews.filters import Filters, narrowed
from reviews.models import SavedView
from reviews.queue import in_order

VIEWS_AT_MOST = 30
COUNTED_IN_A_VIEW = 1_000
LOOKED_THROUGH_FOR_A_COUNT = 5_000
"""Items of the list that one view's count looks through; thirty of them stand on one page."""


class NameTakenError(Exception):
    """The person has a view of this name."""


class TooManyViewsError(Exception):
    """The person has `VIEWS_AT_MOST` already."""


class NotYourViewError(Exception):
    """There is no such view of this person; another's is as good as none."""


@dataclass(frozen=True)
class CountedView:
    view: SavedView
    count: int
    """Items that it shows; `COUNTED_IN_A_VIEW` at most."""
    more: bool
    """There are more, or there may be more further down in the list."""


def save_view(
    *, owner: User, name: str, list_name: Item.List, filters: Filters, shared: bool = False
) -> SavedView:
    """Keep a list and its filters. Raises `NameTakenError`, `TooManyViewsError`."""
    try:
        with transaction.atomic():
            # The owner's row, so that two tabs do not save one too many.
            User.objects.select_for_update(no_key=True).get(pk=owner.pk)
            if SavedView.objects.filter(owner=owner).count() >= VIEWS_AT_MOST:
                raise TooManyViewsError
            view = SavedView.objects.create(
                owner=owner,
                name=name,
                list=list_name,
                filters=filters.chosen(),
                shared=shared,
            )
            detail = {"list": str(list_name), "shared": shared}
            write_audit(action="view_saved", of=view, actor=owner, detail=detail)
    except IntegrityError:
        raise NameTakenError(name) from None
    return view


def share_view(*, view_id: int, owner: User, shared: bool) -> None:
    """Everybody sees it from now on, or nobody else does. Raises `NotYourViewError`."""
    with transaction.atomic():
        view = _lock(view_id, owner)
        if view.shared != shared:
            view.shared = shared
            view.save(update_fields=["shared"])
            action = "view_shared" if shared else "view_unshared"
            write_audit(action=action, of=view, actor=owner)


def remove_view(*, view_id: int, owner: User) -> None:
    """Raises `NotYourViewError`."""
    with transaction.atomic():
        view = _lock(view_id, owner)
        write_audit(action="view_removed", of=view, actor=owner)
        view.delete()


def views_of(user: User) -> list[CountedView]:
    """One's own, then those that others share, by name; their counts come in one statement."""
    seen = SavedView.objects.filter(Q(owner=user) | Q(shared=True)).select_related("owner")
    # No more than a page holds, one's own first.
    views = sorted(
        seen.order_by("name", "pk")[: 10 * VIEWS_AT_MOST],
        key=lambda view: view.owner_id != user.pk,
    )[:VIEWS_AT_MOST]
    if not views:
        return []
    statements, parameters = [], []
    for view in views:
        counting, values = _counting(view, viewer=user.pk)
        statements.append(counting)
        parameters += values
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(statements), parameters)
        rows = cursor.fetchall()
    return [
        CountedView(view, min(count, COUNTED_IN_A_VIEW), more or count > COUNTED_IN_A_VIEW)
        for view, (count, more) in zip(views, rows, strict=True)
    ]


def _lock(view_id: int, owner: User) -> SavedView:
    view = SavedView.objects.select_for_update().filter(pk=view_id, owner=owner).first()
    if view is None:
        raise NotYourViewError(view_id)
    return view


def _counting(view: SavedView, *, viewer: int) -> tuple[str, list[Any]]:
    """A statement that gives the count, up to a bound, and whether the list goes on beyond it."""
    name = Item.List(view.list)
    filters = Filters.read(view.filters, viewer=viewer)
    items = in_order(name)
    beyond, of_beyond = "false", ()
    if filters.reads_reports():
        last = items.values("pk")[LOOKED_THROUGH_FOR_A_COUNT:][:1]
        sql, of_beyond = last.query.sql_with_params()
        beyond = f"EXISTS ({sql})"
        items = Item.objects.filter(pk__in=items.values("pk")[:LOOKED_THROUGH_FOR_A_COUNT])
    wanted = narrowed(items, name, filters).order_by()[: COUNTED_IN_A_VIEW + 1]
    try:
        sql, of_count = wanted.values("pk").query.sql_with_params()
    except EmptyResultSet:  # a value that no form offers any more
        return "SELECT 0, false", []
    # The pieces are Django's, with places for their parameters.
    statement = f"SELECT (SELECT count(*) FROM ({sql}) AS view), {beyond}"  # noqa: S608
    return statement, [*of_count, *of_beyond]
