"""The page on which a reviewer chooses how they work."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from classifier.models import PolicyVersion
from reports.foreign_text import isolated
from reviews.forms import PreferencesForm
from reviews.opting_out import nobody_takes
from reviews.preferences import preferences_of, save_preferences, set_single_keys
from reviews.views.access import may_review, person
from reviews.views.navigation import with_navigation
from reviews.words import category_name


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
def show_preferences(request: HttpRequest) -> HttpResponse:
    """`/review/preferences/`."""
    policy = PolicyVersion.objects.active()
    sent = request.POST if request.method == "POST" else None
    form = PreferencesForm(sent, standing=preferences_of(person(request)), policy=policy)
    if sent is not None and form.is_valid():
        save_preferences(user=person(request), choices=form.choices(), offered=form.offered)
        messages.success(request, _("Saved."))
        if untaken := set(nobody_takes(policy)) & set(form.choices().opted_out):
            names = ", ".join(sorted(category_name(each, policy) for each in untaken))
            said = _(
                "Nobody is handed any more: %(names)s. Such items wait until somebody opens them."
            )
            messages.warning(request, said % {"names": isolated(names)})
        return redirect(request.path)
    context = {"form": form, "policy": policy}
    return render(
        request,
        "reviews/preferences.html",
        with_navigation(request, context),
        status=422 if form.is_bound else 200,
    )


@require_POST
@login_required
@may_review
def switch_keys(request: HttpRequest) -> HttpResponse:
    """Single letters on or off, and back to the page that had the switch."""
    set_single_keys(user=person(request), on=request.POST.get("single_keys") == "on")
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts={request.get_host()}):
        back = "review-home"
    return redirect(back)
