"""Saying that an answer was a second review, and taking it back."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from reports.foreign_text import isolated
from reviews.models import DoubleReview
from reviews.quality.second import take_back_answer
from reviews.undo import NotTheirsError, TooLateError
from reviews.undo_offer import undo_tag
from reviews.views.access import decider, may_review
from reviews.views.navigation import open_item_anew


@require_POST
@never_cache
@login_required
@may_review
def undo_second(request: HttpRequest, second_id: int) -> HttpResponse:
    """Takes a second review back and opens its item again, blind, with what had been typed."""
    reviewer = decider(request)
    if reviewer is None:
        return render(request, "403.html", status=403)
    try:
        review = take_back_answer(review_id=second_id, reviewer=reviewer)
    except DoubleReview.DoesNotExist:
        raise Http404 from None
    except NotTheirsError:
        return render(request, "403.html", status=403)
    except TooLateError:
        review = DoubleReview.objects.get(pk=second_id)
        said = _("Too late to undo: your second review stands. %(item)s")
        messages.warning(request, said % {"item": _item_of(review)})
    else:
        said = _("Taken back: your second review. %(item)s")
        messages.success(request, said % {"item": _item_of(review)})
    return open_item_anew(request, review.decision.item_id)


def say_reviewed(request: HttpRequest, review: DoubleReview) -> None:
    """The line above the next page: what it was, and the way back; who is told more answers no more."""
    said = _("That was a second review. It is kept. %(item)s")
    messages.success(request, said % {"item": _item_of(review)}, extra_tags=undo_tag(review))


def _item_of(review: DoubleReview) -> str:
    return isolated(str(review.decision.item))
