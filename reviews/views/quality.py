"""The pages about how good the work is: what is estimated, and what was missed."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from classifier.evaluation import sets_with
from classifier.models import EvaluationCase, PolicyVersion, active_policy_with_rest
from reviews.quality.like import SHOWN_AT_MOST, read_how_far, read_misses
from reviews.quality.page import QualityPage
from reviews.quality.period_form import EVER, PeriodForm
from reviews.quality.reopen import send_back
from reviews.quality.send_back_form import SendBackForm
from reviews.roles import ADD_CASE, DECIDE_ESCALATED
from reviews.views.access import may_review, may_view_quality, person
from reviews.views.navigation import address_of, with_navigation

VERSIONS_OFFERED = 50


@require_safe
@never_cache
@login_required
@may_review
@may_view_quality
def show_quality(request: HttpRequest) -> HttpResponse:
    """What audits and second reviews say of all the work, with its uncertainty."""
    versions = _versions()
    form = PeriodForm(request.GET, versions=versions)
    page = QualityPage(versions, since=form.since, version=form.policy_version)
    context = {"page": page, "form": form, "query": urlencode(form.chosen)}
    return render(request, "reviews/quality/quality.html", with_navigation(request, context))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
@may_view_quality
def show_misses(request: HttpRequest) -> HttpResponse:
    """What audits found, with its like; what is chosen of that goes back to people."""
    may_send_back = person(request).has_perm(DECIDE_ESCALATED)
    form = SendBackForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and not may_send_back:
        return render(request, "403.html", status=403)
    narrowed = PeriodForm(request.GET, versions=_versions(), period=EVER)
    query = urlencode({name: each for name, each in narrowed.chosen.items() if each != EVER})
    if form.is_valid():
        outcomes = send_back(
            audit=form.cleaned_data["audit"],
            report_ids=form.cleaned_data["report"],
            lead=person(request),
        )
        answer = with_navigation(request, {"outcomes": outcomes, "query": query})
        return render(request, "reviews/quality/sent_back.html", answer)
    try:
        page = read_misses(
            reader=person(request),
            after=request.GET.get("after", ""),
            since=narrowed.since,
            version=narrowed.policy_version,
        )
    except ValueError:  # a key that no page of ours gave: begin at the top
        return redirect(address_of("review-misses", query=query))
    context = {
        "page": page,
        "form": form,
        "narrowed": narrowed,
        "query": query,
        "how_far": "" if page.misses or query else read_how_far(),
        "may_send_back": may_send_back,
        "sets": sets_with([miss.report.pk for miss in page.misses]),
        "source": EvaluationCase.Source.AUDIT,
        "may_add": request.user.has_perm(ADD_CASE),
        "shown_at_most": SHOWN_AT_MOST,
        "policy": active_policy_with_rest(),
        "from_top": "after" not in request.GET,
    }
    status = 422 if form.is_bound else 200
    answer = with_navigation(request, context)
    return render(request, "reviews/quality/misses.html", answer, status=status)


def _versions() -> list[PolicyVersion]:
    return list(PolicyVersion.objects.order_by("-number")[:VERSIONS_OFFERED])
