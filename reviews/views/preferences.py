"""How a person works with the desk."""

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from reviews.preferences import set_single_keys
from reviews.views.access import may_review


@require_POST
@login_required
@may_review
def switch_keys(request: HttpRequest) -> HttpResponse:
    """Single letters on or off, and back to the page that had the switch."""
    assert isinstance(request.user, User)  # noqa: S101 - logged in
    set_single_keys(user=request.user, on=request.POST.get("single_keys") == "on")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = "review-home"
    return redirect(back)
