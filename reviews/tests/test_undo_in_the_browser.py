"""Deciding in a real browser: taking back in time, a second person's approval, several at once."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import body_saying, make_sender
from reviews.models import Decision
from reviews.tests.chromium import FOUND, MISSING, log_in, make_reviewer, stop_clock
from reviews.tests.people import classify

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]


UNDO_SECONDS = 60


@pytest.fixture(autouse=True)
def _ample_time(settings: Settings) -> None:
    """So that a busy machine undoes in time as well."""
    settings.UNDO_SECONDS = UNDO_SECONDS


@pytest.fixture
def items(policy: PolicyVersion, transactional_db: None) -> list[Item]:  # noqa: ARG001
    """Three in review, of low severity."""
    client = make_sender("chat-app")
    reports = [client.send(body_saying(f"buy {number}")) for number in range(3)]
    for report in reports:
        classify(report, policy, category="spam", safe=False, severity=1, rules=["unsafe_category"])
    return [report.item for report in reports]


def enter(page: Page, name: str, address: str) -> None:
    make_reviewer(name)
    log_in(page, name)
    expect(page.locator("h1")).to_have_text("Needs review")
    page.goto(address)


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_decision_is_taken_back_from_the_next_page(
    open_page: Any,
    items: list[Item],
    scripts: bool,  # noqa: FBT001
) -> None:
    page = open_page(java_script_enabled=scripts)
    enter(page, "dana", f"/review/items/{items[0].pk}/?from=needs-review")
    page.get_by_label("no violation").check()
    page.locator("#id_note").fill("Quite harmless.")
    page.get_by_role("button", name="Submit and next").click()
    expect(page.locator("h1")).to_contain_text(items[1].external_id)
    page.get_by_role("button", name="Undo").click()

    expect(page.locator("h1")).to_contain_text(items[0].external_id)
    expect(page.get_by_role("status").first).to_contain_text("Taken back: no violation.")
    expect(page.locator("#id_note")).to_have_value("Quite harmless.")
    assert set(Item.objects.values_list("list", flat=True)) == {"needs_review"}


def test_the_offer_counts_down_and_goes_when_its_time_is_over(
    open_page: Any,
    items: list[Item],
) -> None:
    page = open_page()
    stop_clock(page)
    enter(page, "dana", f"/review/items/{items[0].pk}/?from=needs-review")
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    button = page.get_by_role("button", name="Undo")
    seconds = int(button.get_attribute("data-seconds") or "")
    assert 0 < seconds <= UNDO_SECONDS
    expect(button).to_contain_text(f"({seconds})")
    page.clock.run_for(3_000)
    expect(button).to_contain_text(f"({seconds - 3})")
    page.clock.run_for(1_000 * UNDO_SECONDS)
    expect(button).to_have_count(0)


def test_a_second_person_approves_what_the_first_proposed(
    open_page: Any,
    items: list[Item],
) -> None:
    dana, omar = open_page(), open_page()
    address = f"/review/items/{items[0].pk}/?from=needs-review"
    enter(dana, "dana", address)
    dana.get_by_label("remove and suspend").check()
    dana.get_by_label("Category", exact=True).select_option(label="Spam")
    expect(dana.locator("#meaning")).not_to_be_empty()
    dana.get_by_role("button", name="Submit", exact=True).click()
    expect(dana.get_by_role("status").first).to_contain_text("A different person must approve it.")
    expect(dana.get_by_role("button", name="Approve")).to_have_count(0)
    assert Item.objects.get(pk=items[0].pk).list == "needs_review"

    enter(omar, "omar", address)
    expect(omar.locator("#proposed + p")).to_contain_text("dana proposed: remove and suspend.")
    omar.get_by_role("button", name="Approve").click()

    expect(omar.get_by_role("status").first).to_contain_text("Decided: remove and suspend.")
    assert Item.objects.get(pk=items[0].pk).list == "resolved"
    assert Decision.objects.latest("id").approves == Decision.objects.earliest("id")


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_several_are_decided_at_once(
    open_page: Any,
    items: list[Item],
    scripts: bool,  # noqa: FBT001
) -> None:
    page = open_page(java_script_enabled=scripts)
    enter(page, "dana", "/review/needs-review/")
    everything = page.get_by_role("button", name="Choose all on this page")
    if scripts:
        everything.click()
        expect(page.locator("#bulk [data-chosen]")).to_have_text("(3)")
    else:
        expect(everything).to_be_hidden()
        for box in page.get_by_role("checkbox").all():
            box.check()
    bulk = page.locator("#bulk")
    bulk.get_by_label("Decision", exact=True).select_option(label="no violation")
    page.get_by_role("button", name="Decide about all that are chosen").click()

    expect(page.locator(".outcomes .card")).to_have_count(len(items))
    for nth in range(2):
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Undo").nth(nth).click()
        said = opened.value.get_by_role("status").first
        expect(said).to_contain_text("Taken back: no violation.")
    expect(page.locator(".outcomes .card")).to_have_count(len(items))
    assert Item.objects.filter(list="resolved").count() == len(items) - 2
