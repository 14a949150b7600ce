"""An item's page: content first, the machine after, and the story in sentences."""

import pytest
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.tests.sending import Client, body_saying, report_body
from reviews.item import SHOWN_REPORTS
from reviews.tests.people import classify, decide, form_of, judge_threat, log_in, page


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def message(number: int, text: str, *, reported: bool = False) -> dict[str, object]:
    return {
        "id": f"m-{number}",
        "author_id": f"u-{number % 2}",
        "sent_at": f"2026-11-01T10:0{number}:00Z",
        "text": text,
        "reported": reported,
    }


def test_it_shows_the_conversation_with_the_reported_message_and_the_quotes_marked(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    talk = [
        message(1, "Leave my sister alone."),
        message(2, "I will wait at the school gate tomorrow.", reported=True),
        message(3, "I am telling the school."),
    ]
    report = client_of_sender.send(report_body(messages=talk, comment="he knows where I live"))
    judge_threat(report, policy, quotes=["at the school gate"])

    html = page(browser, f"/review/items/{report.item_id}/")

    assert html.count('<li class="reported">') == 1
    assert "I will wait <mark>at the school gate</mark> tomorrow." in html
    assert "he knows where I live" in html
    assert html.index("What was reported") < html.index("What the model answered")
    assert "Machine output, policy version 1. It does not decide." in html
    assert "Credible threat" in html
    assert "0.91" in html
    assert "The model found a violation." in html
    for line in ("Received from <bdi>chat-app</bdi>.", "Classified under policy version 1"):
        assert line in html


def test_it_tells_whose_item_it_is_and_where_it_stands(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(
        report_body(
            item={
                "type": "post",
                "id": "p-1",
                "author_id": "u-77",
                "url": "https://app.example/p-1",
            },
            metadata={"app": "ios", "build": 12},
        )
    )

    html = page(browser, f"/review/items/{report.item_id}/")

    assert '<a href="https://app.example/p-1" rel="noreferrer noopener"' in html
    for fact in ("u-77", str(report.public_id), "ios", "12", "chat-app"):
        assert fact in html
    answer = browser.get(f"/review/items/{report.item_id}/")
    assert "no-store" in answer["Cache-Control"]


def test_a_pending_item_says_why_it_waits_and_can_be_decided_all_the_same(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("waits"))

    html = page(browser, f"/review/items/{report.item_id}/")

    assert "No verdict yet." in html
    assert "It waits for a worker." in html
    assert 'name="action"' in html


def test_a_judged_safe_item_says_that_no_person_has_looked(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("harmless"))
    classify(report, policy)

    html = page(browser, f"/review/items/{report.item_id}/")

    assert "A machine judged it safe. No person has looked at it." in html
    assert 'value="reopen"' in html


def test_the_same_conversation_is_shown_once_and_each_reporter_is_heard(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("said once")
    for comment in ("rude", "mean", "cruel"):
        report = client_of_sender.send({**body, "comment": comment})

    html = page(browser, f"/review/items/{report.item_id}/")

    assert html.count("said once") == 1
    assert all(comment in html for comment in ("rude", "mean", "cruel"))


def test_reports_that_are_not_shown_are_counted_and_left_alone_by_the_decision(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("piled on")
    for _ in range(SHOWN_REPORTS + 2):
        report = client_of_sender.send(body)
    address = f"/review/items/{report.item_id}/"

    html = page(browser, address)
    assert "2 more reports of this item are not shown." in html
    assert len(form_of(html)["reports"].split(",")) == SHOWN_REPORTS
    decide(browser, report.item, html, action="no_violation")

    statuses = list(report.item.reports.values_list("status", flat=True))
    assert statuses.count("resolved") == SHOWN_REPORTS
    assert statuses.count("pending") == 2
    assert "2 reports shown here" in page(browser, address) or "more reports" in page(
        browser, address
    )


def test_it_asks_as_often_for_twenty_reports_as_for_one(
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    django_assert_max_num_queries: object,
) -> None:
    body = body_saying("piled on")
    report = client_of_sender.send(body)
    judge_threat(report, policy)
    address = f"/review/items/{report.item_id}/"
    decide(browser, report.item, page(browser, address), action="remove", category="hate")
    counts = []
    for more in (0, SHOWN_REPORTS - 1):
        for _ in range(more):
            judge_threat(client_of_sender.send(body), policy)
        page(browser, address)  # takes it
        with django_assert_max_num_queries(14) as asked:  # type: ignore[operator]
            page(browser, address)
        counts.append(len(asked.captured_queries))

    assert counts[0] == counts[1]


def test_what_is_escalated_to_others_asks_no_more_than_any_page(
    browser: Browser, client_of_sender: Client, django_assert_max_num_queries: object
) -> None:
    report = client_of_sender.send(body_saying("for a lead"))
    address = f"/review/items/{report.item_id}/"
    decide(browser, report.item, page(browser, address), action="escalate")
    page(browser, address)  # says what was decided
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page(browser, address)


def test_an_unknown_item_is_a_page_that_says_so(browser: Browser) -> None:
    assert "There is no such page" in page(browser, "/review/items/4711/", status=404)


def test_a_report_that_was_read_in_parts_says_so_and_which_decided(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("I will kill you tomorrow."))
    call = {"messages": [[1, 40], [52, 52]], "parts": {"52": "1/3"}, "category": "none",
            "confidence": 0.9, "prompt_tokens": 900, "completion_tokens": 9, "seconds": 1.0}  # fmt: skip
    calls = [{**call, "part": "1 of 8"}, {**call, "part": "3 of 8", "category": "credible_threat"}]
    judge_threat(report, policy, calls=calls)

    html = page(browser, f"/review/items/{report.item_id}/")
    assert "the last one that counted was 3 of 8." in html
