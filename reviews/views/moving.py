"""Moving through the queue: start, skip, release, put aside, hand over; and the page's heartbeat."""

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.forms import Form
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reports.foreign_text import isolated
from reports.models import Item
from reviews import handing
from reviews.blind import BlindWorkError, read_blindness
from reviews.claims import HeldByAnotherError, free_item, give_back, renew_claim
from reviews.forms import read_id
from reviews.forms_of_moving import HandOverForm, PutAsideForm
from reviews.lists import BY_SLUG, ListPage
from reviews.next import forget_skips, skip_item
from reviews.views.access import decider, may_decide, may_review
from reviews.views.navigation import list_of, open_item, open_list, open_next, with_navigation
from reviews.words_of_moving import how_it_stands, why_refused

Move = Callable[[HttpRequest, Item, User], HttpResponse]
REFUSALS = (
    BlindWorkError,
    HeldByAnotherError,
    handing.ResolvedError,
    handing.WaitsForAnotherError,
)


def _of_deciders(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    return never_cache(login_required(may_review(may_decide(view))))


def _move(move: Move) -> Callable[..., HttpResponse]:
    """A move by POST. A GET, as after logging in again, changes nothing and shows the item."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @_of_deciders
    @wraps(move)
    def view(request: HttpRequest, item_id: int) -> HttpResponse:
        item = get_object_or_404(Item, pk=item_id)
        if request.method == "POST":
            try:
                return move(request, item, _reviewer(request))
            except REFUSALS as refusal:
                messages.error(request, why_refused(refusal))
        return open_item(request, item.pk)

    return view


def _reviewer(request: HttpRequest) -> User:
    user = decider(request)
    assert user is not None  # noqa: S101 - `_of_deciders` has asked
    return user


@require_http_methods(["GET", "HEAD", "POST"])
@_of_deciders
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the top of a list, narrowed as the list was; what was skipped before may come again."""
    if request.method != "POST":
        return open_list(request, BY_SLUG[slug])
    reviewer = _reviewer(request)
    forget_skips(reviewer)
    return open_next(request, BY_SLUG[slug], reviewer=reviewer)


def _list_of(request: HttpRequest, item: Item, reviewer: User) -> ListPage:
    blind = read_blindness(item_id=item.pk, reader=reviewer) is not None
    return list_of(request, item, blind=blind)


@_move
def skip(request: HttpRequest, item: Item, reviewer: User) -> HttpResponse:
    skip_item(item_id=item.pk, reviewer=reviewer)
    return open_next(request, _list_of(request, item, reviewer), reviewer=reviewer)


@_move
def release(request: HttpRequest, item: Item, reviewer: User) -> HttpResponse:
    """Let go of an item and see the list; or take it back, or free it (`stay`), and see the item."""
    holder = read_id(request.POST.get("holder", ""))
    if holder is not None:
        free_item(item_id=item.pk, lead=reviewer, holder_id=holder)
    else:
        give_back(item_id=item.pk, reviewer=reviewer)
    if "stay" in request.POST:
        return open_item(request, item.pk)
    return open_list(request, _list_of(request, item, reviewer))


@require_http_methods(["GET", "HEAD", "POST"])
@_of_deciders
def put_aside(request: HttpRequest, item_id: int) -> HttpResponse:
    """Put an item aside. Refused, the form stands on a page of its own with what was typed."""
    item = get_object_or_404(Item, pk=item_id)
    if request.method != "POST":
        return open_item(request, item.pk)
    reviewer = _reviewer(request)
    form = PutAsideForm(request.POST)
    status = 422
    if form.is_valid():
        note = form.cleaned_data["note"]
        try:
            handing.put_aside(item_id=item.pk, reviewer=reviewer, lasts=form.lasts(), note=note)
        except REFUSALS as refusal:
            form.add_error(None, why_refused(refusal))
            status = 409
        else:
            messages.success(request, _("Put aside: %(item)s.") % {"item": isolated(str(item))})
            return open_next(request, list_of(request, item), reviewer=reviewer)
    return _render_form(request, "reviews/put_aside.html", item, form, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@_of_deciders
def hand_over(request: HttpRequest, item_id: int) -> HttpResponse:
    """The form for giving an item to a colleague; what was typed stays when it is refused."""
    item = get_object_or_404(Item, pk=item_id)
    reviewer = _reviewer(request)
    colleagues = handing.colleagues_of(reviewer)
    sent = request.POST if request.method == "POST" else None
    form = HandOverForm(sent, colleagues=colleagues)
    status = 200
    if sent is not None:
        status = 422
        if form.is_valid():
            to, note = form.cleaned_data["to"], form.cleaned_data["note"]
            try:
                handing.hand_over(item_id=item.pk, reviewer=reviewer, to=to, note=note)
            except REFUSALS as refusal:
                form.add_error(None, why_refused(refusal))
                status = 409
            else:
                said = _("%(item)s waits for %(who)s now.")
                messages.success(
                    request,
                    said % {"item": isolated(str(item)), "who": isolated(to.get_username())},
                )
                return open_next(request, list_of(request, item), reviewer=reviewer)
    return _render_form(request, "reviews/hand_over.html", item, form, status=status)


def _render_form(
    request: HttpRequest, template: str, item: Item, form: Form, *, status: int
) -> HttpResponse:
    context = {"item": item, "form": form, "onward": request.GET.urlencode()}
    return render(request, template, with_navigation(request, context), status=status)


@require_POST
@_of_deciders
def keep_claim(request: HttpRequest, item_id: int) -> JsonResponse:
    """The heartbeat of an active reviewer's page: more time, or who has the item now.

    JSON: `seconds` that are left, 0 where one has it no more, and `says`, a sentence or nothing.
    `newest` is the highest report id that the page knows.
    """
    reviewer = _reviewer(request)
    renew_claim(item_id, reviewer)
    newest = read_id(request.POST.get("newest", ""))
    return JsonResponse(how_it_stands(item_id, reviewer, newest=newest))
