"""Finding an item again: by words, by an exact id, by who decided about it or made it."""

from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.models import active_policy_with_rest
from reports.models import Report
from reports.search_text import SEARCHED_CHARACTERS
from reviews.filter_form import DecisionsForm, SearchForm
from reviews.filters import AGES
from reviews.history_of_people import COUNTED_WITHIN, decisions_by, read_author_page
from reviews.lists import BY_NAME
from reviews.queue import Card
from reviews.search import search, senders_to_search
from reviews.views.access import may_review, person
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
    return render(request, "reviews/search.html", with_navigation(request, context), status=status)


def _listed(card: Card) -> object:
    return BY_NAME[card.item.List(card.item.list)]


@require_safe
@never_cache
@login_required
@may_review
def show_decisions(request: HttpRequest) -> HttpResponse:
    """What one reviewer decided, or everybody, the newest first."""
    policy = active_policy_with_rest()
    form = DecisionsForm(request.GET, policy=policy)
    chosen = form.chosen()
    within = chosen.get("within")
    try:
        page = decisions_by(
            reader=person(request),
            reviewer=chosen.get("reviewer", ""),
            action=chosen.get("action", ""),
            category=chosen.get("category", ""),
            within=AGES[within][0] if within else None,
            after=request.GET.get("after", ""),
        )
    except ValueError:  # a key that no page of ours gave: begin at the top
        return redirect(f"{request.path}?{urlencode(chosen)}")
    context = {
        "form": form,
        "page": page,
        "policy": policy,
        "reviewer": chosen.get("reviewer", ""),
        "filtered": bool(chosen),
        "query": urlencode(chosen),
        "next": urlencode({**chosen, "after": page.after}) if page.after else "",
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/decisions_of.html", with_navigation(request, context))


@require_safe
@never_cache
@login_required
@may_review
def show_author(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """Who made what this report is about: open reports and decisions about their items."""
    report = get_object_or_404(Report.objects.select_related("item__sender"), public_id=public_id)
    page = read_author_page(report, reader=person(request))
    if page is None:
        raise Http404
    context = {
        "report": report,
        "item": report.item,
        "page": page,
        "author": page.author,
        "cards": [(_listed(card), card) for card in page.open],
        "policy": active_policy_with_rest(),
        "days": COUNTED_WITHIN.days,
    }
    return render(request, "reviews/author.html", with_navigation(request, context))
