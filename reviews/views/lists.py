"""The four lists, the disagreements, and the way into a list from its top."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.models import active_policy_with_rest
from reports.models import Item
from reviews.disagreements import read_disagreements
from reviews.lists import BY_SLUG
from reviews.queue import read_page
from reviews.views.access import may_review
from reviews.views.navigation import chosen_of, filter_form, open_next, with_navigation


@require_safe
@never_cache
@login_required
@may_review
def show_list(request: HttpRequest, slug: str) -> HttpResponse:
    """One of the four lists."""
    listed = BY_SLUG[slug]
    policy = active_policy_with_rest()
    form = filter_form(request, pending=listed.name == Item.List.PENDING, policy=policy)
    filters = form.filters()
    try:
        page = read_page(listed.name, filters=filters, after=request.GET.get("after", ""))
    except ValueError:
        return redirect(request.path)  # a key that no page of ours gave: begin at the top
    chosen = chosen_of(filters)
    context = {
        "listed": listed,
        "page": page,
        "form": form,
        "policy": policy,
        "filtered": bool(chosen),
        "chips": form.chips(filters),
        "query": urlencode(chosen),
        "next": urlencode({**chosen, "after": page.after}) if page.after else "",
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/list.html", with_navigation(context))


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
    return render(request, "reviews/disagreements.html", with_navigation(context))


@require_safe
@never_cache
@login_required
@may_review
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """The top item of a list, narrowed as the list was."""
    listed = BY_SLUG[slug]
    return open_next(request, listed, after=request.GET.get("after", ""))
