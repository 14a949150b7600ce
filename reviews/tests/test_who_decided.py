"""Who decided what, and what is known of an author: for reviewers, never for senders."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser

from classifier.models import PolicyVersion
from conftest import check_constraints_now
from reports.models import Report
from reports.tests.sending import Client, body_saying, make_sender, report_body
from reviews.models import Decision
from reviews.queue import LOOKED_THROUGH, PAGE
from reviews.tests.people import decide, fill_list, log_in, page

DECISIONS = "/review/decisions/"


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def by_author(text: str, author: str) -> dict[str, object]:
    body = body_saying(text)
    body["item"]["author_id"] = author
    return body


def decided(browser: Browser, report: Report, action: str, **values: str) -> None:
    html = page(browser, f"/review/items/{report.item_id}/")
    assert decide(browser, report.item, html, action=action, **values).status_code == 302


def names(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*><bdi>message</bdi> <bdi>([^<]*)</bdi>', html)


def test_decisions_of_a_reviewer_come_newest_first_and_are_narrowed(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,  # noqa: ARG001
) -> None:
    omar = log_in("omar", "reviewer")
    reports = [client_of_sender.send(body_saying(f"text {number}")) for number in range(3)]
    decided(dana, reports[0], "remove", category="hate")
    decided(omar, reports[1], "no_violation")
    decided(dana, reports[2], "warn", category="spam")
    first, second, third = (report.item.external_id for report in reports)

    assert names(page(dana, DECISIONS)) == [third, second, first]
    assert names(page(dana, f"{DECISIONS}?reviewer=dana")) == [third, first]
    assert names(page(dana, f"{DECISIONS}?reviewer=dana&action=remove")) == [first]
    assert names(page(dana, f"{DECISIONS}?category=spam")) == [third]
    assert names(page(dana, f"{DECISIONS}?reviewer=nobody")) == []
    assert "Decisions of <bdi>dana</bdi>" in page(dana, f"{DECISIONS}?reviewer=dana")
    assert f"{DECISIONS}?reviewer=omar" in page(dana, f"/review/items/{reports[1].item_id}/")


def test_decisions_of_an_age_are_within(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "resolved", 1)
    check_constraints_now()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE reviews_decision DISABLE TRIGGER USER")
        cursor.execute("UPDATE reviews_decision SET created_at = now() - interval '2 days'")
        check_constraints_now()
        cursor.execute("ALTER TABLE reviews_decision ENABLE TRIGGER USER")

    assert "bulk-1" in page(dana, f"{DECISIONS}?within=7d")
    assert "bulk-1" not in page(dana, f"{DECISIONS}?within=1d")


def test_pages_of_decisions_follow_a_key(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "resolved", PAGE + 3)
    seen: list[str] = []
    address = f"{DECISIONS}?reviewer=filler"
    while address:
        html = page(dana, address)
        seen += re.findall(r"<bdi>(bulk-\d+)</bdi>", html)
        following = re.search(r'href="(\?[^"]*after=[^"]*)">Next page', html)
        address = DECISIONS + following[1].replace("&amp;", "&") if following else ""

    assert len(seen) == len(set(seen)) == PAGE + 3
    for key in ("x", "-1", str(2**63)):
        assert dana.get(DECISIONS, {"after": key}).status_code == 302


def test_the_item_and_its_page_say_what_is_known_of_the_author_at_that_sender(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,  # noqa: ARG001
) -> None:
    reports = [client_of_sender.send(by_author(f"text {number}", "u-7")) for number in range(5)]
    make_sender("other-app").send(by_author("elsewhere", "u-7"))
    client_of_sender.send(by_author("of another", "u-8"))
    decided(dana, reports[0], "remove", category="hate")
    decided(dana, reports[1], "remove", category="hate")
    decided(dana, reports[2], "warn", category="spam")
    decided(dana, reports[2], "remove", category="spam")

    html = page(dana, f"/review/items/{reports[3].item_id}/")

    assert "3 × remove in 90 days</span> <span>· 2 open reports</span>" in html
    html = page(dana, f"/review/authors/{reports[3].public_id}/")
    assert "3 × remove in 90 days</span> <span>· 2 open reports</span>" in html
    opened, decisions = html.split('id="decided"')
    assert re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', opened) == ["text 4", "text 3"]
    assert names(decisions) == [reports[number].item.external_id for number in (2, 2, 1, 0)]


def test_without_an_author_there_is_no_page_of_one(dana: Browser, client_of_sender: Client) -> None:
    item = {"type": "message", "id": "m-1"}
    report = client_of_sender.send(report_body(item=item, messages=[{"text": "x"}]))

    assert "All about this author" not in page(dana, f"/review/items/{report.item_id}/")
    page(dana, f"/review/authors/{report.public_id}/", status=404)
    page(dana, "/review/authors/00000000-0000-4000-8000-000000000000/", status=404)


def test_a_filter_looks_through_so_many_decisions_and_leads_on_from_there(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    old = client_of_sender.send(body_saying("long ago"))
    decided(dana, old, "remove", category="hate")
    fill_list(client_of_sender, policy, "resolved", LOOKED_THROUGH)

    html = page(dana, f"{DECISIONS}?category=hate")

    assert f"{LOOKED_THROUGH:,} decisions were looked through" in html
    assert names(html) == []
    (further,) = re.findall(r'href="(\?category=hate&amp;after=\d+)"', html)
    assert names(page(dana, f"{DECISIONS}{further.replace('&amp;', '&')}")) == [
        old.item.external_id
    ]
    assert "looked through" not in page(dana, DECISIONS)
    with connection.cursor() as cursor:
        check_constraints_now()
        cursor.execute("ALTER TABLE reviews_decision DISABLE TRIGGER USER")
        cursor.execute("UPDATE reviews_decision SET created_at = created_at - interval '2 hours'")
        check_constraints_now()
        cursor.execute("ALTER TABLE reviews_decision ENABLE TRIGGER USER")
    assert "looked through" not in page(dana, f"{DECISIONS}?within=1h")


def test_the_pages_ask_few_statements_whatever_the_rows(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    django_assert_max_num_queries: object,
) -> None:
    reports = [client_of_sender.send(by_author(f"text {number}", "u-7")) for number in range(30)]
    fill_list(client_of_sender, policy, "resolved", 100)

    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page(dana, f"/review/authors/{reports[0].public_id}/")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page(dana, f"{DECISIONS}?reviewer=filler&action=no_violation&within=30d")


def test_decisions_of_a_reviewer_read_their_index(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "resolved", 20_000)
    log_in("dana", "reviewer")
    dana = User.objects.get(username="dana")
    found = Decision.objects.filter(reviewer=dana).order_by("-pk")[:26]
    assert "decision_of_reviewer" in found.explain()


def test_no_answer_to_a_sender_names_a_reviewer(dana: Browser, client_of_sender: Client) -> None:
    report = client_of_sender.send(report_body())
    decided(dana, report, "no_violation")

    assert "dana" not in client_of_sender.get().content.decode()
    for address in (DECISIONS, f"/review/authors/{report.public_id}/", "/review/search/?q=lunch"):
        answer = client_of_sender.http.get(
            address, headers={"Authorization": f"Bearer {client_of_sender.key}"}
        )
        assert answer.status_code == 302
