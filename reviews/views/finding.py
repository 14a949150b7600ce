"""Finding an item again: by words, by an exact id."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.models import active_policy_with_rest
from reports.search_text import SEARCHED_CHARACTERS
from reviews.forms import SearchForm
from reviews.lists import BY_NAME
from reviews.queue import Card
from reviews.search import search, senders_to_search
from reviews.views.access import may_review
from reviews.views.navigation import SENDERS_OFFERED, filter_form, with_navigation


@require_safe
@never_cache
@login_required
@may_review
def show_search(request: HttpRequest) -> HttpResponse:
    """Items whose reports hold the words, and items that an exact id names, in whichever list."""
    policy = active_policy_with_rest()
    senders = senders_to_search()
    offered = [name for _pk, name in senders[:SENDERS_OFFERED]]
    form = filter_form(request, pending=True, policy=policy, senders=offered)
    asked = SearchForm(request.GET, auto_id="search-%s")
    filters = form.filters()
    said = asked.cleaned_data["q"] if asked.is_valid() else ""
    found = None
    if said:
        try:
            found = search(
                said,
                filters=filters,
                senders=[pk for pk, _name in senders],
                after=request.GET.get("after", ""),
            )
        except ValueError:  # a key that no page of ours gave: begin at the top
            return redirect(f"{request.path}?{urlencode({**filters.chosen(), 'q': said})}")
    chosen = {**filters.chosen(), "q": said}
    context = {
        "asked": asked,
        "said": said,
        "form": form,
        "chips": form.chips(filters),
        "policy": policy,
        "found": found,
        "named": [(_listed(card), card, why) for card, why in found.named] if found else [],
        "cards": [(_listed(card), card) for card in found.cards] if found else [],
        "next": urlencode({**chosen, "after": found.after}) if found and found.after else "",
        "again": urlencode(chosen),
        "from_top": "after" not in request.GET,
        "seconds": f"{settings.SEARCH_SECONDS:g}",
        "characters": SEARCHED_CHARACTERS,
        "searching": True,
    }
    status = 503 if found and found.too_long else 200
    return render(request, "reviews/search.html", with_navigation(context), status=status)


def _listed(card: Card) -> object:
    return BY_NAME[card.item.List(card.item.list)]
