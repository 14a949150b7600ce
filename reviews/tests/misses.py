"""A found miss, as tests make it: judged safe by a machine, drawn, and upheld by a person."""

from typing import Any

from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.models import BlindAudit
from reviews.tests.people import classify, decide, page
from reviews.tests.quality import drawn_audit

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
