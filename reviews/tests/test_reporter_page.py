"""The page about one reporter: how often they were right, and the plan before an invalidation."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client as Browser

from reports.invalidation import Scope
from reports.models import AuditEntry, Invalidation, Report, Severity
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import judge, resolve
from reports.tests.reporting_again import judged_safe_by, report_by, standings
from reports.tests.sending import REPORTS, Client
from reviews.tests.people import log_in, page

pytestmark = pytest.mark.usefixtures("policy")
REASON = {"reason": "a campaign"}


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


def sent(client: Client, count: int, *, action: str = "") -> list[Report]:
    """Reports of one person, each about an item of its own."""
    base = Report.objects.count()
    reports = [
        report_by(client, "u-wrong", item={"type": "message", "id": f"m-{base + number}"})
        for number in range(count)
    ]
    for report in reports if action else []:
        resolve(report, action=action)
    return reports


def address(report: Report) -> str:
    return f"/review/reporters/{report.public_id}/"


def key_of(html: str) -> str:
    found = re.search(r'name="confirm" value="([^"]+)"', html)
    assert found
    return found[1]


def figure(html: str, name: str) -> str:
    found = re.search(rf'<dt>{name}</dt><dd class="num">([^<]+)</dd>', html)
    assert found
    return found[1]


def post(browser: Browser, report: Report, **values: str) -> Any:
    return browser.post(address(report), {**REASON, **values})


def test_it_says_how_often_people_upheld_what_they_reported(
    client_of_sender: Client, lena: Browser
) -> None:
    sent(client_of_sender, 1, action="remove")
    (last, *_others) = sent(client_of_sender, 4, action="no_violation")

    html = page(lena, address(last))

    assert "People upheld 1 of 5 newest reports that they decided: 20%" in html
    assert "between 4% and 62% with 95% confidence" in html
    assert ">Mixed reporter</h2>" in html
    assert "u-wrong" not in html
    assert last.reporter_pseudonym in html


def test_the_item_page_leads_to_it_by_the_band(client_of_sender: Client, lena: Browser) -> None:
    report = sent(client_of_sender, 1)[0]

    html = page(lena, f"/review/items/{report.item_id}/")

    assert f'href="{address(report)}">new reporter</a>' in html


def test_a_report_without_a_reporter_has_no_such_page(
    client_of_sender: Client, lena: Browser
) -> None:
    report = report_by(client_of_sender, None)

    page(lena, address(report), status=404)
    assert "/review/reporters/" not in page(lena, f"/review/items/{report.item_id}/")


def test_who_may_not_invalidate_sees_no_form_and_is_refused(client_of_sender: Client) -> None:
    dana = log_in("dana", "reviewer")
    report = sent(client_of_sender, 1)[0]

    assert "Show the plan" not in page(dana, address(report))
    assert post(dana, report).status_code == 403
    assert not Invalidation.objects.exists()


def test_the_plan_comes_first_and_then_it_is_done(
    client_of_sender: Client, policy: Any, lena: Browser
) -> None:
    reports = sent(client_of_sender, 3)
    for each in reports[:2]:
        judge(each, policy, safe=False, severity=Severity.LOW)
    html = post(lena, reports[0]).content.decode()
    assert "3 reports would count for nothing." in html
    assert figure(html, "Would be closed") == "2"
    assert figure(html, "Stay open: no verdict yet") == "1"
    assert "Count for nothing already" not in html
    assert standings() == ["needs_review", "needs_review", "pending"]

    done = post(lena, reports[0], confirm=key_of(html))

    assert done.status_code == 302
    assert standings() == ["resolved", "resolved", "pending"]
    html = page(lena, address(reports[0]))
    assert "3 reports count for nothing from now on." in html
    assert '<q dir="auto">a campaign</q>' in html
    assert AuditEntry.objects.get(action="reports_invalidated").actor_name == "lena"


def test_a_plan_that_changed_meanwhile_is_shown_again(
    client_of_sender: Client, lena: Browser
) -> None:
    report = sent(client_of_sender, 1)[0]
    key = key_of(post(lena, report).content.decode())
    sent(client_of_sender, 1)

    again = post(lena, report, confirm=key)

    assert again.status_code == 409
    assert "Meanwhile the plan has changed." in again.content.decode()
    assert not Invalidation.objects.exists()
    assert post(lena, report, confirm=key_of(again.content.decode())).status_code == 302


def test_the_last_day_of_the_scope_is_included(client_of_sender: Client, lena: Browser) -> None:
    report = sent(client_of_sender, 1)[0]
    day = report.received_at.date().isoformat()

    html = post(lena, report, since=day, until=day).content.decode()
    assert "1 report would count for nothing." in html
    html = post(lena, report, until="2020-01-01").content.decode()
    assert "0 reports would count for nothing." in html
    assert 'name="confirm"' not in html


@pytest.mark.parametrize("field", ["since", "until"])
@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31", "2026-02-30", "\0"])
def test_a_day_that_may_have_no_moment_is_refused(
    client_of_sender: Client, lena: Browser, field: str, day: str
) -> None:
    report = sent(client_of_sender, 1)[0]

    assert post(lena, report, **{field: day}).status_code == 422


def test_the_scope_of_an_invalidation_is_said_in_words(
    client_of_sender: Client, lena: Browser
) -> None:
    report = sent(client_of_sender, 1)[0]
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    invalidate(report, Scope(moment, moment + timedelta(days=9_000), "message", 5))

    html = " ".join(page(lena, address(report)).split())

    assert "Received from 03/01/2026 12:00." in html
    assert "Received before 10/21/2050 12:00." in html
    assert "Items of the type <bdi>message</bdi>." in html
    assert "Only the oldest 5 reports." in html
    assert "item_type message" not in html


def test_the_plan_needs_no_reason_and_what_is_done_needs_one(
    client_of_sender: Client, lena: Browser
) -> None:
    report = sent(client_of_sender, 1)[0]

    plan = post(lena, report, reason=" ").content.decode()
    assert "1 report would count for nothing." in plan
    answer = post(lena, report, reason=" ", confirm=key_of(plan))

    assert answer.status_code == 422
    assert "Say why, for the record." in answer.content.decode()
    assert not Invalidation.objects.exists()


def test_it_is_revoked_by_one_press(client_of_sender: Client, policy: Any, lena: Browser) -> None:
    report = judged_safe_by(client_of_sender, policy, "u-wrong")
    post(lena, report, confirm=key_of(post(lena, report).content.decode()))
    number = str(Invalidation.objects.get().pk)

    assert lena.post(address(report), {"revoke": number}).status_code == 302

    assert standings() == ["judged_safe"]
    html = page(lena, address(report))
    assert "1 report counts again." in html
    assert "Revoke it" not in html
    for odd in ("0", "x", "9" * 30):
        assert lena.post(address(report), {"revoke": odd}).status_code == 404


def test_the_closed_item_says_why_it_is_resolved(
    client_of_sender: Client, policy: Any, lena: Browser
) -> None:
    report = judged_safe_by(client_of_sender, policy, "u-wrong")
    post(lena, report, confirm=key_of(post(lena, report).content.decode()))

    assert "Closed, because who reported it acted in bad faith." in page(lena, "/review/resolved/")


def test_its_sender_reads_that_it_is_resolved_by_no_decision(
    client_of_sender: Client, policy: Any, lena: Browser
) -> None:
    report = judged_safe_by(client_of_sender, policy, "u-wrong")
    post(lena, report, confirm=key_of(post(lena, report).content.decode()))

    told = client_of_sender.get(f"{REPORTS}{report.public_id}/").json()

    assert (told["status"], told["decision"]) == ("resolved", None)


def test_what_happened_to_an_item_tells_who_invalidated_and_revoked_and_why(
    client_of_sender: Client, lena: Browser
) -> None:
    report, other = sent(client_of_sender, 2)
    post(lena, report, confirm=key_of(post(lena, report).content.decode()))
    story = "<bdi>lena</bdi> invalidated reports of this reporter:"
    revoked = "What <bdi>lena</bdi> had invalidated counts again."

    for each in (report, other):
        html = page(lena, f"/review/items/{each.item_id}/")
        assert f'{story} <q dir="auto">a campaign</q>' in html
        assert revoked not in html

    lena.post(address(report), {"revoke": str(Invalidation.objects.get().pk)})

    html = page(lena, f"/review/items/{report.item_id}/")
    assert html.index(story) < html.index(revoked)


def test_after_an_invalidation_a_reporter_is_not_taken_for_a_new_one(
    client_of_sender: Client, lena: Browser
) -> None:
    report = sent(client_of_sender, 1)[0]
    post(lena, report, confirm=key_of(post(lena, report).content.decode()))

    html = page(lena, address(report))
    assert ">Reporter invalidated before</h2>" in html
    assert "Reports of theirs were invalidated: they count like an unreliable reporter." in html
    assert "No person has decided about a report of theirs yet." not in html
    assert '<dt>Of these invalidated</dt><dd class="num">1</dd>' in html
    html = page(lena, f"/review/items/{report.item_id}/")
    assert f'class="tag pending" href="{address(report)}">reporter invalidated before</a>' in html

    lena.post(address(report), {"revoke": str(Invalidation.objects.get().pk)})

    assert ">New reporter</h2>" in page(lena, address(report))
