"""The four lists and the disagreements."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.models import PolicyVersion, active_policy_with_rest
from reports.models import Item
from reviews.bulk_form import BulkForm
from reviews.disagreements import read_disagreements
from reviews.held import Held, read_held
from reviews.lists import BY_NAME, BY_SLUG, ListPage
from reviews.opting_out import nobody_takes
from reviews.queue import read_page
from reviews.views.access import decider, may_review
from reviews.views.navigation import chosen_of, filter_form, here_of, with_navigation


@require_safe
@never_cache
@login_required
@may_review
def show_list(request: HttpRequest, slug: str) -> HttpResponse:
    """One of the four lists."""
    return render_list(request, BY_SLUG[slug])


def render_list(
    request: HttpRequest, listed: ListPage, *, bulk: BulkForm | None = None, status: int = 200
) -> HttpResponse:
    """The list as the address narrows it; `bulk` is a decision about several that was refused."""
    policy = active_policy_with_rest()
    form = filter_form(request, pending=listed.name == Item.List.PENDING, policy=policy)
    filters = form.filters()
    try:
        page = read_page(listed.name, filters=filters, after=request.GET.get("after", ""))
    except ValueError:
        # A key that no page of ours gave: begin at the top.
        return redirect("review-list", listed.slug)
    chosen = chosen_of(filters)
    if decider(request) and bulk is None:
        bulk = BulkForm(None, listed=listed, policy=policy)
    context = {
        "listed": listed,
        "page": page,
        "form": form,
        "policy": policy,
        "filtered": bool(chosen),
        "chips": form.chips(filters),
        "query": urlencode(chosen),
        "here": here_of(request, chosen),
        "next": urlencode({**chosen, "after": page.after}) if page.after else "",
        "from_top": "after" not in request.GET,
        "may_start": decider(request) is not None and listed.name != Item.List.RESOLVED,
        "bulk": bulk,
        "untaken": _untaken(request, listed, policy),
        "held": _held(request, listed),
    }
    return render(request, "reviews/list.html", with_navigation(request, context), status=status)


def _untaken(request: HttpRequest, listed: ListPage, policy: PolicyVersion | None) -> list[str]:
    """Categories that nobody is handed, for those who can do something about it."""
    leads = isinstance(request.user, User) and request.user.has_perm("reviews.decide_escalated")
    in_review = listed.name == Item.List.NEEDS_REVIEW
    return nobody_takes(policy) if leads and in_review else []


def _held(request: HttpRequest, listed: ListPage) -> list[tuple[Held, list[tuple[ListPage, int]]]]:
    """What waits for particular people, above the open lists, for those who may decide."""
    reader = decider(request)
    if reader is None or listed.name not in {Item.List.PENDING, Item.List.NEEDS_REVIEW}:
        return []
    return [
        (held, [(BY_NAME[name], count) for name, count in held.lists.items()])
        for held in read_held(reader)
    ]


@require_safe
@never_cache
@login_required
@may_review
def show_disagreements(request: HttpRequest) -> HttpResponse:
    """What newer versions found where none was found before, and nobody has looked at yet."""
    try:
        page = read_disagreements(after=request.GET.get("after", ""))
    except ValueError:
        return redirect(request.path)
    context = {
        "disagreeing": page,
        "policy": active_policy_with_rest(),
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/disagreements.html", with_navigation(request, context))
