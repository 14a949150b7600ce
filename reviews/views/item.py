"""One item's page, and the decision that is taken on it."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from classifier.models import PolicyVersion, active_policy_with_rest
from reports.foreign_text import name_controls
from reports.models import Item
from reviews.claims import hold_item
from reviews.decisions import NothingToDecideError, StaleDecisionError, decide_item
from reviews.drafts import Typed, draft_of
from reviews.forms import DecisionForm
from reviews.item import ItemPage, read_item
from reviews.lists import BY_NAME, BY_SLUG, ListPage
from reviews.models import Draft
from reviews.queue import key_of
from reviews.veil import reveal_item
from reviews.views.access import decider, may_review
from reviews.views.drafts import keep_typed
from reviews.views.navigation import address_of, chosen_of, filters_of, open_next, with_navigation
from reviews.views.scripts import tells_where_to_go
from reviews.wellbeing import read_desk


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
@tells_where_to_go
def show_item(request: HttpRequest, item_id: int) -> HttpResponse:
    """An item's page, and the decision that is taken on it. Who may decide holds it by opening it."""
    reviewer = decider(request)
    try:
        if reviewer and request.method == "GET":
            hold_item(item_id=item_id, reviewer=reviewer)
        page = read_item(item_id)
    except Item.DoesNotExist:
        raise Http404 from None
    policy = active_policy_with_rest()
    if request.method == "POST":
        if reviewer is None:
            return render(request, "403.html", status=403)
        answer = _decide(request, reviewer, page, policy)
        if answer.status_code in {409, 422}:
            keep_typed(request.POST, item_id=item_id, reviewer=reviewer)
        return answer
    draft = draft_of(item_id=item_id, reviewer=reviewer) if reviewer else None
    typed = model_to_dict(draft, fields=vars(Typed())) if draft else {}
    form = _form(page, policy, initial={**typed, "reports": _ids(page), "last": _last(page)})
    return _render_item(request, page, form, policy, draft=draft)


def _decide(
    request: HttpRequest, reviewer: User, page: ItemPage, policy: PolicyVersion | None
) -> HttpResponse:
    form = _form(page, policy, data=request.POST)
    if not form.is_valid():
        # The page shows what there is now, and so the form says: not what it was sent with.
        again = _form(page, policy, data=_as_shown(request.POST, page))
        if again.is_valid() or "reports" in form.errors:
            again.add_error(None, _("The form is broken. Open the item again."))
        return _render_item(request, page, again, policy, status=422)
    try:
        decision = decide_item(
            item_id=page.item.pk,
            reviewer=reviewer,
            wish=form.wish(),
            report_ids=form.cleaned_data["reports"],
            last_decision_id=form.cleaned_data["last"],
        )
    except StaleDecisionError as stale:
        # What was typed stays; a second try overrides knowingly.
        again = _form(page, policy, data=_as_shown(request.POST, page))
        return _render_item(request, page, again, policy, stale=stale.standing, status=409)
    except NothingToDecideError:
        raise Http404 from None
    messages.success(
        request,
        # The item's name is isolated: its direction is its own.
        _("Decided: %(action)s. %(item)s")
        % {
            "action": decision.get_action_display(),
            "item": f"\u2068{name_controls(page.title)}\u2069",
        },
    )
    if "next" in request.POST:
        return open_next(request, _list_of(request, page), beside=page.item.pk)
    return redirect(request.get_full_path())


@require_POST
@login_required
@may_review
def reveal(request: HttpRequest, item_id: int) -> HttpResponse:
    """The item's page again, with the text that the veil hid."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    try:
        reveal_item(item_id=item_id, user=request.user)
    except Item.DoesNotExist:
        raise Http404 from None
    query = request.GET.urlencode()
    return redirect(f"{address_of('review-item', item_id, query=query)}#shown")


def _list_of(request: HttpRequest, page: ItemPage) -> ListPage:
    """The list that the reviewer works through: the address says, else where the item stood."""
    return BY_SLUG.get(request.GET.get("from", "")) or BY_NAME[Item.List(page.item.list)]


def _form(
    page: ItemPage, policy: PolicyVersion | None, *, data: Any = None, initial: Any = None
) -> DecisionForm:
    open_lists = {Item.List.PENDING, Item.List.NEEDS_REVIEW}
    return DecisionForm(
        data=data,
        initial=initial,
        policy=policy,
        may_reopen=page.item.list not in open_lists,
    )


def _render_item(  # noqa: PLR0913 - what a page needs
    request: HttpRequest,
    page: ItemPage,
    form: DecisionForm,
    policy: PolicyVersion | None,
    *,
    status: int = 200,
    stale: Any = None,
    draft: Draft | None = None,
) -> HttpResponse:
    came_from = _list_of(request, page)
    chosen = chosen_of(filters_of(request))
    query = urlencode(chosen)
    assert isinstance(request.user, User)  # noqa: S101 - each page here asks for a log-in
    desk = read_desk(request.user, item_id=page.item.pk)
    veils = any(desk.veils(each.report) for each in page.shown)
    after = urlencode({**chosen, "after": key_of(page.item)})
    context = {
        "page": page,
        "desk": desk,
        # The summary stays first once the text is shown: nothing moves under the reader's eyes.
        "summary_first": veils,
        "veiled": veils and not desk.has_revealed,
        "form": form,
        "stale": stale,
        "draft": draft,
        "policy": policy,
        "came_from": came_from,
        "back": address_of("review-list", came_from.slug, query=query),
        # A place in another list says nothing of what comes next in this one.
        "skip": address_of("review-start", came_from.slug, query=after)
        if came_from.name == page.item.list
        else "",
        "listed": BY_NAME[Item.List(page.item.list)],
        "may_decide": decider(request) is not None,
    }
    return render(request, "reviews/item.html", with_navigation(context), status=status)


def _as_shown(typed: QueryDict, page: ItemPage) -> QueryDict:
    """The typed values beside what the page shows now."""
    values = typed.copy()
    values["reports"], values["last"] = _ids(page), str(_last(page) or "")
    return values


def _ids(page: ItemPage) -> str:
    """The reports whose content the page shows; an unreadable one only where there is no other."""
    shown = [each for each in page.shown if each.submission] or page.shown
    return ",".join(str(each.report.pk) for each in shown)


def _last(page: ItemPage) -> int | None:
    return page.last_decision.pk if page.last_decision else None
