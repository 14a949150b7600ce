"""Where the item's page keeps what is typed in it."""

from http import HTTPStatus

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from reports.models import Item
from reviews.drafts import DecidedSinceError, save_draft
from reviews.forms import DraftForm
from reviews.views.access import decider, may_review
from reviews.views.navigation import address_of
from reviews.views.scripts import asks_for_json


@require_POST
@never_cache
@login_required
@may_review
def keep_draft(request: HttpRequest, item_id: int) -> HttpResponse:
    """Keep what the form says, or forget the draft where it says nothing.

    JSON: `since`, when it was kept, blank for nothing.
    """
    reviewer = decider(request)
    if reviewer is None:
        return render(request, "403.html", status=403)
    try:
        answer = keep_typed(request.POST, item_id=item_id, reviewer=reviewer)
    except Item.DoesNotExist:
        raise Http404 from None
    if asks_for_json(request):
        return answer
    if answer.status_code != HTTPStatus.OK:
        messages.error(
            request, _("The draft was not saved. Your browser's way back leads to your text.")
        )
    return redirect(address_of("review-item", item_id, query=request.GET.urlencode()))


def keep_typed(form: QueryDict, *, item_id: int, reviewer: User) -> JsonResponse:
    """Says when it was kept; 422 for what cannot be a draft, 409 for what its writer has decided since.

    Raises `Item.DoesNotExist`.
    """
    draft = DraftForm(form)
    if not draft.is_valid():
        return JsonResponse({}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        kept_at = save_draft(
            item_id=item_id,
            reviewer=reviewer,
            typed=draft.typed(),
            last_decision_id=draft.cleaned_data["last"],
        )
    except DecidedSinceError:
        return JsonResponse({}, status=HTTPStatus.CONFLICT)
    return JsonResponse({"since": kept_at.isoformat() if kept_at else ""})
