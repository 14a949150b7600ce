"""On a narrow screen nothing scrolls sideways (WCAG 1.4.10): 320 px, both languages."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from classifier.models import PolicyVersion
from reports.tests.sending import body_saying, make_sender
from reviews.tests.chromium import FOUND, MISSING, open_context
from reviews.tests.differing import differing, in_effect, wish
from reviews.tests.misses import find_missed, send_safe
from reviews.tests.people import judge_threat, log_in
from reviews.words import CATEGORY_NAMES

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
SIDEWAYS = """() => {
    document.querySelectorAll('details').forEach(each => { each.open = true });
    const wide = [...document.querySelectorAll('body *')].filter(each => {
        const box = each.getBoundingClientRect();
        return each.checkVisibility() && box.width > 1 && (box.right > innerWidth + 1 || box.left < -1);
    });
    const found = wide.slice(0, 5).map(each => each.outerHTML.slice(0, 120));
    return document.documentElement.scrollWidth > innerWidth ? found : [];
}"""


def fill_quality(policy: PolicyVersion) -> None:
    """Each page has a card, and the table of differences a column for each category."""
    sender = make_sender("forum")
    for text, category in enumerate(CATEGORY_NAMES):
        report = sender.send(body_saying(f"{text}"))
        judge_threat(report, policy, category="spam")
        upholds = {"action": "remove", "category": category}
        wish(report, "dana", **({"action": "no_violation"} if category == "none" else upholds))
        in_effect(report.decisions.get())
    in_effect(differing(sender, policy).decision)
    find_missed(log_in("dana", "reviewer"), send_safe(sender, policy, "the same words"))
    send_safe(sender, policy, "the same words")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_no_page_scrolls_sideways_at_320_pixels(
    browser: Browser, live_server: Any, policy: PolicyVersion, language: str
) -> None:
    report = make_sender("chat-app").send(body_saying("text"))
    judge_threat(report, policy)
    fill_quality(policy)
    session = log_in("dana-of-the-night-shift", "lead")
    context, complaints = open_context(
        browser, live_server.url, viewport={"width": 320, "height": 700}
    )
    kept = {"sessionid": session.cookies["sessionid"].value, "django_language": language}
    context.add_cookies(
        [{"name": name, "value": value, "url": live_server.url} for name, value in kept.items()]
    )
    shown = context.new_page()
    sideways = {}
    for address in (
        "needs-review/",
        "pending/",
        "safe/",
        "resolved/",
        "disagreements/",
        "quality/?within=all",
        "quality/missed/",
        "quality/to-settle/",
        "quality/differences/",
        "search/?q=text",
        "views/",
        "preferences/",
        "decisions/",
        f"items/{report.item_id}/",
        f"items/{report.item_id}/hand-over/",
    ):
        shown.goto(f"/review/{address}")
        if found := shown.evaluate(SIDEWAYS):
            sideways[address] = found
    context.close()

    assert sideways == {}
    assert complaints == []
