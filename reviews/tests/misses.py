"""What is found by looking again, as tests make it: by an audit, and by a second review."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client as Browser
from django.utils import timezone

from classifier.models import PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.models import Action, BlindAudit, Decision, DoubleReview
from reviews.tests.people import classify, decide, judge_threat, page
from reviews.tests.quality import drawn_audit, drawn_double_review

MISSED = "/review/quality/missed/"


def send_safe(client: Client, policy: PolicyVersion, text: str, **body: Any) -> Report:
    """A report that a machine judged safe."""
    report = client.send(body_saying(text, **body))
    classify(report, policy)
    return report


def find_missed(
    browser: Browser, report: Report, *, category: str = "hate", **of_the_stratum: Any
) -> BlindAudit:
    """Draw what was judged safe, and let somebody find a violation in it."""
    audit = drawn_audit(report, **of_the_stratum)
    html = page(browser, f"/review/items/{report.item_id}/")
    answer = decide(browser, report.item, html, action="remove", category=category)
    assert answer.status_code == 302, answer.content.decode()
    audit.refresh_from_db()
    return audit


def find_harmless(browser: Browser, audit: BlindAudit) -> None:
    """Let somebody find no violation in what was drawn."""
    html = page(browser, f"/review/items/{audit.report.item_id}/")
    answer = decide(browser, audit.report.item, html, action="no_violation")
    assert answer.status_code == 302, answer.content.decode()


def look_twice(
    browser: Browser, client: Client, policy: PolicyVersion, *, category: str, said: str
) -> DoubleReview:
    """A decision in a category, and what lena said when she looked at it; blank: no violation."""
    report = client.send(body_saying("text"))
    judge_threat(report, policy)
    html = page(browser, f"/review/items/{report.item_id}/")
    decide(browser, report.item, html, action="remove", category=category)
    review = drawn_double_review(Decision.objects.latest("pk"))
    review.reviewer, _made = User.objects.get_or_create(username="lena")
    review.action = Action.objects.get(pk="remove" if said else "no_violation")
    review.category, review.agrees = said, said == category
    review.severity = review.decision.severity
    review.answered_at = timezone.now() - timedelta(hours=1)
    review.save()
    return review
