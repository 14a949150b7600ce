"""Evaluation sets: what is in them, what is added and taken out, and the file for the release gate."""

import json
from collections.abc import Iterator

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from classifier.evaluation import CaseRefusedError, add_case, lines_of, make_set, remove_case
from classifier.models import EvaluationCase, EvaluationSet, active_policy_with_rest
from reports.foreign_text import isolated
from reports.models import Report
from reviews.quality.evaluation import count_cases, read_cases
from reviews.quality.evaluation_forms import CaseForm, SetForm
from reviews.quality.findings import NothingFoundError, found_in
from reviews.roles import ADD_CASE
from reviews.views.access import may_add_cases, may_review, may_view_quality, person
from reviews.views.navigation import with_navigation


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
@may_review
@may_view_quality
def show_sets(request: HttpRequest) -> HttpResponse:
    """Every set with its counts; a POST makes another."""
    if request.method != "POST":
        return _render_sets(request, SetForm())
    if not request.user.has_perm(ADD_CASE):
        return render(request, "403.html", status=403)
    form = SetForm(request.POST)
    if not form.is_valid():
        return _render_sets(request, form, status=422)
    made = make_set(**form.cleaned_data, actor=person(request))
    messages.success(request, _("The set %(name)s is made.") % {"name": isolated(made.name)})
    return redirect("review-evaluation")


@require_safe
@never_cache
@login_required
@may_review
@may_view_quality
def show_set(request: HttpRequest, set_name: str) -> HttpResponse:
    """One set's cases, the newest first."""
    evaluation_set = get_object_or_404(EvaluationSet, name=set_name)
    try:
        page = read_cases(evaluation_set, after=request.GET.get("after", ""))
    except ValueError:  # a key that no page of ours gave: begin at the top
        return redirect(request.path)
    (counted,) = count_cases([evaluation_set])
    context = {
        "counted": counted,
        "page": page,
        "policy": active_policy_with_rest(),
        "may_add": request.user.has_perm(ADD_CASE),
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/quality/evaluation_set.html", with_navigation(request, context))


@require_safe
@never_cache
@login_required
@may_review
@may_view_quality
def download_set(request: HttpRequest, set_name: str) -> StreamingHttpResponse:  # noqa: ARG001
    """Its cases as JSON lines, as `manage.py export_evaluation_set` writes them."""
    evaluation_set = get_object_or_404(EvaluationSet, name=set_name)
    answer = StreamingHttpResponse(_lines(evaluation_set), content_type="application/jsonl")
    answer["Content-Disposition"] = f'attachment; filename="{evaluation_set.name}.jsonl"'
    return answer


def _lines(evaluation_set: EvaluationSet) -> Iterator[str]:
    for line in lines_of(evaluation_set):
        yield f"{json.dumps(line, ensure_ascii=False)}\n"


@require_POST
@never_cache
@login_required
@may_review
@may_view_quality
@may_add_cases
def add_to_set(request: HttpRequest) -> HttpResponse:
    """Add a report to a set with what people found in it, and go back to where the button stood."""
    form = CaseForm(request.POST)
    if not form.is_valid():
        return HttpResponse(status=422)
    wanted = form.cleaned_data
    report = get_object_or_404(Report, public_id=wanted["report"])
    evaluation_set = get_object_or_404(EvaluationSet, name=wanted["set"])
    name = isolated(evaluation_set.name)
    try:
        _case, added = add_case(
            report=report,
            evaluation_set=evaluation_set,
            source=EvaluationCase.Source(wanted["source"]),
            found=found_in(report),
            actor=person(request),
        )
    except NothingFoundError:
        messages.warning(
            request, _("Not added: no decision about this report is in effect. Try again later.")
        )
    except CaseRefusedError as refused:
        messages.warning(request, _("Not added. %(why)s") % {"why": refused})
    else:
        said = _("Added to %(name)s.") if added else _("It stands in %(name)s already.")
        messages.success(request, said % {"name": name})
    back: str = wanted["next"]
    ours = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return redirect(back if ours else reverse("review-evaluation"))


@require_POST
@never_cache
@login_required
@may_review
@may_view_quality
@may_add_cases
def take_out(request: HttpRequest, case_id: int) -> HttpResponse:
    """Take a case out of its set."""
    try:
        case = remove_case(case_id=case_id, actor=person(request))
    except EvaluationCase.DoesNotExist:
        raise Http404 from None
    name = isolated(case.set.name)
    messages.success(request, _("Taken out of %(name)s.") % {"name": name})
    return redirect("review-evaluation-set", case.set.name)


def _render_sets(request: HttpRequest, form: SetForm, *, status: int = 200) -> HttpResponse:
    context = {
        "counted": count_cases(EvaluationSet.objects.order_by("name")),
        "form": form,
        "policy": active_policy_with_rest(),
        "may_add": request.user.has_perm(ADD_CASE),
    }
    return render(
        request, "reviews/quality/evaluation.html", with_navigation(request, context), status=status
    )
