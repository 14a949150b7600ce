"""What pages share: the counts above them, the filters in their address, the way to the next item."""

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from classifier.models import PolicyVersion
from reports.models import Item, Sender
from reviews.filter_form import FilterForm
from reviews.filters import Filters
from reviews.lists import BY_NAME, BY_SLUG, LISTS, ListPage
from reviews.next import claim_next, skipped_by
from reviews.preferences import preferences_of
from reviews.queue import goes_on, within_reach
from reviews.views.access import person
from reviews.wellbeing import read_desk

SENDERS_OFFERED = 200
TO_SETTLE = "to-settle"
"""In place of a list's slug: where one came from to decide anew."""


def with_navigation(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The context with the person's desk, which it may have already, and what stands above the page."""
    desk = context.get("desk") or read_desk(person(request))
    counts = desk.counts
    return {
        **context,
        "desk": desk,
        "lists": [(each, getattr(counts, each.name.value)) for each in LISTS],
        "overdue": counts.overdue,
        "disagreements": counts.disagreements,
        "quality": request.path.startswith(reverse("review-quality")),
    }


def chosen_of(filters: Filters) -> dict[str, str]:
    return filters.chosen()


def here_of(request: HttpRequest, chosen: dict[str, str]) -> str:
    """The query of the very page of a list that one is on; `chosen`: what it is narrowed to."""
    after = request.GET.get("after")
    return urlencode({**chosen, **({"after": after} if after else {})})


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


def back_of(request: HttpRequest, listed: ListPage, *, query: str) -> str:
    """Where one came from: a list, or what is to settle."""
    if request.GET.get("from") == TO_SETTLE:
        return reverse("review-calibration")
    return address_of("review-list", listed.slug, query=query)


def address_of(name: str, *args: Any, query: str) -> str:
    return reverse(name, args=args) + (f"?{query}" if query else "")


def filters_of(request: HttpRequest) -> Filters:
    """What the address narrows to, to go on with; a value that nobody offered finds nothing."""
    return Filters.read(request.GET, viewer=request.user.pk or 0)


def list_of(request: HttpRequest, item: Item, *, blind: bool = False) -> ListPage:
    """The list that the reviewer works through: the address says, else where the item stands.

    Where it stands would tell who works blind the machine's answer.
    """
    there = Item.List.NEEDS_REVIEW if blind else Item.List(item.list)
    return BY_SLUG.get(request.GET.get("from", "")) or BY_NAME[there]


def open_item(request: HttpRequest, item_id: int) -> HttpResponse:
    return redirect(address_of("review-item", item_id, query=request.GET.urlencode()))


def open_item_anew(request: HttpRequest, item_id: int) -> HttpResponse:
    """The same from a page of a list, whose key is none of the item's."""
    query = {key: value for key, value in request.GET.items() if key != "after"}
    return redirect(address_of("review-item", item_id, query=urlencode(query)))


def open_list(request: HttpRequest, listed: ListPage) -> HttpResponse:
    query = urlencode(chosen_of(filters_of(request)))
    return redirect(address_of("review-list", listed.slug, query=query))


def open_next(
    request: HttpRequest, listed: ListPage, *, reviewer: User, beside: int | None = None
) -> HttpResponse:
    """Take the next item of the narrowed list, or say why there is none; the resolved have no next."""
    if request.GET.get("from") == TO_SETTLE:
        return redirect("review-calibration")
    if listed.name == Item.List.RESOLVED:
        return open_list(request, listed)
    filters = filters_of(request)
    item_id = claim_next(name=listed.name, filters=filters, reviewer=reviewer, beside=beside)
    if item_id is None:
        messages.info(request, _why_none(listed, filters, reviewer))
        return open_list(request, listed)
    query = urlencode({**chosen_of(filters), "from": listed.slug})
    return redirect(address_of("review-item", item_id, query=query))


def _why_none(listed: ListPage, filters: Filters, reviewer: User) -> str:
    chooses = bool(preferences_of(reviewer).opted_out)
    left = within_reach(listed.name, filters, each=chooses)
    if left.filter(pk__in=skipped_by(reviewer)).exists():
        return _("That was the last one. What you skipped comes again when you start anew.")
    beyond = goes_on(listed.name, filters, each=chooses)
    if left.exists() and not (chooses and beyond):
        return _("Nothing in this list is free: what is left is in other hands, or it waits.")
    if beyond:
        return _("The top of this list has nothing that matches. Narrow it by another filter.")
    return _("That was the last one of this list.")
