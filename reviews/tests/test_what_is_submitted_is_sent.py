"""After a lost connection only what was submitted goes out by itself; what changed is submitted anew."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, Route, expect

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.claims import give_back
from reviews.decisions import Wish, decide_item
from reviews.models import Decision
from reviews.tests.chromium import FOUND, MISSING, is_submit, log_in, make_reviewer
from reviews.tests.people import judge_threat

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
LOST = "Failed to load resource"
CHANGED = "Not sent, and you have changed something since."
LAST = "That was the last one of this list."


@pytest.fixture
def item(policy: PolicyVersion, transactional_db: None) -> Item:  # noqa: ARG001
    client: Client = make_sender("chat-app")
    report = client.send(body_saying("I will kill you tomorrow", language="en"))
    judge_threat(report, policy)
    return report.item


@pytest.fixture
def at_work(open_page: Any, item: Item) -> Page:
    """The item's page as a reviewer sees it who has just opened it."""
    make_reviewer("dana")
    page: Page = open_page(expected=LOST)
    log_in(page, "dana")
    page.goto(f"/review/items/{item.pk}/?from=needs-review")
    return page


def choose_removal(page: Page) -> None:
    page.get_by_label("remove", exact=True).check()
    page.locator("#decision select[name=category]").select_option("minors")


def propose(item: Item) -> None:
    """Somebody else had the item for a moment, and now it waits for a second person."""
    give_back(item_id=item.pk, reviewer=User.objects.get(username="dana"))
    decide_item(
        item_id=item.pk,
        reviewer=User.objects.create(username="omar"),
        wish=Wish("suspend", "minors"),
        report_ids=[item.reports.get().pk],
        last_decision_id=None,
    )


def why_unsent(page: Page, because: str, *, form: str = "#decision") -> Any:
    """The sentence of the form that says why it was not sent; all stand there, one is shown."""
    return page.locator(f"{form} [data-because={because}]")


def test_what_was_changed_after_a_lost_submit_waits_for_another_press(at_work: Page) -> None:
    page = at_work
    page.get_by_label("no violation").check()
    page.context.set_offline(True)
    page.get_by_role("button", name="Submit and next").click()
    expect(why_unsent(page, "offline")).to_be_visible()
    choose_removal(page)
    page.locator("#id_note").fill("I am not sure, half a sen")
    expect(why_unsent(page, "changed")).to_be_visible()
    expect(why_unsent(page, "changed")).to_contain_text(CHANGED)
    expect(why_unsent(page, "offline")).to_be_hidden()

    page.context.set_offline(False)
    expect(page.get_by_text("Draft saved.")).to_be_visible()

    assert not Decision.objects.exists()
    page.locator("#id_note").fill("I am sure")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status").last).to_have_text(LAST)
    decision = Decision.objects.get()
    assert (decision.action_id, decision.note) == ("remove", "I am sure")


def test_an_approval_survives_a_lost_connection_too(at_work: Page, item: Item) -> None:
    page = at_work
    propose(item)
    page.reload()
    form = page.locator("#approval")
    form.get_by_label("Note on the approval").fill("I have read all of it")
    page.locator("#id_note").fill("words of my own")
    page.context.set_offline(True)
    form.get_by_label("Note on the approval").press("Control+Enter")
    expect(why_unsent(page, "offline", form="#approval")).to_be_visible()
    expect(page.locator("#decision [data-unsent]")).to_be_hidden()
    page.context.set_offline(False)

    expect(page.get_by_role("status").last).to_have_text(LAST)
    assert Decision.objects.latest("id").note == "I have read all of it"
    page.goto(f"/review/items/{item.pk}/")
    expect(page.locator("#id_note")).to_have_value("words of my own")


def test_of_two_forms_only_the_one_that_was_submitted_last_goes_out(
    at_work: Page, item: Item
) -> None:
    page = at_work
    propose(item)
    page.reload()
    page.context.set_offline(True)
    page.get_by_role("button", name="Approve").click()
    expect(why_unsent(page, "offline", form="#approval")).to_be_visible()
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(why_unsent(page, "offline")).to_be_visible()
    expect(why_unsent(page, "changed", form="#approval")).to_be_visible()
    page.context.set_offline(False)

    expect(page.get_by_role("status").last).to_have_text(LAST)
    assert Decision.objects.latest("id").action_id == "no_violation"
    assert Decision.objects.count() == 2


def test_what_was_changed_while_the_answer_was_on_its_way_is_not_sent_with_it(
    at_work: Page, item: Item
) -> None:
    page = at_work
    on_its_way: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if route.request.method == "POST" and not on_its_way:
            on_its_way.append(route)
        else:
            route.continue_()

    page.context.route(f"**/review/items/{item.pk}/?*", hold_the_first)
    page.get_by_label("remove", exact=True).check()  # no category: it will be refused
    with page.expect_request(is_submit):
        page.get_by_role("button", name="Submit and next").click()
    choose_removal(page)
    on_its_way[0].continue_()

    expect(why_unsent(page, "changed")).to_be_visible()
    assert not Decision.objects.exists()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("status").last).to_have_text(LAST)
    assert Decision.objects.get().category == "minors"
