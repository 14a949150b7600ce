"""The page about one reporter, known by a report of theirs, and the invalidating of what they sent."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from classifier.models import active_policy_with_rest
from reports.invalidation import (
    DecidedJustNowError,
    Plan,
    begin_invalidation,
    carry_out,
    plan_invalidation,
    revoke_invalidation,
)
from reports.models import Invalidation, Report
from reviews.forms import read_id
from reviews.lists import BY_NAME
from reviews.reporter import read_reporter_page, reliability_sentence
from reviews.reporter_form import InvalidationForm
from reviews.roles import INVALIDATE
from reviews.views.access import may_review, person
from reviews.views.navigation import with_navigation

AT_ONCE = 2_000
"""So many reports at most while a browser waits; the command takes any number."""


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
def show_reporter(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """What is known of who sent this report; a POST plans, does or revokes an invalidation."""
    report = get_object_or_404(
        Report.objects.select_related("item__sender", "sender"), public_id=public_id
    )
    if request.method != "POST":
        return _render(request, report, InvalidationForm())
    if not request.user.has_perm(INVALIDATE):
        raise PermissionDenied
    if "revoke" in request.POST:
        return _revoke(request, report)
    form = InvalidationForm(request.POST)
    if not form.is_valid():
        return _render(request, report, form, status=422)
    plan = plan_invalidation(
        sender=report.sender, pseudonym=report.reporter_pseudonym, scope=form.scope()
    )
    if not plan.reports or plan.reports > AT_ONCE or "confirm" not in request.POST:
        return _render(request, report, form, plan=plan)
    if request.POST["confirm"] != plan.key:
        return _render(request, report, form, plan=plan, changed=True, status=409)
    return _invalidate(request, report, form, plan)


def _invalidate(
    request: HttpRequest, report: Report, form: InvalidationForm, plan: Plan
) -> HttpResponse:
    begun = begin_invalidation(
        sender=report.sender,
        pseudonym=report.reporter_pseudonym,
        scope=form.scope(),
        plan=plan,
        reason=form.cleaned_data["reason"],
        actor=person(request),
    )
    many = sum(carry_out(invalidation=begun, scope=form.scope(), plan=plan))
    said = ngettext(
        "%(many)s report counts for nothing from now on.",
        "%(many)s reports count for nothing from now on.",
        many,
    )
    messages.success(request, said % {"many": f"{many:,}"})
    return redirect(request.path)


def _revoke(request: HttpRequest, report: Report) -> HttpResponse:
    invalidation = get_object_or_404(
        Invalidation,
        pk=read_id(request.POST["revoke"]),
        sender=report.sender,
        pseudonym=report.reporter_pseudonym,
    )
    try:
        many = sum(revoke_invalidation(invalidation=invalidation, actor=person(request)))
    except DecidedJustNowError:
        said = _("A decision about one of them may still be taken back. Try again in a minute.")
        messages.error(request, said)
    else:
        said = ngettext("%(many)s report counts again.", "%(many)s reports count again.", many)
        messages.success(request, said % {"many": f"{many:,}"})
    return redirect(request.path)


def _render(  # noqa: PLR0913 - what the form came to
    request: HttpRequest,
    report: Report,
    form: InvalidationForm,
    *,
    plan: Plan | None = None,
    changed: bool = False,
    status: int = 200,
) -> HttpResponse:
    page = read_reporter_page(report, reader=person(request))
    if page is None:
        raise Http404
    context = {
        "report": report,
        "item": report.item,
        "page": page,
        "cards": [(BY_NAME[card.item.List(card.item.list)], card) for card in page.cards],
        "policy": active_policy_with_rest(),
        "upheld": reliability_sentence(page.reliability),
        "may_invalidate": request.user.has_perm(INVALIDATE),
        "form": form,
        "plan": plan,
        "changed": changed,
        "too_many": plan is not None and plan.reports > AT_ONCE,
        "at_once": AT_ONCE,
    }
    context = with_navigation(request, context)
    return render(request, "reviews/reporter.html", context, status=status)
