"""One item, one person, in real browsers: two people, time that runs out, and a colleague who takes over."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from playwright.sync_api import Page, expect

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Claim, Decision
from reviews.tests.chromium import FOUND, MISSING, log_in, make_reviewer
from reviews.tests.people import judge_threat, time_runs_out

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
NOTE = "Note for colleagues"


@pytest.fixture
def sender(transactional_db: None) -> Client:  # noqa: ARG001
    return make_sender("chat-app")


@pytest.fixture
def items(policy: PolicyVersion, sender: Client) -> list[Item]:
    """Three items in review, the list's first one first."""
    reports = [sender.send(body_saying(f"I will kill you, {n}", language="en")) for n in range(3)]
    for report in reports:
        judge_threat(report, policy)
    return [report.item for report in reports]


@pytest.fixture
def dana(open_page: Any) -> Page:
    return at_work(open_page, "dana")


@pytest.fixture
def omar(open_page: Any) -> Page:
    return at_work(open_page, "omar")


def at_work(open_page: Any, name: str, **options: Any) -> Page:
    make_reviewer(name)
    page: Page = open_page(**options)
    log_in(page, name)
    return page


def open_item(page: Page, item: Item) -> None:
    page.goto(f"/review/items/{item.pk}/?from=needs-review")
    expect(page.locator("h1")).to_contain_text(item.external_id)


def start(page: Page) -> None:
    page.goto("/review/needs-review/")
    page.get_by_role("button", name="Start reviewing").click()


def type_note(page: Page) -> None:
    page.get_by_label("no violation").check()
    page.locator("#decision").get_by_label(NOTE).fill("Typed for a long time.")


def submit(page: Page) -> None:
    page.get_by_role("button", name="Submit", exact=True).click()


def note_of(page: Page) -> Any:
    return expect(page.locator("#decision").get_by_label(NOTE))


def test_of_two_browsers_on_one_item_one_decides_and_the_other_sees_who_does(
    dana: Page, omar: Page, items: list[Item]
) -> None:
    start(dana)
    expect(dana.locator("h1")).to_contain_text(items[0].external_id)
    start(omar)
    expect(omar.locator("h1")).to_contain_text(items[1].external_id)

    open_item(omar, items[0])

    expect(omar.get_by_role("status").first).to_contain_text("dana has this item until")
    expect(omar.get_by_role("button", name="Submit", exact=True)).to_have_count(0)
    omar.goto("/review/needs-review/")
    expect(omar.locator(".card").nth(0)).to_contain_text("dana has it until")
    expect(omar.locator(".card").nth(1)).to_contain_text("Yours until")
    dana.get_by_label("no violation").check()
    dana.get_by_role("button", name="Submit and next").click()
    expect(dana.locator("h1")).to_contain_text(items[2].external_id)


def test_the_time_left_counts_down_and_whoever_is_active_gets_more(
    dana: Page, items: list[Item]
) -> None:
    dana.clock.install()
    open_item(dana, items[0])
    left = dana.locator("[data-left]")
    expect(left).to_have_text(re.compile(r"^(10:00|9:5\d)$"))
    expect(left).to_have_attribute("aria-hidden", "true")
    time_runs_out(minutes=4)

    dana.clock.fast_forward("04:00")
    expect(left).to_have_text(re.compile(r"^(6:00|5:5\d)$"))
    assert nearly_ten_minutes() == 0
    with dana.expect_response("**/claim/") as answer:
        dana.mouse.wheel(0, 100)
        dana.keyboard.press("Shift")
        dana.clock.run_for(1_000)

    assert answer.value.json()["says"] == ""
    expect(left).to_have_text(re.compile(r"^(10:00|9:5\d)$"))
    assert nearly_ten_minutes() == 1


def nearly_ten_minutes() -> int:
    """How many claims have just been made or renewed."""
    return Claim.objects.filter(expires_at__gt=Now() + timedelta(minutes=9)).count()


def test_the_last_minute_is_announced_once_and_anything_done_then_gives_more(
    dana: Page, items: list[Item]
) -> None:
    dana.clock.install()
    open_item(dana, items[0])
    time_runs_out(minutes=9)

    dana.clock.fast_forward("09:10")
    said = dana.locator("[data-claim-says]")
    expect(said).to_contain_text("One minute is left.")
    dana.keyboard.press("Shift")
    dana.clock.run_for(1_000)

    expect(said).to_be_empty()
    assert nearly_ten_minutes() == 1


