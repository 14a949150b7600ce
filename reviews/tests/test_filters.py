"""Each filter of the lists, one by one: it finds what it says and doubles no card."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import Classification, PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying
from reviews.claims import claim_item
from reviews.models import Hold
from reviews.queue import LOOKED_THROUGH
from reviews.tests.people import classify, fill_list, judge_threat, log_in, page

PENDING, REVIEW = "/review/pending/", "/review/needs-review/"


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def found(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def twice(client: Client, text: str, **changes: object) -> list[Report]:
    """Two reports on one item: a join would double its card."""
    body = body_saying(text, **changes)
    return [client.send(body), client.send(body)]


def furnish(client: Client, policy: PolicyVersion) -> dict[str, Item]:
    """Three items in review with two reports each, unlike in all that filters ask."""
    other = {"category": "spam", "severity": 1, "safe": False, "rules": ["unsafe_category"]}
    post = {"type": "post", "id": "p-1", "author_id": "u-1"}
    for report in twice(client, "a post", item=post):
        classify(report, policy, **other, confidence=0.4)
    for report in twice(client, "an order"):
        classify(report, policy, **{**other, "rules": ["speaks_to_the_model"]}, confidence=0.6)
    for report in twice(client, "I will kill you tomorrow"):
        judge_threat(report, policy, confidence=0.9)
    return {
        name: Report.objects.filter(content__body__messages__0__text=name).latest("pk").item
        for name in ("a post", "an order", "I will kill you tomorrow")
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("item_type=post", {"a post"}),
        ("item_type=Post", set()),
        ("confidence_from=0.5", {"an order", "I will kill you tomorrow"}),
        ("confidence_to=0.5", {"a post"}),
        ("confidence_from=0.5&confidence_to=0.7", {"an order"}),
        ("rule=speaks_to_the_model", {"an order"}),
        ("rule=critical", {"I will kill you tomorrow"}),
        ("rule=threat_en", {"I will kill you tomorrow"}),
        ("version=1", {"a post", "an order", "I will kill you tomorrow"}),
        ("version=2", set()),
        ("older_than=1h", {"a post"}),
        ("newer_than=1h", {"an order", "I will kill you tomorrow"}),
        ("assignee=me", {"an order"}),
        ("assignee=omar", {"a post"}),
        ("assignee=nobody", {"I will kill you tomorrow"}),
        ("assignee=ghost", set()),
        ("hold=escalated", {"an order"}),
        ("hold=put_aside", set()),
        ("hold=second_approval", set()),
        ("assignee=me&item_type=post", set()),
    ],
)
def test_each_filter_finds_what_it_says_and_each_item_once(
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    query: str,
    expected: set[str],
) -> None:
    items = furnish(client_of_sender, policy)
    log_in("omar", "reviewer")
    dana, omar = (User.objects.get(username=name) for name in ("dana", "omar"))
    claim_item(item_id=items["an order"].pk, reviewer=dana)
    claim_item(item_id=items["a post"].pk, reviewer=omar)
    Item.objects.filter(pk=items["a post"].pk).update(since=Now() - timedelta(hours=2))
    Hold.objects.create(item=items["an order"], kind=Hold.Kind.ESCALATED, placed_by=omar)
    Hold.objects.create(
        item=items["a post"], kind=Hold.Kind.ESCALATED, placed_by=omar, ended_at=Now()
    )

    cards = found(page(browser, f"{REVIEW}?{query}"))

    assert set(cards) == expected
    assert len(cards) == len(expected)


def test_a_verdict_that_a_newer_one_superseded_is_not_asked(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("changed"))
    old = judge_threat(report, policy, confidence=0.2)
    with transaction.atomic():
        Classification.objects.filter(pk=old.pk).update(superseded=True)
        judge_threat(report, load_version(prompt="Judge it anew."), confidence=0.9)

    assert found(page(browser, f"{REVIEW}?confidence_to=0.5")) == []
    assert found(page(browser, REVIEW)) == ["changed"]


@pytest.mark.parametrize(
    "query",
    [
        "confidence_from=x", "confidence_from=nan", "confidence_from=2", "version=0",
        "version=99999999999999999999", "older_than=1y", "hold=x", "rule=x", "item_type=%00",
        "assignee=%00", "viewer=7", "language=%00",
    ],
)  # fmt: skip
def test_a_value_that_is_not_offered_is_ignored_and_never_an_error(
    browser: Browser, client_of_sender: Client, query: str
) -> None:
    report = client_of_sender.send(body_saying("stays"))

    assert found(page(browser, f"{PENDING}?{query}")) == ["stays"]
    for address in (f"{PENDING}start/?{query}", f"/review/items/{report.item_id}/?{query}"):
        assert browser.get(address).status_code in {200, 302}


def test_filters_in_force_are_chips_that_lead_to_the_list_without_them(
    browser: Browser, client_of_sender: Client
) -> None:
    client_of_sender.send(body_saying("x"))

    html = page(browser, f"{PENDING}?language=en&assignee=nobody&hold=escalated")

    chips = re.findall(r'class="chip" href="\?([^"]*)">(.*?)</a>', html)
    assert [re.sub("<[^>]*>", "", said) for _address, said in chips] == [
        "Language: en ×Remove",
        "Held: escalated ×Remove",
        "In the hands of: nobody ×Remove",
    ]
    assert chips[0][0].replace("&amp;", "&") == "hold=escalated&assignee=nobody"
    assert 'class="chip"' not in page(browser, PENDING)


def test_a_filter_goes_along_to_the_item_and_back(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("x", language="en"))

    html = page(browser, f"{PENDING}?newer_than=1d&assignee=nobody")

    link = f"/review/items/{report.item_id}/?from=pending&amp;newer_than=1d&amp;assignee=nobody"
    assert link in html
    back = page(browser, link.replace("&amp;", "&"))
    assert f"{PENDING}?newer_than=1d&amp;assignee=nobody" in back


def test_a_filter_looks_through_so_many_items_and_leads_on_from_there(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "pending", LOOKED_THROUGH + 5)
    last = Item.objects.filter(list="pending").order_by("-rank", "since", "id").last()
    assert last is not None
    Report.objects.filter(item=last).update(language="ar")

    html = page(browser, f"{PENDING}?language=ar")

    assert found(html) == []
    assert f"{LOOKED_THROUGH:,} items of this list were looked through" in html
    assert "None of them matches the filter." in html
    following = re.search(r'href="(\?[^"]*after=[^"]*)">Look through the next', html)
    assert following is not None
    html = page(browser, PENDING + following[1].replace("&amp;", "&"))
    assert found(html) == ["bulk"]
    assert "were looked through" not in html


def test_every_filter_at_once_costs_no_more_statements(
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    django_assert_max_num_queries: object,
) -> None:
    fill_list(client_of_sender, policy, "needs_review", 60)
    query = (
        "sender=chat-app&category=none&language=en&reason=spam&item_type=post&assignee=nobody"
        "&confidence_from=0&confidence_to=1&newer_than=30d&version=1"
    )
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert len(found(page(browser, f"{REVIEW}?{query}"))) == 25
