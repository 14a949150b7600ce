"""The four lists: what stands where, in which order, how it is narrowed and paged."""

import re

import pytest
from django.test import Client as Browser

from classifier.models import Job, PolicyVersion, WaitingReason
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying, make_sender
from reviews.queue import PAGE
from reviews.tests.people import classify, decide, fill_list, judge_threat, log_in, page

PENDING, REVIEW, SAFE, RESOLVED = (
    f"/review/{slug}/" for slug in ("pending", "needs-review", "safe", "resolved")
)


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def excerpts(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def test_each_item_stands_in_exactly_one_list(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    client_of_sender.send(body_saying("waits"))
    judge_threat(client_of_sender.send(body_saying("threat")), policy)
    classify(client_of_sender.send(body_saying("harmless")), policy)
    decided = client_of_sender.send(body_saying("decided"))
    address = f"/review/items/{decided.item_id}/"
    decide(browser, decided.item, page(browser, address), action="no_violation")

    lists = {
        address: excerpts(page(browser, address)) for address in (PENDING, REVIEW, SAFE, RESOLVED)
    }

    assert lists == {
        PENDING: ["waits"],
        REVIEW: ["threat"],
        SAFE: ["harmless"],
        RESOLVED: ["decided"],
    }


def test_each_list_says_what_it_is_and_counts_stand_in_the_navigation(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    client_of_sender.send(body_saying("waits"))
    classify(client_of_sender.send(body_saying("harmless")), policy)

    pending, safe = page(browser, PENDING), page(browser, SAFE)

    assert "None of them counts as safe" in pending
    assert "It waits for a worker." in pending
    assert "A machine judged these safe. No person has looked at them." in safe
    assert "Policy version 1: safe with confidence 0.93." in safe
    for html in (pending, safe):
        assert 'Pending <span class="count">1</span>' in html
        assert 'Judged safe <span class="count">1</span>' in html
        assert 'Needs review <span class="count">0</span>' in html


def test_the_most_severe_stands_first_and_then_the_oldest(
    browser: Browser, client_of_sender: Client
) -> None:
    for text in ("first", "second"):
        client_of_sender.send(body_saying(text))
    client_of_sender.send(body_saying("I will kill you tomorrow"))
    client_of_sender.send(body_saying("third"))

    assert excerpts(page(browser, PENDING)) == [
        "I will kill you tomorrow",
        "first",
        "second",
        "third",
    ]


def test_several_reports_on_one_item_are_one_card_with_their_number(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("the same message")
    for _ in range(3):
        client_of_sender.send(body)

    html = page(browser, PENDING)

    assert excerpts(html) == ["the same message"]
    assert "3 reports" in html
    assert 'Pending <span class="count">1</span>' in html
    assert Report.objects.values("pk").distinct().count() == 3


def test_overdue_and_the_reason_are_badges_and_not_the_order(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    late = make_sender("slow-app", budget_seconds=0.001).send(body_saying("late"))
    client_of_sender.send(body_saying("I will kill you tomorrow"))
    Job.objects.create(
        report=late, policy_version=policy, reason=WaitingReason.MODEL_REFUSED, parked=True
    )

    html = page(browser, PENDING)

    assert excerpts(html) == ["I will kill you tomorrow", "late"]
    assert html.count('<span class="tag critical">Overdue</span>') == 1
    assert "The model refused to judge this content." in html
    assert "1 overdue" in html
    assert html.count('<span class="tag critical">Needs a person</span>') == 1
    assert excerpts(page(browser, f"{PENDING}?waiting=parked")) == ["late"]


def test_overdue_counts_items_of_this_list_and_not_their_reports(
    browser: Browser, policy: PolicyVersion
) -> None:
    slow = make_sender("slow-app", budget_seconds=0.001)
    body = body_saying("late")
    for _ in range(3):
        slow.send(body)
    other = body_saying("in review")
    judge_threat(slow.send(other), policy)
    slow.send(other)

    assert "1 overdue" in page(browser, PENDING)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("language=ar", ["عربي"]),
        ("language=en", ["english"]),
        ("sender=other-app", ["of another"]),
        ("reason=hate", ["hateful"]),
        ("category=spam", ["salesy"]),
        ("reason=hate&language=ar", []),
    ],
)
def test_filters_stand_in_the_address_and_narrow_the_list(
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    query: str,
    expected: list[str],
) -> None:
    spam = {"category": "spam", "severity": 1, "safe": False, "rules": ["unsafe_category"]}
    other = {"category": "other", "severity": 1, "safe": False, "rules": ["unsafe_category"]}
    rows = [
        (client_of_sender, body_saying("عربي", language="ar-EG"), other),
        (client_of_sender, body_saying("english", language="en"), other),
        (client_of_sender, body_saying("hateful", language="de", reason="hate"), other),
        (client_of_sender, body_saying("salesy", language="fr"), spam),
        (make_sender("other-app"), body_saying("of another", language="it"), other),
    ]
    for client, body, verdict in rows:
        classify(client.send(body), policy, **verdict)

    html = page(browser, f"{REVIEW}?{query}")

    assert excerpts(html) == expected
    if not expected:
        assert "Nothing in this list matches the filter." in html


def test_pending_is_narrowed_by_why_it_waits(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    client_of_sender.send(body_saying("fresh"))
    refused = client_of_sender.send(body_saying("refused"))
    Job.objects.create(
        report=refused, policy_version=policy, reason=WaitingReason.MODEL_REFUSED, parked=True
    )

    assert excerpts(page(browser, f"{PENDING}?waiting=model_refused")) == ["refused"]


@pytest.mark.parametrize("lane", [PENDING, RESOLVED])
def test_pages_follow_a_key_and_show_every_item_once_while_the_list_moves(
    browser: Browser, client_of_sender: Client, lane: str
) -> None:
    count = PAGE * 2 + 3
    for number in range(count):
        report = client_of_sender.send(body_saying(f"text {number:03}"))
        if lane == RESOLVED:
            address = f"/review/items/{report.item_id}/"
            decide(browser, report.item, page(browser, address), action="no_violation")
    seen: list[str] = []
    address, pages = lane, 0
    while address:
        html = page(browser, address)
        seen += excerpts(html)
        pages += 1
        if pages == 1 and lane == PENDING:  # a threat arrives above what was read
            client_of_sender.send(body_saying("I will kill you tomorrow"))
        following = re.search(r'href="(\?[^"]*after=[^"]*)">Next page', html)
        address = lane + following[1].replace("&amp;", "&") if following else ""

    expected = [f"text {number:03}" for number in range(count)]
    assert seen == (expected if lane == PENDING else expected[::-1])
    assert pages == 3


@pytest.mark.parametrize(
    "key", ["x", "1", "1.2", "9.9.9.9", "4.99999999999999999999.1", "-1.-1.-1"]
)
def test_a_page_key_that_was_never_given_out_begins_at_the_top(browser: Browser, key: str) -> None:
    answer = browser.get(f"{PENDING}?after={key}")

    assert answer.status_code in {200, 302}


def test_start_opens_the_top_item_of_the_narrowed_list_and_says_when_there_is_none(
    browser: Browser, client_of_sender: Client
) -> None:
    client_of_sender.send(body_saying("one", language="en"))
    arabic = client_of_sender.send(body_saying("اثنان", language="ar"))

    answer = browser.post(f"{PENDING}start/?language=ar")
    assert answer["Location"] == f"/review/items/{arabic.item_id}/?language=ar&from=pending"

    answer = browser.post(f"{PENDING}start/?language=fr", follow=True)
    assert "That was the last one of this list." in answer.content.decode()


@pytest.mark.parametrize(
    ("lane", "status"),
    [(PENDING, "pending"), (REVIEW, "needs_review"), (SAFE, "judged_safe"), (RESOLVED, "resolved")],
)
def test_a_list_asks_the_database_as_often_with_10_rows_as_with_10_000(
    client_of_sender: Client,
    policy: PolicyVersion,
    lane: str,
    status: str,
    django_assert_max_num_queries: object,
) -> None:
    browser = log_in("dana", "reviewer")
    fill_list(client_of_sender, policy, status, 10)
    with django_assert_max_num_queries(12) as few:  # type: ignore[operator]
        assert len(excerpts(page(browser, lane))) == 10
    fill_list(make_sender("other-app"), policy, status, 9_990)
    with django_assert_max_num_queries(12) as many:  # type: ignore[operator]
        html = page(browser, lane)

    assert len(excerpts(html)) == PAGE
    assert '<span class="count">10,000</span>' in html
    assert len(many.captured_queries) == len(few.captured_queries)


def test_beyond_the_bound_a_count_says_so(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "pending", 10_001)

    assert 'Pending <span class="count">10,000+</span>' in page(browser, PENDING)


def test_an_item_that_a_late_report_reopens_is_pending_again(
    browser: Browser, client_of_sender: Client
) -> None:
    body = body_saying("said before")
    first = client_of_sender.send(body)
    decide(
        browser, first.item, page(browser, f"/review/items/{first.item_id}/"), action="no_violation"
    )
    assert Item.objects.get().list == Item.List.RESOLVED

    client_of_sender.send(body)

    assert excerpts(page(browser, PENDING)) == ["said before"]
    assert excerpts(page(browser, RESOLVED)) == []
