"""A closed tab, a lost connection, an ended session, another person at the machine: whose text is where."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Error, Locator, Page, Route, expect

from classifier.models import PolicyVersion
from classifier.tests.situations import wait_until
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.decisions import Wish, decide_item
from reviews.models import Decision, Draft
from reviews.tests.chromium import (
    FOUND,
    MISSING,
    PASSWORD,
    is_submit,
    log_in,
    make_reviewer,
    stop_clock,
)
from reviews.tests.people import judge_threat

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
SCRIPT = "**/reviews/focus*.js"
LOST = "Failed to load resource"


@pytest.fixture
def item(policy: PolicyVersion, transactional_db: None) -> Item:  # noqa: ARG001
    client: Client = make_sender("chat-app")
    report = client.send(body_saying("I will kill you tomorrow", language="en"))
    judge_threat(report, policy)
    return report.item


def open_item(page: Page, item: Item, name: str = "dana") -> Page:
    make_reviewer(name)
    log_in(page, name)
    page.goto(address_of(item))
    return page


def address_of(item: Item) -> str:
    return f"/review/items/{item.pk}/?from=needs-review"


def note_on(page: Page) -> Locator:
    return page.locator("#decision").get_by_label("Note for colleagues")


def kept_here(page: Page) -> list[str]:
    keys: list[str] = page.evaluate("Object.keys(localStorage)")
    return keys


def lose(page: Page) -> BrowserContext:
    """The page dies without a connection; its browser, back on the network.

    A page that is only closed or left still sends its text, which Chromium's "offline" lets through
    once that page is gone.
    """
    with page.expect_event("crash"), pytest.raises(Error):
        page.goto("chrome://crash")
    tabs = page.context
    page.close()
    tabs.set_offline(False)
    return tabs


def type_in_a_tunnel(open_page: Any, item: Item) -> BrowserContext:
    """Words that only the browser has."""
    page = open_item(open_page(expected=LOST), item)
    page.context.set_offline(True)
    note_on(page).fill("typed in a tunnel")
    return lose(page)


def test_a_draft_comes_back_after_the_tab_was_closed_and_can_be_discarded(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(), item)
    page.get_by_label("remove", exact=True).check()
    note_on(page).fill("half a مسودة")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert kept_here(page) == []
    tabs = page.context
    page.close()

    page = tabs.new_page()
    page.goto(address_of(item))
    expect(page.locator("#draft")).to_contain_text("restored.")
    expect(note_on(page)).to_have_value("half a مسودة")
    expect(page.get_by_label("remove", exact=True)).to_be_checked()
    page.get_by_role("button", name="Discard").click()

    expect(page.get_by_role("button", name="Discard")).to_be_hidden()
    expect(note_on(page)).to_have_value("")
    assert not Draft.objects.exists()


def test_what_was_typed_without_a_connection_is_kept_in_the_browser_until_the_server_has_it(
    open_page: Any, item: Item
) -> None:
    tabs = type_in_a_tunnel(open_page, item)

    page = tabs.new_page()
    page.goto(address_of(item))

    expect(note_on(page)).to_have_value("typed in a tunnel")
    expect(page.locator("#draft [role=status]")).to_have_text(
        "What this browser kept of your text is restored."
    )
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Draft.objects.get().note == "typed in a tunnel"
    assert kept_here(page) == []


def test_the_last_words_are_sent_when_the_page_is_left(open_page: Any, item: Item) -> None:
    page = open_page()
    stop_clock(page)  # or it would be sent for a moment having passed
    page = open_item(page, item)
    note_on(page).fill("and gone")

    page.goto("/review/needs-review/")

    wait_until(lambda: Draft.objects.filter(note="and gone").exists())


def type_before_the_scripts(page: Page, item: Item, words: str) -> None:
    """As on a slow connection: the fields are there first. Of the scripts each waits for those before it."""
    held: list[Route] = []
    page.route(SCRIPT, lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks it
    with page.expect_request(SCRIPT):
        page.goto(address_of(item), wait_until="commit")
    note_on(page).fill(words)
    held.pop().continue_()


def test_what_is_typed_before_the_scripts_are_there_is_kept_as_well_and_goes_on(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(), item)

    type_before_the_scripts(page, item, "typed at once")

    expect(page.get_by_text("Draft saved.")).to_be_visible()
    expect(note_on(page)).to_be_focused()
    assert Draft.objects.get().note == "typed at once"


def test_older_words_of_a_browser_do_not_replace_what_is_typed_before_the_scripts_are_there(
    open_page: Any, item: Item
) -> None:
    page = type_in_a_tunnel(open_page, item).new_page()

    type_before_the_scripts(page, item, "typed at once")

    expect(page.get_by_text("Draft saved.")).to_be_visible()
    expect(note_on(page)).to_have_value("typed at once")
    page.get_by_role("button", name="Show the other words").click()
    expect(note_on(page)).to_have_value("typed in a tunnel")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Draft.objects.get().note == "typed in a tunnel"


def test_older_words_of_a_browser_are_offered_and_do_not_replace_what_the_server_has(
    open_page: Any, item: Item
) -> None:
    tabs = type_in_a_tunnel(open_page, item)
    elsewhere = open_page(expected=LOST)
    log_in(elsewhere, "dana")
    elsewhere.goto(address_of(item))
    note_on(elsewhere).fill("typed at a desk, later and longer")
    expect(elsewhere.get_by_text("Draft saved.")).to_be_visible()

    page = tabs.new_page()
    page.goto(address_of(item))
    other = page.get_by_role("button", name="Show the other words")
    expect(other).to_be_visible()
    expect(note_on(page)).to_have_value("typed at a desk, later and longer")
    assert Draft.objects.get().note == "typed at a desk, later and longer"
    other.click()
    expect(note_on(page)).to_have_value("typed in a tunnel")
    other.click()
    expect(note_on(page)).to_have_value("typed at a desk, later and longer")


def test_a_page_goes_on_from_its_own_saved_draft_without_asking(open_page: Any, item: Item) -> None:
    page = open_item(open_page(expected=LOST), item)
    note_on(page).fill("saved")
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    page.context.set_offline(True)
    note_on(page).fill("saved, and then a tunnel")
    tabs = lose(page)

    page = tabs.new_page()
    page.goto(address_of(item))

    expect(note_on(page)).to_have_value("saved, and then a tunnel")
    expect(page.get_by_role("button", name="Show the other words")).to_be_hidden()
    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert kept_here(page) == []


def test_the_browser_keeps_what_the_server_does_not(open_page: Any, item: Item) -> None:
    page = open_item(open_page(), item)
    decide_item(
        item_id=item.pk,
        reviewer=User.objects.get(username="dana"),
        wish=Wish("reopen"),
        report_ids=[item.reports.get().pk],
        last_decision_id=None,
    )
    with page.expect_response("**/draft/*") as answer:
        note_on(page).fill("typed in another tab")

    assert answer.value.status == 409
    expect(page.get_by_text("Draft saved.")).to_be_hidden()
    assert len(kept_here(page)) == 1


@pytest.mark.parametrize("broken", ["setItem", "getItem"])
def test_a_full_or_forbidden_storage_keeps_no_draft_from_the_server(
    open_page: Any, item: Item, broken: str
) -> None:
    page = open_page()
    page.add_init_script(
        f"Storage.prototype.{broken} = () => {{ throw new DOMException('no', 'QuotaExceededError') }}"
    )
    open_item(page, item)
    note_on(page).fill("the storage is full")

    expect(page.get_by_text("Draft saved.")).to_be_visible()
    assert Draft.objects.get().note == "the storage is full"


def test_the_network_drops_at_submit_and_comes_back_and_there_is_one_decision(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(expected=LOST), item)
    page.get_by_label("no violation").check()
    note_on(page).fill("a careful reason")
    page.context.set_offline(True)
    page.get_by_role("button", name="Submit and next").click()

    expect(page.get_by_role("alert")).to_contain_text("Not sent: no connection.")
    expect(note_on(page)).to_have_value("a careful reason")
    with page.expect_event("requestfailed", is_submit):
        page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("Not sent: no connection.")
    assert not Decision.objects.exists()
    page.context.set_offline(False)

    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert Decision.objects.get().note == "a careful reason"
    assert not Draft.objects.exists()
    assert kept_here(page) == []


def test_the_answer_is_lost_on_its_way_and_sending_again_makes_no_second_decision(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(expected=LOST), item)
    lost: list[int] = []

    def lose_the_first(route: Route) -> None:
        if route.request.method == "POST" and not lost:
            lost.append(route.fetch(max_redirects=0).status)  # it arrives, its answer does not
            route.abort()
        else:
            route.continue_()

    page.context.route(f"**/review/items/{item.pk}/?*", lose_the_first)
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("alert")).to_contain_text("Not sent")
    assert Decision.objects.count() == 1
    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert lost == [200]
    assert Decision.objects.count() == 1


def test_a_site_that_fails_is_tried_again_by_itself(open_page: Any, item: Item) -> None:
    page = open_item(open_page(expected=LOST), item)
    page.clock.install()
    failed: list[int] = []

    def fail_once(route: Route) -> None:
        if route.request.method == "POST" and not failed:
            failed.append(503)
            route.fulfill(status=503, body="down")
        else:
            route.continue_()

    page.context.route(f"**/review/items/{item.pk}/?*", fail_once)
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("alert")).to_contain_text("the site did not answer as it should")
    page.clock.fast_forward(2_000)

    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert Decision.objects.count() == 1


def test_pressing_twice_sends_once_and_the_way_back_shows_what_was_decided(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(), item)
    sent = []
    page.on("request", lambda each: sent.append(each.url) if is_submit(each) else None)
    page.get_by_label("no violation").check()
    note_on(page).fill("once")
    page.get_by_role("button", name="Submit and next").dblclick()
    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert len(sent) == 1

    page.go_back()

    expect(page.locator(".story")).to_contain_text("dana decided: no violation.")
    expect(note_on(page)).to_have_value("")
    assert Decision.objects.count() == 1


def test_a_session_that_ended_leads_to_the_log_in_and_then_back_to_the_text(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(), item)
    Session.objects.all().delete()
    page.get_by_label("no violation").check()
    note_on(page).fill("written over lunch")
    page.get_by_role("button", name="Submit and next").click()

    page.locator("input[name=username]").fill("dana")
    page.locator("input[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(note_on(page)).to_have_value("written over lunch")
    expect(page.get_by_label("no violation")).to_be_checked()
    assert not Decision.objects.exists()


def test_a_shared_machine_keeps_nobodys_text_for_the_next_person(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(expected=LOST), item)
    page.context.route("**/draft/*", lambda route: route.abort())
    note_on(page).fill("dana's own words")
    assert len(kept_here(page)) == 1
    page.get_by_role("button", name="Log out").click()
    page.locator("input[name=username]").wait_for()
    assert kept_here(page) == []

    # Her session ends without a log-out: whoever logs in next finds nothing either.
    log_in(page, "dana")
    page.goto(address_of(item))
    note_on(page).fill("dana's own words")
    page.context.clear_cookies()
    open_item(page, item, "omar")
    expect(page.get_by_text("omar", exact=True)).to_be_visible()
    assert kept_here(page) == []


def test_without_javascript_a_draft_is_saved_by_its_button_and_an_item_is_decided(
    open_page: Any, item: Item
) -> None:
    page = open_item(open_page(java_script_enabled=False), item)
    expect(page.get_by_role("button", name="Keys")).to_be_hidden()
    hint = page.locator("noscript p")
    expect(hint).to_contain_text("Save the draft first")
    expect(hint).to_be_visible()
    note_on(page).fill("in a plain browser")
    page.get_by_role("button", name="Save draft").click()

    expect(page.locator("#draft")).to_contain_text("restored.")
    expect(note_on(page)).to_have_value("in a plain browser")
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert Decision.objects.get().note == "in a plain browser"
    assert not Draft.objects.exists()
