"""Deciding: one transaction with its audit row, for what the page showed, never over a newer decision."""

import re
from typing import Any

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item, Report
from reports.tests.sending import Client, body_saying, store_instead
from reviews.item import SHOWN_REPORTS
from reviews.models import Decision
from reviews.tests.people import (
    classify,
    decide,
    form_of,
    judge_threat,
    log_in,
    page,
    time_runs_out,
)

pytestmark = pytest.mark.usefixtures("policy")


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def at_once(settings: Settings) -> None:
    """Decisions are in effect at once."""
    settings.UNDO_SECONDS = 0


def read(browser: Browser, report: Report) -> str:
    return page(browser, f"/review/items/{report.item_id}/")


def in_api(client: Client, report: Report) -> Any:
    return client.get(f"/api/v1/reports/{report.public_id}/").json()


def test_a_decision_resolves_the_item_and_leaves_one_audit_row(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    body = body_saying("a threat")
    reports = [client_of_sender.send(body) for _ in range(2)]
    for report in reports:
        judge_threat(report, policy)

    answer = decide(
        browser,
        reports[0].item,
        read(browser, reports[0]),
        action="remove",
        category="credible_threat",
        note="seen before",
        reason="You threatened someone.",
    )

    assert answer.status_code == 302
    assert Item.objects.get().list == Item.List.RESOLVED
    assert set(Report.objects.values_list("status", flat=True)) == {"resolved"}
    decision = Decision.objects.get()
    assert decision.reports.count() == 2
    entry = AuditEntry.objects.get(action="decided")
    assert (entry.actor_name, entry.detail["action"]) == ("dana", "remove")
    assert "seen before" not in str(entry.detail)


@pytest.mark.parametrize("sign", ["-", "=", "+", "@", "\t"])
def test_a_note_may_begin_with_any_sign(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion, sign: str
) -> None:
    # What a spreadsheet would take for a formula is an export's care, not the form's.
    report = client_of_sender.send(body_saying("a threat"))
    judge_threat(report, policy)
    said = f"{sign}1+1, he says"

    decide(browser, report.item, read(browser, report), action="no_violation", note=f"so: {said}")
    html = read(browser, report)

    assert Decision.objects.get().note == f"so: {said}"
    answer = decide(browser, report.item, html, action="reopen", note=said)
    assert answer.status_code == 302
    assert (Decision.objects.latest("pk").note or "").strip() == said.strip()


@pytest.mark.usefixtures("at_once")
def test_the_sender_reads_the_decision_but_never_who_decided(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("spammy"))
    decide(
        browser,
        report.item,
        read(browser, report),
        action="remove",
        category="spam",
        note="by dana",
    )

    seen = in_api(client_of_sender, report)

    assert seen["status"] == "resolved"
    assert seen["decision"]["action"] == "remove"
    assert seen["decision"]["category"] == "spam"
    assert "dana" not in str(seen)


@pytest.mark.usefixtures("at_once")
def test_a_stale_form_gets_409_with_who_decided_what_and_keeps_the_typed_text(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("contested"))
    seen_before = read(browser, report)
    time_runs_out()
    omar = log_in("omar", "reviewer")
    decide(omar, report.item, read(omar, report), action="warn", category="harassment")

    answer = decide(
        browser,
        report.item,
        seen_before,
        action="remove",
        category="hate",
        note="a long note, typed with care",
    )

    html = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert re.search(
        r"Before you, [^<]*: <bdi>omar</bdi> decided: warn. Harassment.</strong>", html
    )
    assert "submitting it now overrides that decision" in html
    assert "a long note, typed with care" in html
    assert Decision.objects.count() == 1

    again = decide(browser, report.item, html, action="remove", category="hate", note="still")
    assert again.status_code == 302
    latest = Decision.objects.latest("id")
    assert latest.overrides is not None
    assert latest.overrides.reviewer.username == "omar"
    assert in_api(client_of_sender, report)["decision"]["action"] == "remove"


def test_two_people_at_once_leave_one_decision_and_one_409(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("contested"))
    html = read(browser, report)

    answers = [
        decide(one, report.item, html, action="no_violation").status_code
        for one in (browser, log_in("omar", "reviewer"))
    ]

    assert sorted(answers) == [302, 409]


def test_reopening_sends_the_item_back_to_review_and_takes_the_decision_out_of_effect(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("too harsh"))
    decide(browser, report.item, read(browser, report), action="restrict", category="hate")

    decide(browser, report.item, read(browser, report), action="reopen")

    assert Item.objects.get().list == Item.List.NEEDS_REVIEW
    assert in_api(client_of_sender, report)["decision"] is None
    assert "decided: back to review. It overrides the decision of <bdi>dana</bdi>." in read(
        browser, report
    )


def test_a_judged_safe_item_can_be_sent_to_review(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("not so harmless"))
    classify(report, policy)

    decide(browser, report.item, read(browser, report), action="reopen")

    assert Item.objects.get().list == Item.List.NEEDS_REVIEW


def test_a_report_that_came_after_the_page_was_read_is_not_decided_with_the_others(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("grows")
    report = client_of_sender.send(body)
    html = read(browser, report)
    later = client_of_sender.send(body)

    decide(browser, report.item, html, action="no_violation")

    later.refresh_from_db()
    assert later.status == Report.Status.PENDING
    assert Item.objects.get().list == Item.List.PENDING


def test_submit_and_next_opens_the_next_item_of_the_list_it_came_from(
    browser: Browser, client_of_sender: Client
) -> None:
    first = client_of_sender.send(body_saying("I will kill you tomorrow"))
    second = client_of_sender.send(body_saying("second"))
    address = f"/review/items/{first.item_id}/?from=pending"
    html = page(browser, address)
    fields = {"action": "remove", "category": "credible_threat", "next": ""}

    answer = browser.post(address, {**form_of(html), **fields})

    assert answer["Location"] == f"/review/items/{second.item_id}/?from=pending"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"action": "remove"}, "Choose the category that the content breaks."),
        ({}, "This field is required."),
        ({"action": "banish"}, "Select a valid choice."),
        ({"action": "reopen"}, "Select a valid choice."),
        ({"action": "no_violation", "reports": "x"}, "The form is broken. Open the item again."),
        ({"action": "no_violation", "reports": "9" * 30}, "The form is broken."),
        ({"action": "no_violation", "reports": "1," * 30 + "1"}, "The form is broken."),
        ({"action": "no_violation", "note": "n" * 5_001}, "at most 5000 characters"),
    ],
)
def test_a_form_that_cannot_be_taken_says_what_to_do_and_keeps_the_text(
    browser: Browser, client_of_sender: Client, fields: dict[str, str], sentence: str
) -> None:
    report = client_of_sender.send(body_saying("x"))

    answer = decide(
        browser, report.item, read(browser, report), **{"reason": "typed text", **fields}
    )

    html = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in html
    assert "typed text" in html
    assert not Decision.objects.exists()


