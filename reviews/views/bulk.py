"""One decision about the chosen items of a list, and what became of each."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from classifier.models import active_policy_with_rest
from reviews.bulk import Became, decide_items
from reviews.bulk_form import BulkForm
from reviews.lists import BY_SLUG
from reviews.views.access import decider, may_review
from reviews.views.lists import render_list
from reviews.views.navigation import (
    address_of,
    chosen_of,
    filters_of,
    here_of,
    with_navigation,
)


@require_POST
@never_cache
@login_required
@may_review
def decide_chosen(request: HttpRequest, slug: str) -> HttpResponse:
    """Answers with a page that names each item; what was wrong with the form stands on the list."""
    reviewer = decider(request)
    if reviewer is None:
        return render(request, "403.html", status=403)
    listed, policy = BY_SLUG[slug], active_policy_with_rest()
    form = BulkForm(request.POST, listed=listed, policy=policy)
    if not form.is_valid():
        return render_list(request, listed, bulk=form, status=422)
    here = here_of(request, chosen_of(filters_of(request)))
    outcomes = decide_items(reviewer=reviewer, wish=form.wish(), chosen=form.cleaned_data["item"])
    context = {
        "outcomes": outcomes,
        "undoable": any(each.became in {Became.DECIDED, Became.PROPOSED} for each in outcomes),
        "listed": listed,
        "policy": policy,
        "back": address_of("review-list", slug, query=here),
        "from": slug,
    }
    return render(request, "reviews/bulk.html", with_navigation(request, context))
