"""The page of saved views, and what is done with one."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from reports.models import Item
from reviews.filter_form import SavedViewForm
from reviews.filters import Filters
from reviews.lists import BY_NAME, BY_SLUG
from reviews.saved_views import (
    VIEWS_AT_MOST,
    NameTakenError,
    NotYourViewError,
    TooManyViewsError,
    remove_view,
    save_view,
    share_view,
    views_of,
)
from reviews.views.access import may_review, person
from reviews.views.navigation import address_of, with_navigation


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
def show_views(request: HttpRequest) -> HttpResponse:
    """One's own views and the shared ones with their counts; a POST saves another."""
    if request.method != "POST":
        return _render(request)
    form = SavedViewForm(request.POST)
    if not form.is_valid():
        return _render(request, form, status=422)
    listed = BY_SLUG[form.cleaned_data["list"]]
    user = person(request)
    try:
        view = save_view(
            owner=user,
            name=form.cleaned_data["name"],
            list_name=listed.name,
            filters=form.filters(),
            shared=form.cleaned_data["shared"],
        )
    except NameTakenError:
        form.add_error(
            "name", _("You have a view of this name. Choose another, or remove that one.")
        )
    except TooManyViewsError:
        said = _("You have %(many)s views, which is the most. Remove one first.")
        form.add_error(None, said % {"many": VIEWS_AT_MOST})
    else:
        messages.success(request, _("The view is saved."))
        return redirect(address_of("review-list", listed.slug, query=urlencode(view.filters)))
    return _render(request, form, status=409)


@require_POST
@never_cache
@login_required
@may_review
def change_view(request: HttpRequest, view_id: int) -> HttpResponse:
    """Share it, keep it to oneself, or remove it: `do` says which. Only one's own."""
    wanted = request.POST.get("do")
    user = person(request)
    try:
        if wanted == "remove":
            remove_view(view_id=view_id, owner=user)
        elif wanted in {"share", "keep"}:
            share_view(view_id=view_id, owner=user, shared=wanted == "share")
        else:
            return HttpResponse(status=422)
    except NotYourViewError:
        raise Http404 from None
    return redirect("review-views")


def _render(
    request: HttpRequest, form: SavedViewForm | None = None, *, status: int = 200
) -> HttpResponse:
    user = person(request)
    rows = []
    for counted in views_of(user):
        listed = BY_NAME[Item.List(counted.view.list)]
        chosen = Filters.read(counted.view.filters).chosen()
        address = address_of("review-list", listed.slug, query=urlencode(chosen))
        rows.append((counted, listed, address, counted.view.owner_id == user.pk))
    context = {"views": rows, "form": form, "viewing": True}
    return render(request, "reviews/views.html", with_navigation(request, context), status=status)
