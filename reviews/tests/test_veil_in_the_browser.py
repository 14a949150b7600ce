"""The veil as people meet it: by mouse, by keyboard, by screen reader, and without JavaScript."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client as HttpClient
from playwright.sync_api import Browser, BrowserContext, Page, expect

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Report
from reports.tests.sending import body_saying, make_sender
from reviews.tests.chromium import FOUND, MISSING, open_context
from reviews.tests.people import judge_threat

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
TEXT, COMMENT = "I will kill you tomorrow", "he knows where I live"


@pytest.fixture
def threat(policy: PolicyVersion, transactional_db: None) -> Report:  # noqa: ARG001
    report = make_sender("chat-app").send(body_saying(TEXT, comment=COMMENT))
    judge_threat(report, policy, quotes=[TEXT], summary="A threat to life.")
    return report


@pytest.fixture
def open_item(browser: Browser, live_server: Any, threat: Report) -> Iterator[Any]:
    """Opens the item as a reviewer who chose nothing; at the end no page may have complained."""
    opened: list[tuple[BrowserContext, list[str]]] = []

    def open_one(*, language: str = "en", **options: Any) -> Page:
        user, _made = User.objects.get_or_create(username="dana")
        user.groups.add(Group.objects.get(name="reviewer"))
        session = HttpClient()
        session.force_login(user)
        opened.append(open_context(browser, live_server.url, **options))
        context = opened[-1][0]
        context.add_cookies(
            [
                {"name": name, "value": value, "url": live_server.url}
                for name, value in (
                    ("sessionid", session.cookies["sessionid"].value),
                    ("django_language", language),
                )
            ]
        )
        page = context.new_page()
        page.goto(f"/review/items/{threat.item_id}/?from=needs-review")
        return page

    yield open_one
    for context, complaints in opened:
        context.close()
        assert complaints == []


def heard(page: Page) -> str:
    """What a screen reader finds on the page."""
    return page.locator("body").aria_snapshot()


def reveals() -> int:
    return AuditEntry.objects.filter(action="revealed").count()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_screen_reader_finds_the_summary_and_none_of_the_text(
    open_item: Any, language: str
) -> None:
    page = open_item(language=language)

    assert page.locator("html").get_attribute("lang") == language
    assert "A threat to life." in heard(page)
    for hidden in (TEXT, COMMENT):
        assert hidden not in heard(page)
        assert hidden not in page.content()


@pytest.mark.parametrize("by", ["mouse", "Enter", "letter"])
def test_the_text_is_shown_in_place_and_what_was_typed_stays(open_item: Any, by: str) -> None:
    page = open_item()
    page.locator("#id_note").fill("Typed before.")
    button = page.get_by_role("button", name="Show the text")

    if by == "mouse":
        button.click()
    elif by == "Enter":
        button.press("Enter")
    else:
        page.locator("h1").focus()
        page.keyboard.press("s")

    expect(page.locator(".reported mark")).to_have_text(TEXT)
    expect(page.get_by_role("heading", name="What was reported")).to_be_focused()
    expect(page.locator("#id_note")).to_have_value("Typed before.")
    expect(button).to_have_count(0)
    for shown in (TEXT, COMMENT):
        assert shown in heard(page)
    assert reveals() == 1
    page.reload()
    expect(page.locator(".reported mark")).to_have_text(TEXT)
    assert reveals() == 1


def test_the_text_is_shown_without_javascript(open_item: Any) -> None:
    page = open_item(java_script_enabled=False)

    page.get_by_role("button", name="Show the text").click()

    expect(page.locator(".reported mark")).to_have_text(TEXT)
    assert page.url.endswith("/?from=needs-review#shown")
    assert reveals() == 1


def test_an_answer_that_is_none_leaves_the_text_hidden_and_the_button_there(
    open_item: Any,
) -> None:
    page = open_item()
    page.locator("#id_note").fill("Typed before.")
    button = page.get_by_role("button", name="Show the text")
    page.route("**/reveal/*", lambda route: route.fulfill(status=403))

    button.click()

    expect(page.get_by_role("alert")).to_have_text(
        "Not shown: the site did not answer as it should. Try again, or reload the page."
    )
    expect(page.locator("#id_note")).to_have_value("Typed before.")
    page.unroute("**/reveal/*")
    button.click()
    expect(page.locator(".reported mark")).to_have_text(TEXT)
    assert reveals() == 1


def test_what_is_shown_has_no_colours(open_item: Any) -> None:
    page = open_item()
    page.get_by_role("button", name="Show the text").click()

    text = page.locator(".reported blockquote")
    expect(text).to_have_css("filter", "grayscale(1)")