def test_text_that_is_being_typed_outlives_the_time_and_counts_where_nobody_else_came(
    dana: Page, items: list[Item]
) -> None:
    dana.clock.install()
    open_item(dana, items[0])
    type_note(dana)
    time_runs_out()

    dana.clock.fast_forward("10:01")

    expect(dana.locator("[data-claim-says]")).to_contain_text("Your time for this item ran out.")
    expect(dana.locator("[data-left]")).to_have_text("0:00")
    note_of(dana).to_have_value("Typed for a long time.")
    submit(dana)
    expect(dana.get_by_role("status").first).to_contain_text("Decided: no violation.")
    assert Decision.objects.get().note == "Typed for a long time."


def test_where_somebody_else_came_the_page_says_who_and_a_decision_is_refused_with_the_text_kept(
    dana: Page, omar: Page, items: list[Item]
) -> None:
    dana.clock.install()
    open_item(dana, items[0])
    type_note(dana)
    time_runs_out()
    start(omar)
    expect(omar.locator("h1")).to_contain_text(items[0].external_id)

    dana.clock.fast_forward("10:01")
    expect(dana.locator("[data-claim-says]")).to_contain_text("omar\u2069 has this item now")
    submit(dana)

    expect(dana.get_by_role("alert").first).to_contain_text("omar has this item until")
    note_of(dana).to_have_value("Typed for a long time.")
    assert not Decision.objects.exists()
    omar.get_by_role("button", name="Release").click()
    expect(omar.locator("h1")).to_have_text("Needs review")
    submit(dana)
    expect(dana.get_by_role("status").first).to_contain_text("Decided: no violation.")
    assert Decision.objects.get().reviewer.username == "dana"


def test_what_is_handed_over_is_what_the_colleague_gets_first(
    dana: Page, omar: Page, items: list[Item]
) -> None:
    open_item(dana, items[2])
    dana.keyboard.press("o")
    dana.get_by_label("Colleague", exact=True).select_option("omar")
    dana.get_by_label(NOTE).fill("You know the slang.")
    dana.get_by_role("button", name="Hand over").click()
    expect(dana.get_by_role("status").first).to_contain_text("omar\u2069 now")
    expect(dana.locator("h1")).to_contain_text(items[0].external_id)

    start(omar)

    expect(omar.locator("h1")).to_contain_text(items[2].external_id)
    expect(omar.locator("main")).to_contain_text("dana handed this item to you.")
    expect(omar.locator("main")).to_contain_text("You know the slang.")
    open_item(dana, items[2])
    dana.get_by_role("button", name="Take it back").click()
    expect(dana.get_by_role("button", name="Submit", exact=True)).to_be_visible()


def test_new_reports_on_the_item_in_hand_are_announced(
    dana: Page, omar: Page, items: list[Item], sender: Client
) -> None:
    dana.clock.install()
    open_item(dana, items[0])
    same = {"type": items[0].type, "id": items[0].external_id, "author_id": "u-1", "url": None}
    sender.send(body_saying("the same again", item=same))

    dana.keyboard.press("Shift")
    dana.clock.fast_forward("01:01")

    said = "1 new report came in about this item."
    expect(dana.locator("[data-claim-says]")).to_contain_text(said)
    start(omar)
    expect(omar.locator("h1")).to_contain_text(items[1].external_id)


@pytest.mark.parametrize("scripts", [True, False], ids=["by keys", "without JavaScript"])
def test_skipping_putting_aside_and_releasing(
    open_page: Any,
    items: list[Item],
    scripts: bool,  # noqa: FBT001
) -> None:
    page = at_work(open_page, "dana", java_script_enabled=scripts)

    def press(letter: str, name: str) -> None:
        if scripts:
            expect(page.locator(f"kbd[data-letter={letter}]")).to_be_visible()
            page.keyboard.press(letter)
        else:
            page.locator(f"[data-key={letter}]", has_text=name).click()

    start(page)
    expect(page.locator("h1")).to_contain_text(items[0].external_id)
    press("k", "Skip")
    expect(page.locator("h1")).to_contain_text(items[1].external_id)
    press("h", "Put aside")
    page.get_by_label("Why it waits").fill("The lawyers answer at noon.")
    page.get_by_role("button", name="4 hours", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("Put aside:")
    expect(page.locator("h1")).to_contain_text(items[2].external_id)
    press("x", "Release")

    expect(page.locator("h1")).to_have_text("Needs review")
    expect(page.locator(".card").nth(1)).to_contain_text("Put aside by dana until")
    expect(page.locator(".card").nth(1)).to_contain_text("The lawyers answer at noon.")
    assert not Claim.objects.in_force().exists()
