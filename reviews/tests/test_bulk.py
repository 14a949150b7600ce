"""One decision about several items: each has its own answer, and none is silently left (R6, R7)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item, Report, Severity
from reports.tests.sending import Client, body_saying
from reviews.bulk_form import BulkForm
from reviews.claims import claim_item
from reviews.handing import put_aside
from reviews.models import Decision, Hold
from reviews.tests.people import classify, decide, fill_list, log_in, page

LIST = "/review/needs-review/"


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def reports(client_of_sender: Client, policy: PolicyVersion) -> list[Report]:
    """Five items in review, each with one report, none of them severe."""
    sent = [client_of_sender.send(body_saying(f"buy {number}")) for number in range(5)]
    for report in sent:
        classify(report, policy, category="spam", safe=False, severity=1, rules=["unsafe_category"])
    return sent


def boxes(html: str) -> list[str]:
    return re.findall(r'name="item" form="bulk" value="([\d.]+)"', html)


def send(browser: Browser, chosen: list[str], *, status: int = 200, **values: str) -> str:
    sent: dict[str, Any] = {"action": "remove", "category": "spam", **values, "item": chosen}
    answer = browser.post(f"{LIST}bulk/", sent)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


def item_page(browser: Browser, report: Report) -> str:
    return page(browser, f"/review/items/{report.item_id}/")


def test_all_that_are_chosen_are_decided_each_with_its_row_and_its_audit_row(
    browser: Browser, reports: list[Report]
) -> None:
    html = send(browser, boxes(page(browser, LIST)), note="a wave")

    assert html.count("Decided: remove.") == len(reports)
    assert set(Item.objects.values_list("list", flat=True)) == {"resolved"}
    assert Decision.objects.filter(note="a wave", category="spam").count() == len(reports)
    assert AuditEntry.objects.filter(action="decided").count() == len(reports)


def test_each_that_could_not_be_decided_says_why_and_the_others_are(
    browser: Browser, reports: list[Report], client_of_sender: Client, policy: PolicyVersion
) -> None:
    grave = client_of_sender.send(body_saying("grave"))
    classify(grave, policy, category="hate", safe=False, severity=Severity.CRITICAL)
    chosen = boxes(page(browser, LIST))
    late, held, escalated, *fine = reports
    omar = log_in("omar", "reviewer")
    decide(omar, late.item, item_page(omar, late), action="warn", category="spam")
    decide(omar, escalated.item, item_page(omar, escalated), action="escalate")
    claim_item(item_id=held.item_id, reviewer=User.objects.get(username="omar"))
    chosen.append("4711.0.1")

    html = send(browser, chosen)

    assert html.count("Decided: remove.") == len(fine)
    assert "Came too late; nothing was changed. <bdi>omar</bdi> decided: warn. Spam." in html
    assert "<bdi>omar</bdi> has it in hand until" in html
    assert html.count("Open it by itself.") == 2
    assert "Item 4711: it is not there any more." in html
    assert html.count('<li class="card') == len(chosen) == 7
    decided = Decision.objects.filter(reviewer__username="dana").values_list("item", flat=True)
    assert set(decided) == {each.item_id for each in fine}


def test_what_somebody_put_aside_is_left_alone_until_its_time(
    browser: Browser, reports: list[Report]
) -> None:
    omar = User.objects.create(username="omar")
    aside, over, *_rest = reports
    for report in (aside, over):
        put_aside(item_id=report.item_id, reviewer=omar, lasts=timedelta(hours=4), note="for legal")
    Hold.objects.filter(item=over.item).update(until=Now() - timedelta(minutes=1))

    html = send(browser, boxes(page(browser, LIST)))

    assert html.count("Decided: remove.") == len(reports) - 1
    assert html.count("it is critical, put aside, or waits for somebody.") == 1
    assert Hold.objects.in_force().get().item_id == aside.item_id
    assert not Decision.objects.filter(item=aside.item).exists()


def test_what_needs_a_second_person_waits_for_one(browser: Browser, reports: list[Report]) -> None:
    html = send(browser, boxes(page(browser, LIST)), action="suspend")

    assert html.count("Proposed: remove and suspend. A different person must approve it.") == 5
    assert set(Item.objects.values_list("list", flat=True)) == {"needs_review"}
    assert Decision.objects.filter(kind="proposal").count() == len(reports)


def test_sent_twice_it_is_one_decision_each(browser: Browser, reports: list[Report]) -> None:
    chosen = boxes(page(browser, LIST))
    send(browser, chosen)

    assert send(browser, chosen).count("Decided: remove.") == len(reports)
    assert Decision.objects.count() == len(reports)


def test_each_can_be_taken_back(browser: Browser, reports: list[Report]) -> None:
    html = send(browser, boxes(page(browser, LIST)))

    addresses = re.findall(r'action="(/review/decisions/\d+/undo/)"', html)
    assert len(addresses) == len(reports)
    for address in addresses:
        assert browser.post(address).status_code == 302
    assert set(Item.objects.values_list("list", flat=True)) == {"needs_review"}


def test_a_report_that_came_after_the_list_was_read_is_not_decided(
    browser: Browser, reports: list[Report], client_of_sender: Client
) -> None:
    chosen = boxes(page(browser, LIST))
    later = client_of_sender.send(body_saying("buy 0"))
    Report.objects.filter(pk=later.pk).update(item=reports[0].item)

    send(browser, chosen)

    later.refresh_from_db()
    assert later.status == Report.Status.PENDING


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"category": ""}, "Choose the category that the content breaks."),
        ({"action": "escalate"}, "Select a valid choice."),
        ({"action": "reopen"}, "Select a valid choice."),
        ({"note": "n" * 5_001}, "at most 5000 characters"),
    ],
)
def test_what_is_wrong_with_the_form_stands_on_the_list_and_the_choice_is_kept(
    browser: Browser, reports: list[Report], values: dict[str, str], sentence: str
) -> None:
    html = send(browser, boxes(page(browser, LIST))[:2], status=422, **{"note": "typed", **values})

    assert sentence in html
    assert values.get("note", "typed") in html
    assert len(re.findall(r'<input type="checkbox"[^>]* checked>', html)) == 2
    assert len(boxes(html)) == len(reports)
    assert not Decision.objects.exists()


def test_a_refused_form_on_a_later_page_keeps_its_page_and_its_ticks(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    fill_list(client_of_sender, policy, "judged_safe", 40)
    later = re.search(r'href="\?(after=[^"]+)"', page(browser, "/review/safe/"))
    assert later is not None
    html = page(browser, f"/review/safe/?{later[1]}")
    address = re.search(r'id="bulk" method="post" action="([^"]+)"', html)
    assert address is not None
    here, chosen = address[1].replace("&amp;", "&"), boxes(html)

    refused = browser.post(here, {"item": chosen[:3], "action": "", "note": "a\r\n" * 2_500})
    again = " ".join(refused.content.decode().split())

    assert refused.status_code == 422
    assert boxes(again) == chosen
    assert len(re.findall(r'<input type="checkbox"[^>]* checked>', again)) == 3
    assert "at most" not in again  # a line break counts once
    done = browser.post(here, {"item": chosen[:3], "action": "no_violation"})
    assert f'href="/review/safe/?{later[1]}"' in done.content.decode()


@pytest.mark.parametrize("chosen", [[], ["1"], ["1.2.x"], ["1.0.1"] * 26, ["1.0." + "9" * 30]])
def test_nothing_chosen_or_a_broken_form_decides_nothing(
    browser: Browser, reports: list[Report], chosen: list[str]
) -> None:
    assert reports

    html = send(browser, chosen, status=422)

    said = "Choose at least one item." if not chosen else "The form is broken. Open the list again."
    assert said in html


def test_who_may_only_read_has_no_boxes_and_is_refused(reports: list[Report]) -> None:
    reader = log_in("vera", "operator")

    assert boxes(page(reader, LIST)) == []
    send(reader, [f"{reports[0].item_id}.0.{reports[0].pk}"], status=403)
    assert not Decision.objects.exists()


def test_no_action_is_offered_that_wants_the_item_itself(
    browser: Browser, reports: list[Report]
) -> None:
    assert reports
    form = re.search(r'<form class="panel bulk".*?</form>', page(browser, LIST))

    assert form is not None
    assert "escalate" not in form[0]
    assert "back to review" not in form[0]
    assert BulkForm.base_fields.keys() == {"item", "action", "category", "note"}
