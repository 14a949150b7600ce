"""Where machine and people differ, for whoever writes the policy."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from classifier.evaluation import sets_with
from classifier.models import EvaluationCase, active_policy_with_rest
from reports.models import Sender
from reviews.quality.differences import UNSURE, Kind, read_differences
from reviews.quality.differences_form import KINDS, DifferencesForm
from reviews.quality.differences_table import table_of
from reviews.roles import ADD_CASE
from reviews.views.access import may_review, may_view_quality, person
from reviews.views.navigation import SENDERS_OFFERED, address_of, with_navigation


@require_safe
@never_cache
@login_required
@may_review
@may_view_quality
def show_differences(request: HttpRequest) -> HttpResponse:
    """The differences as the address narrows them, with their counts."""
    policy = active_policy_with_rest()
    senders = Sender.objects.order_by("name").values_list("name", flat=True)[:SENDERS_OFFERED]
    form = DifferencesForm(request.GET, policy=policy, senders=senders)
    chosen = form.chosen()
    try:
        page = read_differences(
            reader=person(request), narrowed=form.narrowed(), after=request.GET.get("after", "")
        )
    except ValueError:  # a key that no page of ours gave: begin at the top
        return redirect(address_of("review-differences", query=urlencode(chosen)))
    around = {name: value for name, value in chosen.items() if name not in {"machine", "people"}}
    context = {
        "form": form,
        "chips": form.chips(),
        "page": page,
        "unsure": UNSURE,
        "table": table_of(page.counts, chosen=chosen),
        "kinds": [
            (KINDS[kind], page.count_of(kind), urlencode({**around, "kind": kind})) for kind in Kind
        ],
        "differing": sum(page.counts.values()),
        "sets": sets_with([card.report.pk for card in page.cards]),
        "source": EvaluationCase.Source.DISAGREEMENT,
        "may_add": request.user.has_perm(ADD_CASE),
        "policy": policy,
        "filtered": bool(chosen),
        "query": urlencode(chosen),
        "next": urlencode({**chosen, "after": page.after}) if page.after else "",
        "from_top": "after" not in request.GET,
    }
    return render(request, "reviews/quality/differences.html", with_navigation(request, context))
