"""What two people decided differently, for leads to settle."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from classifier.models import active_policy_with_rest
from reports.foreign_text import show_controls
from reports.models import Item
from reviews.claims import HeldByAnotherError
from reviews.models import Decision, DoubleReview
from reviews.quality.calibration import read_calibration
from reviews.quality.settle import NotSettledError, settle
from reviews.roles import DECIDE_ESCALATED
from reviews.undo_offer import undo_tag
from reviews.views.access import may_review, may_settle, may_view_quality, person
from reviews.views.navigation import address_of, with_navigation

Side = DoubleReview.Side


@require_safe
@never_cache
@login_required
@may_review
@may_view_quality
def show_calibration(request: HttpRequest) -> HttpResponse:
    """Both answers beside the text, the most severe first."""
    try:
        page = read_calibration(reader=person(request), after=request.GET.get("after", ""))
    except ValueError:  # a key that no page of ours gave: begin at the top
        return redirect(request.path)
    context = {
        "page": page,
        "policy": active_policy_with_rest(),
        "may_settle": request.user.has_perm(DECIDE_ESCALATED),
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/quality/calibration.html", with_navigation(request, context))


@require_POST
@never_cache
@login_required
@may_review
@may_view_quality
@may_settle
def settle_one(request: HttpRequest, review_id: int) -> HttpResponse:
    """The answer that stands, by the button that was pressed."""
    side = request.POST.get("side")
    if side not in {Side.FIRST, Side.SECOND}:
        return HttpResponse(status=422)
    try:
        decided = settle(review_id=review_id, lead=person(request), side=Side(side))
    except DoubleReview.DoesNotExist:
        raise Http404 from None
    except NotSettledError as refused:
        messages.warning(request, _("Not settled. %(why)s") % {"why": refused})
    except HeldByAnotherError as held:
        said = _("Not settled. <bdi>{who}</bdi> has the item in hand.")
        messages.warning(request, format_html(said, who=held.claim.reviewer.get_username()))
    else:
        offer = undo_tag(Decision.objects.get(pk=decided.pk)) if decided else ""
        messages.success(request, _settled(review_id, decided), extra_tags=offer)
    return redirect(address_of("review-calibration", query=request.GET.urlencode()))


def _settled(review_id: int, decided: Decision | None) -> SafeString:
    """What was settled, and of which item."""
    item = Item.objects.get(decisions__double_review=review_id)
    address = reverse("review-item", args=[item.pk])
    named = [show_controls(item.type), show_controls(item.external_id)]
    link = format_html('<a href="{}"><bdi>{}</bdi> <bdi>{}</bdi></a>', address, *named)
    return format_html("{} {}", _stands(decided), link)


def _stands(decided: Decision | None) -> str:
    if decided is None:
        return _("Settled: the first answer stands.")
    if decided.kind == Decision.Kind.PROPOSAL:
        return _("Settled for the second answer. A different person must approve it.")
    return _("Settled: the second answer stands.")
