"""Every verdict about a report stays to be seen, with what changed, on its item's page and in the admin."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from classifier.models import Classification, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again, judged_safe, next_version
from classifier.tests.situations import claim, record, send_text
from reports.models import Report
from reports.tests.sending import Client
from reports.tests.unguarded import unguarded
from reviews.tests.people import log_in, page

pytestmark = pytest.mark.django_db
HATE: dict[str, Any] = {"category": "hate", "confidence": 0.81, "summary": "A group is insulted."}


def on_page(report: Report) -> list[str]:
    """The lines of the history as text, in their order."""
    html = page(log_in("dana", "reviewer"), f"/review/items/{report.item_id}/")
    history = re.search(r'<details class="history">(.*?)</details>', html)
    return [as_text(line) for line in re.findall(r"<li>(.*?)</li>", history[1])] if history else []


def as_text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def in_admin(report: Report) -> str:
    browser = Browser()
    browser.force_login(
        User.objects.get_or_create(username="root", is_staff=True, is_superuser=True)[0]
    )
    return as_text(page(browser, f"/admin/reports/judgedsafereport/{report.pk}/change/"))


@pytest.fixture
def report(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """Judged safe under version 1, hateful under version 2 by a batch."""
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), **HATE)
    return report


def test_the_newest_stands_first_and_says_what_changed_against_the_one_before(
    report: Report,
) -> None:
    newest, first = on_page(report)

    assert newest.startswith("Policy version 2 current Hate · high · 0.81 · ")
    assert (
        "Against version 1: Category Hate, before No violation. Severity high, before none."
        " Confidence 0.81, before 0.93. The summary is another. A group is insulted."
    ) in newest
    assert first.startswith("Policy version 1 superseded No violation · none · 0.93 · ")
    assert first.endswith("Two people arrange to meet.")
    assert "Against" not in first


def test_only_what_changed_is_said(client_of_sender: Client, policy: PolicyVersion) -> None:
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), confidence=0.934)
    ask_again(report, make_batch(next_version()), confidence=0.99)

    third, second, _first = on_page(report)

    assert "Against version 1: Nothing changed." in second
    assert "Against version 2: Confidence 0.99, before 0.93. Two people" in third


def test_a_late_answer_of_an_older_version_stands_below_the_newer_one(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    late, soon = claim(report, policy), claim(report, next_version())
    record(soon, **HATE)
    record(late)

    newest, older = on_page(report)

    assert newest.startswith("Policy version 2 current")
    assert older.startswith("Policy version 1 superseded")


def test_one_verdict_has_no_history(client_of_sender: Client, policy: PolicyVersion) -> None:
    assert on_page(judged_safe(client_of_sender, policy)) == []


def test_purged_text_is_said_to_be_purged_and_not_compared(report: Report) -> None:
    Classification.objects.filter(report=report, superseded=True).update(
        purged_at="2026-11-01T10:00Z", summary=None, quotes=None
    )

    newest, first = on_page(report)

    assert "Text was purged, so the summaries cannot be compared." in newest
    assert "The summary is another." not in newest
    assert first.endswith("Its text was purged.")
    assert "Its text was purged." in in_admin(report)


def test_a_verdict_that_was_carried_over_says_from_where(report: Report) -> None:
    with unguarded() as cursor:
        cursor.execute(
            "UPDATE classifier_classification SET carried_from_id ="
            " (SELECT id FROM classifier_classification WHERE policy_version_id = 1)"
            " WHERE policy_version_id = 2"
        )

    sentence = "Carried over from policy version 1, whose content is the same; no model was asked."
    assert sentence in on_page(report)[0]
    assert sentence in in_admin(report)


def test_the_admin_shows_the_same_history(report: Report) -> None:
    html = in_admin(report)

    assert "Category Hate, before No violation. Severity high, before none." in html
    assert html.index("policy version 2") < html.index("policy version 1")
    assert "hate · high · 0.81" in html
    assert html.count("Superseded.") == 1


def test_what_a_model_wrote_is_escaped_and_its_hidden_signs_are_shown(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = judged_safe(client_of_sender, policy)
    for summary in ("<b>bold</b>\u202egpj", "calm"):
        ask_again(report, make_batch(next_version()), summary=summary)

    html = page(log_in("dana", "reviewer"), f"/review/items/{report.item_id}/")

    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert '<span class="glyph">U+202E</span>gpj' in html


def test_a_long_history_asks_the_database_no_more_often(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = judged_safe(client_of_sender, policy)
    browser, counts = log_in("dana", "reviewer"), []
    page(browser, f"/review/items/{report.item_id}/")  # takes it
    for _round in range(2):
        ask_again(report, make_batch(next_version()))
        with CaptureQueriesContext(connection) as asked:
            html = page(browser, f"/review/items/{report.item_id}/")
        counts.append((html.count("<strong>Policy version"), len(asked)))

    (two, few), (three, many) = counts
    assert (two, three, few) == (2, 3, many)
