"""Disagreements are listed for reviewers, the worst first, and in the admin; a reopened one is gone."""

import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext

from classifier.batches.reopen import reopen_disagreements
from classifier.models import Batch, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again, disagreement_about, judged_safe, next_version
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.queue import PAGE
from reviews.tests.people import decide, log_in, page

LIST = "/review/disagreements/"


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def batch(policy: PolicyVersion) -> Batch:  # noqa: ARG001 - the older one
    return make_batch(next_version())


def safe_report(client: Client, text: str) -> Report:
    return judged_safe(client, PolicyVersion.objects.get(number=1), **body_saying(text))


def excerpts(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def why(html: str) -> list[str]:
    return re.findall(r'class="why">(.*?)</p>', html)


def test_it_says_what_was_found_now_and_before_and_that_no_person_looked(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    report = safe_report(client_of_sender, "an old message")
    ask_again(report, batch, category="hate")

    html = page(browser, LIST)

    assert excerpts(html) == ["an old message"]
    (sentences,) = why(html)
    assert sentences == (
        "Policy version 2 finds: Hate. Version 1 had found: No violation."
        " No person has looked at it."
    )
    assert f'href="/review/items/{report.item_id}/"' in html
    assert "Judged safe by a machine" in html
    assert '<span class="tag high">high</span>' in html


def test_it_says_which_person_had_found_none(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    report = safe_report(client_of_sender, "decided")
    seen = page(browser, f"/review/items/{report.item_id}/")
    decide(browser, report.item, seen, action="no_violation")
    ask_again(report, batch, category="spam")

    (sentences,) = why(page(browser, LIST))

    assert "Before that <bdi>dana</bdi> had decided: no violation." in sentences
    assert "No person has looked" not in sentences
    assert "Resolved" in page(browser, LIST)


def test_the_menu_counts_what_is_open_and_what_was_settled_or_reopened_is_gone(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    reports = [safe_report(client_of_sender, text) for text in ("mild", "bad", "worst")]
    for report, category in zip(reports, ("spam", "hate", "credible_threat"), strict=True):
        ask_again(report, batch, category=category)
    counted = 'Disagreements <span class="count">{}</span>'
    html = page(browser, LIST)
    assert excerpts(html) == ["worst", "bad", "mild"]
    assert counted.format(3) in html

    reopen_disagreements(batch_id=batch.pk, at_most=1, actor_name="test")
    bad = page(browser, f"/review/items/{reports[1].item_id}/")
    decide(browser, reports[1].item, bad, action="remove", category="hate")

    html = page(browser, LIST)
    assert excerpts(html) == ["mild"]
    assert counted.format(1) in page(browser, "/review/pending/")


def test_pages_follow_a_key_and_show_each_once_in_the_order_of_reopening(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    wanted = []
    for number in range(PAGE + 2):
        report = safe_report(client_of_sender, f"text {number:02}")
        if number % 3 == 0:
            seen = page(browser, f"/review/items/{report.item_id}/")
            decide(browser, report.item, seen, action="no_violation")
        ask_again(report, batch, category=("spam", "hate")[number % 2])
        found = disagreement_about(report)
        wanted.append((-found.severity, not found.unseen, found.pk, f"text {number:02}"))
    seen_texts: list[str] = []
    address, pages = LIST, 0
    while address:
        html = page(browser, address)
        seen_texts += excerpts(html)
        pages += 1
        following = re.search(r'href="(\?after=[^"]*)">Next page', html)
        address = LIST + following[1] if following else ""

    assert seen_texts == [text for *_key, text in sorted(wanted)]
    assert pages == 2


def test_no_list_calls_it_safe_under_the_version_that_disagrees(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    report = safe_report(client_of_sender, "disputed")
    ask_again(report, batch, category="hate")
    admin = Browser()
    admin.force_login(User.objects.create_superuser("admin"))

    for address in ("/review/safe/", f"/review/items/{report.item_id}/"):
        html = page(browser, address)
        assert "An older policy version judged it safe; version 2 does not." in html
        assert "safe with confidence" not in html
    shown = page(admin, "/admin/reports/judgedsafereport/")
    assert '2 <strong class="overdue">finds a violation</strong>' in shown


def test_the_item_s_page_says_what_was_found_and_that_it_came_back_for_it(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    body = body_saying("said by many")
    version = PolicyVersion.objects.get(number=1)
    reports = [judged_safe(client_of_sender, version, **body) for _each in range(2)]
    for report in reports:
        ask_again(report, batch, category="hate")
    address = f"/review/items/{reports[0].item_id}/"

    html = page(browser, address)
    assert html.count("Policy version 2 finds: Hate.") == 1
    assert "It keeps its status until a person decides." in html

    reopen_disagreements(batch_id=batch.pk, at_most=2, actor_name="test")
    html = page(browser, address)
    assert "Policy version 2 finds: Hate. Therefore it was sent back to review." in html

    decide(browser, reports[0].item, html, action="remove", category="hate")
    assert "Policy version 2 finds" not in page(browser, address)


@pytest.mark.parametrize("key", ["x", "1", "9.0.1", "4.2.1", "4.1.-1", "4.1.99999999999999999999"])
def test_a_key_that_was_never_given_out_begins_at_the_top(browser: Browser, key: str) -> None:
    assert browser.get(f"{LIST}?after={key}")["Location"] == LIST


def test_an_empty_list_says_so(browser: Browser) -> None:
    html = page(browser, LIST)

    assert "No version disagrees with an older one, or with a person." in html
    assert 'aria-current="page">Disagreements' in html


def test_it_asks_the_database_as_often_for_ten_as_for_one(
    browser: Browser, client_of_sender: Client, batch: Batch
) -> None:
    counts = []
    for more in (1, 9):
        for _each in range(more):
            ask_again(safe_report(client_of_sender, "text"), batch, category="hate")
        with CaptureQueriesContext(connection) as asked:
            html = page(browser, LIST)
        counts.append((len(excerpts(html)), len(asked)))

    (one, few), (ten, many) = counts
    assert (one, ten, few) == (1, 10, many)


def test_the_admin_lists_them_all_by_state_severity_and_batch_and_changes_none(
    client_of_sender: Client, batch: Batch
) -> None:
    reports = [safe_report(client_of_sender, text) for text in ("mild", "bad")]
    for report, category in zip(reports, ("spam", "hate"), strict=True):
        ask_again(report, batch, category=category)
    reopen_disagreements(batch_id=batch.pk, at_most=1, actor_name="test")
    admin = Browser()
    admin.force_login(User.objects.create_superuser("admin"))
    address = "/admin/classifier/disagreement/"

    every = page(admin, f"{address}?state=all")
    assert every.index("<bdi>hate</bdi> under policy version 2") < every.index("<bdi>spam</bdi>")
    for narrowed, shown in (
        ("state=open", "spam"),
        ("state=reopened", "hate"),
        ("state=all&severity__exact=3", "hate"),
    ):
        html = page(admin, f"{address}?{narrowed}&batch={batch.pk}")
        assert re.findall(r"<bdi>(\w+)</bdi> under", html) == [shown]
    pk = disagreement_about(reports[0]).pk
    assert "spam" in page(admin, f"{address}{pk}/change/")
    assert admin.get(f"{address}add/").status_code == 403
    assert admin.post(f"{address}{pk}/delete/", {"post": "yes"}).status_code == 403
