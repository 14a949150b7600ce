"""The desk by keyboard alone: letters choose, Enter submits, and typing is typing."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Decision
from reviews.tests.chromium import FOUND, MISSING, PASSWORD, log_in, make_reviewer
from reviews.tests.people import fill_list, judge_threat

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def threat(policy: PolicyVersion, transactional_db: None) -> Item:  # noqa: ARG001
    """An item in review."""
    client: Client = make_sender("chat-app")
    report = client.send(body_saying("I will kill you tomorrow", language="en"))
    judge_threat(report, policy)
    return report.item


@pytest.fixture
def at_work(open_page: Any, threat: Item) -> Page:
    """The item's page as a reviewer sees it who has just opened it."""
    make_reviewer("dana")
    page: Page = open_page()
    log_in(page, "dana")
    page.goto(f"/review/items/{threat.pk}/?from=needs-review")
    return page


def chosen(page: Page) -> list[str]:
    values: list[str] = page.locator("input[name=action]:checked").evaluate_all(
        "every => every.map(each => each.value)"
    )
    return values


def press_as(page: Page, key: str, code: str) -> None:
    """What a layout sends that the test's browser does not have."""
    page.evaluate(
        """([key, code]) => document.activeElement.dispatchEvent(
            new KeyboardEvent('keydown', {key, code, bubbles: true, cancelable: true}))""",
        [key, code],
    )


def test_ten_items_are_decided_from_the_log_in_to_the_end_with_one_hand_on_the_keys(
    open_page: Any, policy: PolicyVersion
) -> None:
    fill_list(make_sender("chat-app"), policy, "needs_review", 10)
    make_reviewer("dana")
    page: Page = open_page()
    page.goto("/review/needs-review/")
    page.locator("input[name=username]").focus()
    page.keyboard.type("dana")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Needs review")
    expect(page.locator("kbd[data-letter=g]")).to_be_visible()  # the keys are there
    page.keyboard.press("g")

    seen = set()
    for number in range(10):
        expect(page.locator("h1")).to_contain_text("bulk-")
        expect(page.locator("h1")).to_be_focused()
        title = page.locator("h1").inner_text()
        seen.add(title)
        if number % 2:
            page.keyboard.press("d")
            page.keyboard.press("c")
            page.keyboard.type("hate")
        else:
            page.keyboard.press("n")
        page.keyboard.press("Enter")
        expect(page.locator("h1")).not_to_have_text(title)

    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert len(seen) == 10
    made = sorted(Decision.objects.values_list("action", "category"))
    assert made == [("no_violation", "")] * 5 + [("remove", "hate")] * 5


def test_while_somebody_types_letters_are_text_and_control_enter_submits(
    at_work: Page, threat: Item
) -> None:
    page = at_work
    page.keyboard.press("m")
    expect(page.locator("#decision").get_by_label("Note for colleagues")).to_be_focused()
    page.keyboard.type("rebind wand? ")
    page.keyboard.press("Enter")
    page.keyboard.type("second line")

    assert chosen(page) == []
    expect(page.locator("dialog")).to_be_hidden()
    page.get_by_label("Category").focus()
    page.keyboard.press("n")
    assert chosen(page) == []
    page.get_by_label("no violation").focus()
    page.keyboard.press("n")
    assert chosen(page) == ["no_violation"]
    page.keyboard.press("m")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("status").first).to_contain_text("Decided: no violation.")
    assert Decision.objects.get(item=threat).note == "rebind wand? \nsecond line"


@pytest.mark.parametrize(
    "more",
    [
        {"ctrlKey": True},
        {"altKey": True},
        {"metaKey": True},
        {"shiftKey": True},
        {"repeat": True},
        {"isComposing": True},
    ],
    ids=str,
)
def test_a_letter_with_a_modifier_held_down_or_half_composed_chooses_nothing(
    at_work: Page, more: dict[str, bool]
) -> None:
    press = """more => document.activeElement.dispatchEvent(new KeyboardEvent('keydown',
        {key: 'n', code: 'KeyN', bubbles: true, cancelable: true, ...more}))"""

    at_work.evaluate(press, more)
    assert chosen(at_work) == []

    at_work.evaluate(press, {})
    assert chosen(at_work) == ["no_violation"]


def test_an_arabic_layout_chooses_by_the_same_keys_and_a_latin_one_by_its_own_letters(
    at_work: Page,
) -> None:
    for key, code, expected in (
        ("ى", "KeyN", "no_violation"),
        ("ي", "KeyD", "remove"),
        ("n", "KeyL", "no_violation"),  # Dvorak
        ("D", "KeyD", "remove"),  # caps lock
        (",", "KeyW", "remove"),  # no letter: nothing
    ):
        press_as(at_work, key, code)
        assert chosen(at_work) == [expected], key
    press_as(at_work, "؟", "Slash")
    expect(at_work.get_by_role("dialog")).to_be_visible()


def test_the_question_mark_lists_what_this_page_offers_and_no_letter_reaches_behind_it(
    at_work: Page,
) -> None:
    page = at_work
    page.keyboard.press("?")

    dialog = page.get_by_role("dialog")
    offered = dict(
        zip(
            dialog.locator("dt").all_inner_texts(),
            dialog.locator("dd").all_inner_texts(),
            strict=True,
        )
    )
    assert offered["n"] == "no violation"
    assert offered["d"] == "remove"
    assert offered["m"] == "Note for colleagues"
    assert "b" not in offered  # an item in review cannot be sent back to review
    page.keyboard.press("n")
    assert chosen(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("n")
    assert chosen(page) == ["no_violation"]
    page.goto("/review/needs-review/")
    page.keyboard.press("?")
    assert dialog.locator("dd").all_inner_texts() == ["Keys", "Start reviewing"]


def test_one_switch_turns_single_letters_off_and_keeps_what_is_typed(at_work: Page) -> None:
    page = at_work
    expect(page.locator("kbd[data-letter=n]")).to_be_visible()
    page.locator("#decision").get_by_label("Note for colleagues").fill("half a sentence")
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Turn single letters off").click()
    page.locator("body[data-single-keys=off]").wait_for()

    expect(page.locator("#decision").get_by_label("Note for colleagues")).to_have_value(
        "half a sentence"
    )
    expect(page.locator("h1")).to_be_focused()
    for key in ("n", "d", "?"):
        page.keyboard.press(key)
    assert chosen(page) == []
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(page.locator("main kbd")).to_have_count(0)
    assert not User.objects.get(username="dana").review_preferences.single_keys
    page.get_by_role("button", name="Keys").click()
    page.get_by_role("button", name="Turn single letters on").click()
    page.locator("body[data-single-keys=on]").wait_for()
    expect(page.locator("kbd[data-letter=n]")).to_be_visible()
    page.keyboard.press("n")
    assert chosen(page) == ["no_violation"]


def test_focus_lands_on_what_is_wrong_and_otherwise_on_the_heading(
    at_work: Page, threat: Item
) -> None:
    page = at_work
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("d")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_be_focused()
    expect(page.get_by_role("alert")).to_have_text("Choose the category that the content breaks.")
    assert chosen(page) == ["remove"]
    page.keyboard.press("n")
    page.get_by_role("button", name="Submit", exact=True).press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("Decided")
    expect(page.locator("h1")).to_be_focused()
    assert Decision.objects.filter(item=threat).count() == 1
