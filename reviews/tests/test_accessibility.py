"""axe-core finds no violation of WCAG 2.2 A and AA: every page, both languages, light and dark."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as HttpClient
from playwright.sync_api import Browser, Page

from classifier.models import PolicyVersion
from reviews.models import Claim, Preferences
from reviews.tests.chromium import FOUND, MISSING, open_context
from reviews.tests.furnished import blind_item, furnish
from reviews.tests.people import (
    form_of,
    log_in,
)

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
GUIDELINES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
# In the dark only colours differ.
RULES: dict[Literal["dark", "light"], dict[str, Any]] = {
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "light": {"type": "tag", "values": GUIDELINES},
}


def axe_source() -> str:
    found = find_spec("axe_playwright_python")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).with_name("axe.min.js").read_text()


def violations(shown: Page, complaints: list[str]) -> list[str]:
    """What axe finds on the page as it stands, and what the browser complained of before."""
    found = [*complaints]
    shown.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
    shown.evaluate(axe_source())
    for scheme, only in RULES.items():
        shown.emulate_media(color_scheme=scheme)
        # A colour that is changing has not got there yet.
        shown.evaluate("document.getAnimations().forEach(each => each.finish())")
        result: dict[str, Any] = shown.evaluate(
            "only => axe.run(document, {runOnly: only, resultTypes: ['violations']})", only
        )
        assert result["passes"], "axe looked at nothing"
        found += [
            f"{scheme}: {each['id']}: {node['target']} {node['failureSummary']}"
            for each in result["violations"]
            for node in each["nodes"]
        ]
    complaints.clear()  # axe tries inline styles of its own, which the policy refuses
    return found


def a_hidden_text_and_forms_refused(
    shown: Page, addresses: dict[str, str], complaints: list[str]
) -> dict[str, list[str]]:
    """A text that was hidden and is shown, a form that was refused, and one that came too late."""
    found = {}
    shown.goto(addresses["item in review"])
    shown.locator("[data-key=s]").click()
    shown.locator(".reported mark").wait_for()
    assert shown.locator(".pause-proposal").count() == 1
    found["text shown"] = violations(shown, complaints)
    seen = form_of(" ".join(shown.content().split()))
    shown.locator("input[name=action][value=remove]").check()
    shown.locator("button[name=stay]").click()
    shown.locator("form[data-bound]").wait_for()
    found["refused form"] = violations(shown, complaints)
    item = int(addresses["item in review"].split("/")[3])
    Claim.objects.update(released_at=Now())  # else omar could not come first
    log_in("omar", "reviewer").post(
        f"/review/items/{item}/", {**seen, "action": "no_violation", "stay": ""}
    )
    shown.locator("input[name=action][value=no_violation]").check()
    shown.locator("button[name=stay]").click()
    shown.locator("#stale").wait_for()
    found["stale form"] = violations(shown, complaints)
    return found


def several_at_once_and_a_lost_connection(
    shown: Page, addresses: dict[str, str], complaints: list[str]
) -> dict[str, list[str]]:
    """The answer to several with its undo, a refused wait, a draft, what was not sent, the keys."""
    found = {}
    shown.goto(addresses["judged safe"])
    shown.get_by_role("checkbox").first.check()
    shown.locator("#bulk select[name=action]").select_option("no_violation")
    shown.locator("#bulk .button.primary").click()
    shown.locator(".outcomes .card").wait_for()
    found["several at once, with their undo"] = violations(shown, complaints)
    shown.goto(addresses["pending item"])
    shown.locator("form[action*=put-aside] button").first.evaluate(
        "button => { button.value = '5'; button.form.requestSubmit(button) }"
    )
    shown.locator("[role=alert]").wait_for()
    found["put aside refused"] = violations(shown, complaints)
    shown.goto(addresses["pending item"])
    shown.locator("#decision textarea[name=note]").fill("mine")
    shown.locator("[data-saved]").wait_for()
    shown.goto(addresses["pending item"])
    shown.locator("#draft").wait_for()
    shown.locator("input[name=action][value=no_violation]").check()
    shown.context.set_offline(True)
    shown.locator("button[name=stay]").click()
    shown.locator("[data-unsent]").wait_for()
    shown.locator("button[data-key='?']").click()
    complaints.clear()  # of the connection that was cut
    found["draft, not sent, keys"] = violations(shown, complaints)
    return found


@pytest.mark.parametrize("language", ["en", "ar"])
def test_no_page_violates_the_guidelines(
    browser: Browser, live_server: Any, policy: PolicyVersion, language: str
) -> None:
    addresses = furnish(policy)
    user = User.objects.create_superuser("root")
    addresses["blind item"] = blind_item(policy, "root")
    # A pause is proposed from the first severe item on, beside whatever else the pages show.
    Preferences.objects.create(user=user, pause_after=1)
    session = HttpClient()
    session.force_login(user)
    context, complaints = open_context(browser, live_server.url, color_scheme="light")
    name = settings.LANGUAGE_COOKIE_NAME
    context.add_cookies([{"name": name, "value": language, "url": live_server.url}])
    shown = context.new_page()
    found: dict[str, list[str]] = {}
    shown.goto("/login/")
    found["log in"] = violations(shown, complaints)
    cookie = session.cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": live_server.url}]
    )
    for title, address in addresses.items():
        shown.goto(address)
        assert shown.locator("html").get_attribute("lang") == language
        found[title] = violations(shown, complaints)
    found |= a_hidden_text_and_forms_refused(shown, addresses, complaints)
    found |= several_at_once_and_a_lost_connection(shown, addresses, complaints)
    context.close()

    lines = [f"{title}: {each}" for title, every in found.items() for each in every]
    assert not lines, "\n".join(lines)
