"""Two people who decided differently about the same, as the tests of settling need them."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models.functions import Now

from classifier.evaluation import add_case, make_set
from classifier.models import EvaluationCase, PolicyVersion
from reports.models import Report, Severity
from reports.tests.sending import Client, body_saying
from reports.tests.unguarded import unguarded
from reviews.models import Decision, DoubleReview
from reviews.quality.findings import found_in
from reviews.tests.people import decide, judge_threat, log_in, page
from reviews.tests.quality import drawn_double_review


def wish(report: Report, by: str, **values: str) -> None:
    """Decide on the item's page as a reviewer does."""
    browser = log_in(by, "reviewer")
    html = page(browser, f"/review/items/{report.item_id}/")
    assert decide(browser, report.item, html, **values).status_code == 302


def differing(
    client: Client, policy: PolicyVersion, text: str = "I will find you", **second: Any
) -> DoubleReview:
    """Dana removed it for hate; an hour ago omar found no violation, unless `second` says otherwise."""
    report = client.send(body_saying(text))
    judge_threat(report, policy)
    wish(report, "dana", action="remove", category="hate", note="her note", reason="her reason")
    review = drawn_double_review(report.decisions.get())
    omar, _made = User.objects.get_or_create(username="omar")
    omar.groups.add(Group.objects.get(name="reviewer"))
    answer = {
        "reviewer": omar,
        "action_id": "no_violation",
        "severity": Severity.HIGH,
        "note": "",
        "answered_at": Now() - timedelta(hours=1),
        "agrees": False,
        **second,
    }
    DoubleReview.objects.filter(pk=review.pk).update(**answer)
    review.refresh_from_db()
    return review


def hold_a_case(review: DoubleReview) -> EvaluationCase:
    """The first decision took effect an hour ago: its report is a case of one of two sets."""
    in_effect(review.decision)
    dana = review.decision.reviewer
    golden, _empty = (
        make_set(name=name, description="", actor=dana) for name in ("golden", "empty")
    )
    report = review.decision.reports.get()
    case, _added = add_case(
        report=report,
        evaluation_set=golden,
        source=EvaluationCase.Source.DISAGREEMENT,
        found=found_in(report),
        actor=dana,
    )
    return case


def in_effect(decision: Decision) -> None:
    """The time to undo is over for it."""
    with transaction.atomic(), unguarded() as cursor:
        cursor.execute(
            "UPDATE reviews_decision SET created_at = created_at - interval '1 hour',"
            " effective_at = effective_at - interval '1 hour' WHERE id = %s",
            [decision.pk],
        )


NO_ANSWER = {
    "reviewer": None,
    "action_id": None,
    "severity": None,
    "answered_at": None,
    "agrees": None,
}
AGREES = {"action_id": "warn", "category": "hate", "agrees": True}
