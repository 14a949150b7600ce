"""The pause that is proposed after many severe items, and the calm page of who takes it."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from reviews.pause import PAUSE, answer_proposal
from reviews.preferences import preferences_of
from reviews.views.access import may_review, person


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
def pause(request: HttpRequest) -> HttpResponse:
    """`/review/pause/`: the answer to the proposal is posted here; who rests stays, or goes back."""
    if request.method == "POST":
        rests = "rest" in request.POST
        answer_proposal(user=person(request), rests=rests)
        back = request.POST.get("next", "")
        if rests:
            return redirect(request.path)
        safe = url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()})
        return redirect(back if safe else "review-home")
    since = preferences_of(person(request)).paused_at
    return render(request, "reviews/pause.html", {"until": since + PAUSE if since else None})
