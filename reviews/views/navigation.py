"""What pages share: the counts above them, the filters in their address, the way to the next item."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from classifier.models import PolicyVersion
from reports.models import Sender
from reviews.filters import Filters
from reviews.forms import FilterForm
from reviews.lists import LISTS, ListPage
from reviews.queue import count_lists, next_item

SENDERS_OFFERED = 200


def with_navigation(context: dict[str, Any]) -> dict[str, Any]:
    counts = count_lists()
    numbers = {each.name: getattr(counts, each.name.value) for each in LISTS}
    return {
        **context,
        "lists": [(each, numbers[each.name]) for each in LISTS],
        "overdue": counts.overdue,
        "disagreements": counts.disagreements,
    }


def chosen_of(filters: Filters) -> dict[str, str]:
    return filters.chosen()


def filter_form(
    request: HttpRequest,
    *,
    pending: bool,
    policy: PolicyVersion | None,
    senders: Collection[str] | None = None,
) -> FilterForm:
    """The form above a list. `senders`: the names to offer, where they are known already."""
    if senders is None:
        named = Sender.objects.order_by("name").values_list("name", flat=True)
        senders = list(named[:SENDERS_OFFERED])
    return FilterForm(
        request.GET,
        pending=pending,
        policy=policy,
        viewer=request.user.pk or 0,
        senders=senders,
    )


def address_of(name: str, *args: Any, query: str) -> str:
    return reverse(name, args=args) + (f"?{query}" if query else "")


def filters_of(request: HttpRequest) -> Filters:
    """What the address narrows to, to go on with; a value that nobody offered finds nothing."""
    return Filters.read(request.GET, viewer=request.user.pk or 0)


def open_next(
    request: HttpRequest, listed: ListPage, *, beside: int | None = None, after: str = ""
) -> HttpResponse:
    filters = filters_of(request)
    chosen = chosen_of(filters)
    try:
        item = next_item(listed.name, filters=filters, beside=beside, after=after)
    except ValueError:
        item = next_item(listed.name, filters=filters)
    if item is None:
        messages.info(request, _("That was the last one of this list."))
        return redirect(address_of("review-list", listed.slug, query=urlencode(chosen)))
    query = urlencode({**chosen, "from": listed.slug})
    return redirect(address_of("review-item", item.pk, query=query))
