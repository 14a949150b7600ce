"""The reviewers' pages. Every one needs a person with a permission; an API key opens none."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from classifier.models import PolicyVersion
from reports.foreign_text import name_controls
from reports.models import Item
from reviews.decisions import NothingToDecideError, StaleDecisionError, decide_item
from reviews.forms import DecisionForm, FilterForm
from reviews.item import ItemPage, read_item
from reviews.lanes import BY_NAME, BY_SLUG, LANES, Lane
from reviews.queue import Filters, count_lists, next_item, read_page

may_review = permission_required("reviews.review_items", raise_exception=True)


@require_safe
@login_required
@may_review
def show_list(request: HttpRequest, slug: str) -> HttpResponse:
    """One of the four lists."""
    lane = BY_SLUG[slug]
    form = _filter_form(request, lane)
    filters = form.filters()
    try:
        page = read_page(lane.name, filters=filters, after=request.GET.get("after", ""))
    except ValueError:
        return redirect(request.path)  # a key that no page of ours gave: begin at the top
    chosen = _chosen(filters)
    context = {
        "lane": lane,
        "page": page,
        "form": form,
        "filtered": bool(chosen),
        "query": urlencode(chosen),
        "next": urlencode({**chosen, "after": page.after}) if page.after else "",
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/list.html", _with_navigation(context))


@require_safe
@login_required
@may_review
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """The top item of a list, narrowed as the list was."""
    lane = BY_SLUG[slug]
    return _open_next(request, lane, beside=None)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@may_review
def show_item(request: HttpRequest, item_id: int) -> HttpResponse:
    """An item's page, and the decision that is taken on it."""
    try:
        page = read_item(item_id)
    except Item.DoesNotExist:
        raise Http404 from None
    if request.method == "POST":
        return _decide(request, page)
    form = _form(page, {"reports": _ids(page), "last": _last(page)}, bound=False)
    return _render_item(request, page, form)


def _decide(request: HttpRequest, page: ItemPage) -> HttpResponse:
    user = request.user
    if not isinstance(user, User) or not user.has_perm("reviews.decide_items"):
        return render(request, "403.html", status=403)
    form = _form(page, request.POST, bound=True)
    if not form.is_valid():
        return _render_item(request, page, form, status=422)
    try:
        decision = decide_item(
            item_id=page.item.pk,
            reviewer=user,
            wish=form.wish(),
            report_ids=form.cleaned_data["reports"],
            last_decision_id=form.cleaned_data["last"],
        )
    except StaleDecisionError as stale:
        # What was typed stays; what was seen is now what stands, so a second try overrides knowingly.
        typed = request.POST.copy()
        typed["reports"], typed["last"] = _ids(page), str(stale.standing.pk)
        return _render_item(
            request, page, _form(page, typed, bound=True), stale=stale.standing, status=409
        )
    except NothingToDecideError:
        raise Http404 from None
    messages.success(
        request,
        _("Decided: %(action)s. %(item)s")
        % {"action": decision.get_action_display(), "item": name_controls(page.title)},
    )
    if "next" in request.POST:
        return _open_next(request, _lane_of(request, page), beside=page.item.pk)
    return redirect("review-item", page.item.pk)


def _open_next(request: HttpRequest, lane: Lane, *, beside: int | None) -> HttpResponse:
    filters = _filter_form(request, lane).filters()
    item = next_item(lane.name, filters=filters, beside=beside)
    chosen = _chosen(filters)
    if item is None:
        messages.info(request, _("That was the last one of this list."))
        return redirect(_address("review-list", lane.slug, query=urlencode(chosen)))
    query = urlencode({**chosen, "from": lane.slug})
    return redirect(_address("review-item", item.pk, query=query))


def _lane_of(request: HttpRequest, page: ItemPage) -> Lane:
    """The list that the reviewer works through: the address says, else where the item stood."""
    return BY_SLUG.get(request.GET.get("from", "")) or BY_NAME[Item.List(page.item.list)]


def _filter_form(request: HttpRequest, lane: Lane) -> FilterForm:
    return FilterForm(
        request.GET,
        pending=lane.name == Item.List.PENDING,
        policy=PolicyVersion.objects.active(),
    )


def _form(page: ItemPage, data: Any, *, bound: bool) -> DecisionForm:
    open_lists = {Item.List.PENDING, Item.List.NEEDS_REVIEW}
    return DecisionForm(
        **{"data" if bound else "initial": data},
        policy=PolicyVersion.objects.active(),
        may_reopen=page.item.list not in open_lists,
    )


def _render_item(
    request: HttpRequest,
    page: ItemPage,
    form: DecisionForm,
    *,
    status: int = 200,
    stale: Any = None,
) -> HttpResponse:
    context = {
        "page": page,
        "form": form,
        "stale": stale,
        "lane": BY_NAME[Item.List(page.item.list)],
        "may_decide": request.user.has_perm("reviews.decide_items"),
    }
    return render(request, "reviews/item.html", _with_navigation(context), status=status)


def _with_navigation(context: dict[str, Any]) -> dict[str, Any]:
    counts = count_lists()
    numbers = {lane.name: getattr(counts, lane.name.value) for lane in LANES}
    return {
        **context,
        "lanes": [(lane, numbers[lane.name]) for lane in LANES],
        "overdue": counts.overdue,
    }


def _chosen(filters: Filters) -> dict[str, str]:
    return {key: value for key, value in vars(filters).items() if value}


def _address(name: str, *args: Any, query: str) -> str:
    return reverse(name, args=args) + (f"?{query}" if query else "")


def _ids(page: ItemPage) -> str:
    return ",".join(str(each.report.pk) for each in page.shown)


def _last(page: ItemPage) -> int | None:
    return page.last_decision.pk if page.last_decision else None
