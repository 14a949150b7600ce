"""The admin shows pending apart from judged safe, and evidence can only be read."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.pipeline import classify_report
from dev.standin.client import Standin
from reports.models import JudgedSafeReport, PendingReport, Report
from reports.nudge import Lane
from reports.tests.sending import Client, body_saying

PENDING = "/admin/reports/pendingreport/"
SAFE = "/admin/reports/judgedsafereport/"

WRONG_ANSWERS = {
    "not JSON": {"kind": "content", "content": "I think this is fine."},
    "unknown category": {"kind": "verdict", "category": "mostly_harmless"},
    "confidence 95": {"kind": "verdict", "confidence": 95},
}


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    browser = Browser()
    browser.force_login(User.objects.create_superuser("admin"))
    return browser


def page(browser: Browser, address: str) -> str:
    answer = browser.get(address)
    assert answer.status_code == 200, (address, answer.status_code)
    return answer.content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("answer", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
def test_a_wrong_answer_leaves_the_report_in_the_pending_list_with_its_reason(
    client_of_sender: Client, standin: Standin, browser: Browser, answer: dict[str, object]
) -> None:
    standin.script(answer)
    report = client_of_sender.send(body_saying("A text to find again."))
    classify_report(report_id=report.pk, lane=Lane.LIVE)

    pending = page(browser, PENDING)
    assert "A text to find again." in pending
    assert "The model&#x27;s answer was not usable." in pending
    assert "A text to find again." not in page(browser, SAFE)
    api = client_of_sender.get(f"/api/v1/reports/{report.public_id}/").json()
    assert (api["status"], api["pending_reason"]) == ("pending", "answer_invalid")
    assert api["classification"] is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy", "standin")
def test_a_report_stands_in_the_list_that_its_verdict_put_it(
    client_of_sender: Client, browser: Browser
) -> None:
    safe = client_of_sender.send(body_saying("Lunch at noon?"))
    threat = client_of_sender.send(body_saying("I will kill you tomorrow"))
    waiting = client_of_sender.send(body_saying("Nobody has read this."))
    for report in (threat, safe):  # a worker takes the more urgent first in any case
        classify_report(report_id=report.pk, lane=Lane.LIVE)

    pending, judged_safe = page(browser, PENDING), page(browser, SAFE)

    assert "Nobody has read this." in pending
    assert "Lunch at noon?" not in pending
    assert "Lunch at noon?" in judged_safe
    assert "Nobody has read this." not in judged_safe
    assert "I will kill you tomorrow" not in pending + judged_safe
    assert "None of them counts as safe" in pending
    assert "No person has looked" in judged_safe
    assert waiting.status == Report.Status.PENDING


@pytest.mark.usefixtures("policy")
def test_a_threat_that_no_worker_has_seen_stands_at_the_top_of_the_pending_list(
    client_of_sender: Client, browser: Browser
) -> None:
    for number in range(5):
        client_of_sender.send(body_saying(f"Buy cheap watches, offer {number}."))
    client_of_sender.send(body_saying("سأقتلك غدا", language="ar", reason="spam"))
    client_of_sender.send(body_saying("Buy cheap watches, the last offer."))

    pending = page(browser, PENDING)

    assert pending.index("سأقتلك غدا") < pending.index("offer 0")
    assert pending.index("offer 0") < pending.index("the last offer")
    api = client_of_sender.get(status="pending").json()["results"]
    assert len(api) == 7


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("model", [PendingReport, JudgedSafeReport, PolicyVersion])
def test_evidence_offers_no_way_to_add_change_or_delete(
    model: type, browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send()
    meta = model._meta  # type: ignore[attr-defined]
    base = f"/admin/{meta.app_label}/{meta.model_name}/"
    key = 1 if model is PolicyVersion else report.pk

    assert browser.get(f"{base}add/").status_code == 403
    assert browser.post(f"{base}{key}/delete/", {"post": "yes"}).status_code in {302, 403}
    assert browser.post(f"{base}{key}/change/", {"status": "resolved"}).status_code in {302, 403}
    assert "delete_selected" not in page(browser, base)
    report.refresh_from_db()
    assert report.status == Report.Status.PENDING


def test_pending_and_judged_safe_have_lists_of_their_own_beside_that_of_all() -> None:
    registered = {model for model in admin.site._registry if issubclass(model, Report)}

    assert registered == {Report, PendingReport, JudgedSafeReport}


@pytest.mark.usefixtures("policy")
def test_the_front_page_counts_pending_apart_from_judged_safe(
    browser: Browser, client_of_sender: Client
) -> None:
    client_of_sender.send()

    front = " ".join(page(browser, "/admin/").split())

    assert "<strong>1</strong> pending, no verdict yet" in front
    assert "<strong>0</strong> judged safe by a machine" in front


@pytest.mark.usefixtures("policy")
def test_foreign_text_is_escaped_and_its_hidden_characters_are_shown(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(
        body_saying("<script>alert(1)</script> \u202egpj.exe", comment="<b>bold</b>")
    )

    for address in (PENDING, f"{PENDING}{report.pk}/change/"):
        shown = page(browser, address)
        assert "<script>alert(1)" not in shown
        assert "&lt;script&gt;alert(1)" in shown
    assert '<span class="glyph">U+202E</span>' in shown
    assert "<b>bold</b>" not in shown


@pytest.mark.usefixtures("policy")
def test_the_list_asks_the_database_as_often_for_fifty_rows_as_for_one(
    browser: Browser, client_of_sender: Client, django_assert_max_num_queries: object
) -> None:
    client_of_sender.send(body_saying("one"))
    page(browser, PENDING)
    with django_assert_max_num_queries(12) as few:  # type: ignore[operator]
        page(browser, PENDING)
    for number in range(49):
        client_of_sender.send(body_saying(f"text {number}"))
    with django_assert_max_num_queries(12) as many:  # type: ignore[operator]
        page(browser, PENDING)

    assert len(many.captured_queries) == len(few.captured_queries)


def test_likely_retries_with_a_fresh_key_are_counted_for_their_sender(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("sent again and again")
    for _ in range(3):
        client_of_sender.send(body)

    assert '<td class="field-likely_retries">2</td>' in page(browser, "/admin/reports/sender/")
