"""What waits for particular people is counted above the lists, and a gap is said aloud."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.models import Hold
from reviews.tests.moving import hold
from reviews.tests.people import decide, judge_threat, log_in, page

LISTS = "/review/needs-review/", "/review/pending/"
NO_LEAD = "Nobody has the permission yet"
NO_SECOND = "Nobody but you may decide"


@pytest.fixture
def report(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """An item in review."""
    report = client_of_sender.send(body_saying("in review"))
    judge_threat(report, policy)
    return report


def held(html: str) -> list[str]:
    """The notices, without their mark-up."""
    found = re.findall(r'<p class="notice [a-z]+"> ([^<]* wait.*?)</p>', html)
    return [re.sub(r"<[^>]*>", "", each).strip() for each in found]


def submit(browser: Browser, report: Report, **values: str) -> str:
    html = page(browser, f"/review/items/{report.item_id}/")
    answer = decide(browser, report.item, html, **values)
    return page(browser, answer["Location"])


def test_what_is_escalated_in_either_open_list_is_counted_above_both_with_the_way_there(
    report: Report, client_of_sender: Client
) -> None:
    hold(client_of_sender.send(body_saying("pending")), "omar", Hold.Kind.ESCALATED)
    hold(report, "omar", Hold.Kind.ESCALATED)
    lead = log_in("lina", "lead")

    for each in LISTS:
        html = page(lead, each)
        assert held(html) == [
            "2 escalated items wait for somebody who leads: Needs review 1 · Pending 1"
        ]
        assert 'href="/review/pending/?hold=escalated"' in html
        assert 'href="/review/needs-review/?hold=escalated"' in html
    assert held(page(lead, "/review/safe/")) == []
    assert held(page(log_in("olga", "operator"), LISTS[0])) == []
    assert NO_LEAD not in page(log_in("dana", "reviewer"), LISTS[0])

    Hold.objects.update(ended_at="2026-11-30T06:00Z")
    assert held(page(lead, LISTS[0])) == []


def test_where_nobody_leads_who_escalates_is_told_and_so_are_all_who_look_at_the_list(
    report: Report,
) -> None:
    dana, omar = (log_in(name, "reviewer") for name in ("dana", "omar"))

    assert NO_LEAD in submit(dana, report, action="escalate")
    for browser in (dana, omar):
        assert NO_LEAD in page(browser, LISTS[0])

    User.objects.create_superuser("root")
    assert NO_LEAD not in page(dana, LISTS[0])
    User.objects.filter(username="root").update(is_active=False)
    log_in("lina", "lead")
    assert NO_LEAD not in page(dana, LISTS[0])


def test_who_escalates_to_somebody_is_told_nothing_more(report: Report) -> None:
    log_in("lina", "lead")

    assert NO_LEAD not in submit(log_in("dana", "reviewer"), report, action="escalate")


def test_who_proposes_and_is_alone_is_told_that_nobody_can_approve_it(report: Report) -> None:
    dana = log_in("dana", "reviewer")

    said = submit(dana, report, action="suspend", category="spam")

    assert NO_SECOND in said
    (notice,) = held(page(dana, LISTS[0]))
    assert notice.startswith("1 proposal waits for a second person: Needs review 1")
    assert NO_SECOND in notice

    omar = log_in("omar", "reviewer")
    for browser in (dana, omar):
        (notice,) = held(page(browser, LISTS[0]))
        assert NO_SECOND not in notice


def test_no_list_asks_more_than_twelve_statements_with_every_gap_there_is(
    report: Report,
    client_of_sender: Client,
    django_assert_max_num_queries: object,
) -> None:
    dana = log_in("dana", "reviewer")
    hold(report, "dana", Hold.Kind.SECOND_APPROVAL)
    hold(client_of_sender.send(body_saying("pending")), "dana", Hold.Kind.ESCALATED)

    for each in LISTS:
        with django_assert_max_num_queries(12):  # type: ignore[operator]
            html = page(dana, each)
        assert NO_LEAD in html
        assert NO_SECOND in html


def test_operations_see_how_much_is_held_and_for_how_long(
    report: Report, client_of_sender: Client
) -> None:
    hold(report, "omar", Hold.Kind.ESCALATED)
    hold(client_of_sender.send(body_saying("pending")), "omar", Hold.Kind.ESCALATED)
    Hold.objects.filter(item=report.item).update(placed_at="2026-11-01T06:00Z")

    figures = page(Browser(), "/metrics")

    assert 'moderation_items_held{kind="escalated"} 2.0' in figures
    (age,) = re.findall(
        r'moderation_items_held_oldest_age_seconds{kind="escalated"} (\S+)', figures
    )
    assert float(age) > 24 * 3600
    assert 'kind="second_approval"' not in figures
