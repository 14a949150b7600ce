"""The four lists and the disagreements."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.models import PolicyVersion, active_policy_with_rest
from reports.models import Item
from reviews.bulk_form import BulkForm
from reviews.disagreements import read_disagreements
from reviews.held import read_gaps
from reviews.lists import BY_NAME, BY_SLUG, ListPage
from reviews.queue import read_page
from reviews.views.access import decider, may_review, person
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
        **_gaps(request, listed, policy),
    }
    return render(request, "reviews/list.html", with_navigation(request, context), status=status)


def _gaps(
    request: HttpRequest, listed: ListPage, policy: PolicyVersion | None
) -> dict[str, object]:
    """What waits for particular people or for nobody, above the open lists, for who may decide."""
    reader = decider(request)
    if reader is None or listed.name not in {Item.List.PENDING, Item.List.NEEDS_REVIEW}:
        return {}
    gaps = read_gaps(reader, policy, above=listed.name)
    held = [
        (each, [(BY_NAME[name], count) for name, count in each.lists.items()]) for each in gaps.held
    ]
    return {"held": held, "untaken": gaps.untaken, "unhanded": gaps.unhanded}


@require_safe
@never_cache
@login_required
@may_review
def show_disagreements(request: HttpRequest) -> HttpResponse:
    """What newer versions found where none was found before, and nobody has looked at yet."""
    try:
        page = read_disagreements(reader=person(request), after=request.GET.get("after", ""))
    except ValueError:
        return redirect(request.path)
    context = {
        "disagreeing": page,
        "policy": active_policy_with_rest(),
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/disagreements.html", with_navigation(request, context))