def test_reports_of_another_item_cannot_be_decided_through_this_one(
    browser: Browser, client_of_sender: Client
) -> None:
    mine, other = (client_of_sender.send(body_saying(text)) for text in ("mine", "other"))

    answer = decide(
        browser, mine.item, read(browser, mine), action="no_violation", reports=str(other.pk)
    )

    assert answer.status_code == 404
    other.refresh_from_db()
    assert other.status == Report.Status.PENDING


def test_a_late_verdict_leaves_a_resolved_item_where_it_stands_in_its_list(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = [client_of_sender.send(body_saying(text)) for text in ("first", "second")]
    for report in reports:
        decide(browser, report.item, read(browser, report), action="no_violation")

    classify(reports[0], policy)

    resolved = Item.objects.order_by("-resolved_at").values_list("pk", flat=True)
    assert list(resolved) == [reports[1].item_id, reports[0].item_id]
    assert Item.objects.filter(list=Item.List.RESOLVED).count() == 2


@pytest.mark.usefixtures("at_once")
def test_a_later_decision_counts_for_all_that_the_earlier_one_was_about(
    browser: Browser, client_of_sender: Client
) -> None:
    """More reports than a page shows: nobody is told one thing and the others another."""
    body = body_saying("piled on")
    reports = [client_of_sender.send(body) for _ in range(SHOWN_REPORTS + 2)]
    item = reports[0].item
    for action in ("remove", "no_violation"):
        decide(browser, item, read(browser, reports[0]), action=action, category="hate")

    told = {in_api(client_of_sender, report)["decision"]["action"] for report in reports}
    assert told == {"no_violation"}
    decide(browser, item, read(browser, reports[0]), action="reopen")
    assert set(Report.objects.values_list("status", flat=True)) == {"needs_review"}


def test_the_same_wish_sent_twice_is_one_decision_and_no_conflict(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("double click"))
    html = read(browser, report)

    answers = [
        decide(browser, report.item, html, action="remove", category="hate").status_code
        for _click in range(2)
    ]

    assert answers == [302, 302]
    assert Decision.objects.count() == AuditEntry.objects.filter(action="decided").count() == 1


def test_the_same_wish_about_a_further_report_is_no_repetition(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("two windows")
    first = client_of_sender.send(body)
    early = read(browser, first)
    second = client_of_sender.send(body)
    late = read(browser, first)

    answers = [
        decide(browser, first.item, html, action="no_violation").status_code
        for html in (early, late)
    ]

    assert answers == [302, 409]
    second.refresh_from_db()
    assert second.status == Report.Status.PENDING


def test_a_report_whose_content_cannot_be_read_is_not_decided_with_the_others(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("readable")
    readable, broken = client_of_sender.send(body), client_of_sender.send(body)
    store_instead(broken, [])

    decide(browser, readable.item, read(browser, readable), action="no_violation")

    broken.refresh_from_db()
    assert broken.status == Report.Status.PENDING


def test_after_a_refused_form_the_page_and_its_form_speak_of_the_same_reports(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("grows")
    report = client_of_sender.send(body)
    html = read(browser, report)
    later = client_of_sender.send(body)

    answer = decide(browser, report.item, html, action="remove")

    again = " ".join(answer.content.decode().split())
    assert "2 reports shown here" in again
    assert form_of(again)["reports"] == f"{report.pk},{later.pk}"


def test_what_people_did_is_told_where_the_item_stands(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("not so harmless"))
    classify(report, policy)
    decide(
        browser, report.item, read(browser, report), action="reopen", note="look at \u202ethe slang"
    )

    for address in ("/review/needs-review/", f"/review/items/{report.item_id}/"):
        html = page(browser, address)
        assert "<bdi>dana</bdi> sent it back to review." in html
        assert 'look at <span class="glyph">U+202E</span>the slang' in html
    decide(browser, report.item, read(browser, report), action="remove", category="hate")
    assert "<bdi>dana</bdi> decided: remove. Hate." in page(browser, "/review/resolved/")


def test_a_reviewer_can_go_back_to_the_narrowed_list_or_on_without_deciding(
    browser: Browser, client_of_sender: Client
) -> None:
    first, second = (client_of_sender.send(body_saying(text)) for text in ("one", "two"))
    client_of_sender.send(body_saying("autre", language="fr"))
    here = f"/review/items/{first.item_id}/?from=pending&language=en"

    for following in (f"/review/items/{second.item_id}/?language=en&from=pending", None):
        html = page(browser, here)
        assert 'href="/review/pending/?language=en"' in html
        skip = re.search(r'action="([^"]*/skip/[^"]*)"', html)
        assert skip is not None
        answer = browser.post(skip[1].replace("&amp;", "&"))
        here = following or "/review/pending/?language=en"
        assert answer["Location"] == here
    assert Decision.objects.count() == 0
