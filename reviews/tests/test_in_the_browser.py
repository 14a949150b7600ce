"""A reviewer's work in a real browser: in English, in Arabic, without JavaScript, and too late."""

from typing import Any

import pytest
from playwright.sync_api import expect

from classifier.models import PolicyVersion
from reports.models import Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Decision
from reviews.tests.chromium import FOUND, MISSING, log_in, make_reviewer
from reviews.tests.people import judge_threat, time_runs_out

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def two_threats(policy: PolicyVersion, transactional_db: None) -> tuple[Item, Item]:  # noqa: ARG001
    """Two items in review; the first stands above the second."""
    client: Client = make_sender("chat-app")
    items = []
    for text in ("I will kill you tomorrow", "سأقتلك غدا"):
        report = client.send(body_saying(text, language="en"))
        judge_threat(report, policy, quotes=[text])
        items.append(report.item)
    return items[0], items[1]


@pytest.mark.parametrize("scripts", [True, False], ids=["with JavaScript", "without JavaScript"])
def test_a_reviewer_logs_in_opens_the_top_item_decides_and_lands_on_the_next(
    open_page: Any,
    two_threats: tuple[Item, Item],
    scripts: bool,  # noqa: FBT001
) -> None:
    first, second = two_threats
    make_reviewer("dana")
    page = open_page(java_script_enabled=scripts)

    log_in(page, "dana")
    expect(page.locator("h1")).to_have_text("Needs review")
    expect(page.locator(".card")).to_have_count(2)
    page.get_by_role("button", name="Start reviewing").click()
    expect(page.locator("h1")).to_contain_text(first.external_id)
    expect(page.locator(".reported mark")).to_have_text("I will kill you tomorrow")
    page.get_by_label("remove", exact=True).check()
    page.get_by_label("Category").select_option(label="Credible threat")
    page.get_by_label("Note for colleagues").fill("Third time this week.")
    page.get_by_role("button", name="Submit and next").click()

    expect(page.locator("h1")).to_contain_text(second.external_id)
    expect(page.get_by_role("status").first).to_contain_text("Decided: remove.")
    page.get_by_label("no violation").check()
    page.get_by_role("button", name="Submit and next").click()
    expect(page.get_by_role("status").last).to_have_text("That was the last one of this list.")
    assert set(Item.objects.values_list("list", flat=True)) == {"resolved"}
    assert Decision.objects.get(item=first).note == "Third time this week."


def test_the_same_in_arabic_from_right_to_left(
    open_page: Any, two_threats: tuple[Item, Item]
) -> None:
    first, second = two_threats
    make_reviewer("dana")
    page = open_page()
    page.goto("/login/")
    page.get_by_role("button", name="العربية").click()

    log_in(page, "dana", button="دخول")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator("h1")).to_have_text("بحاجة إلى مراجعة")
    # The stripe stands at the card's start, which is its right side here.
    card = page.locator(".card").first
    assert card.evaluate("e => getComputedStyle(e).borderRightWidth") == "6px"
    assert card.evaluate("e => getComputedStyle(e).borderLeftWidth") == "1px"
    page.get_by_role("button", name="ابدأ المراجعة").click()
    expect(page.locator("h1")).to_contain_text(first.external_id)
    english = page.locator(".reported blockquote")
    assert english.evaluate("e => getComputedStyle(e).direction") == "ltr"
    page.get_by_label("إزالة", exact=True).check()
    page.get_by_label("الفئة").select_option(label="تهديد جدي")
    page.get_by_role("button", name="إرسال والتالي").click()

    expect(page.locator("h1")).to_contain_text(second.external_id)
    arabic = page.locator(".reported blockquote")
    assert arabic.evaluate("e => getComputedStyle(e).direction") == "rtl"


def test_a_stale_form_says_who_decided_and_keeps_the_typed_text(
    open_page: Any, two_threats: tuple[Item, Item]
) -> None:
    first, _second = two_threats
    dana, omar = open_page(), open_page()
    for name, page in (("dana", dana), ("omar", omar)):
        make_reviewer(name)
        log_in(page, name)
        page.goto(f"/review/items/{first.pk}/?from=needs-review")
        time_runs_out()
    dana.get_by_label("Note for colleagues").fill("Typed for a long time.")
    omar.get_by_label("no violation").check()
    omar.get_by_role("button", name="Submit", exact=True).click()
    expect(omar.get_by_role("status")).to_contain_text("Decided")

    dana.get_by_label("remove", exact=True).check()
    dana.get_by_label("Category").select_option(label="Credible threat")
    dana.get_by_role("button", name="Submit and next").click()

    expect(dana.get_by_role("alert")).to_contain_text("omar decided: no violation.")
    expect(dana.get_by_label("Note for colleagues")).to_have_value("Typed for a long time.")
    assert Decision.objects.count() == 1
    dana.get_by_role("button", name="Submit", exact=True).click()
    expect(dana.get_by_role("status")).to_contain_text("Decided: remove.")
    expect(dana.locator(".story")).to_contain_text("It overrides the decision of omar.")


def test_hostile_content_runs_nothing_and_the_content_security_policy_reports_nothing(
    open_page: Any, policy: PolicyVersion
) -> None:
    evil = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e"
    client = make_sender("chat-app")
    report = client.send(
        body_saying(evil, item={"type": evil, "id": evil, "author_id": evil}, comment=evil)
    )
    judge_threat(report, policy, summary=evil, quotes=[evil], served_model=evil)
    make_reviewer("dana")
    page = open_page()
    log_in(page, "dana")

    for address in ("/review/needs-review/", f"/review/items/{report.item_id}/"):
        page.goto(address)
        assert page.title() != "owned"
        assert page.locator("main script:not([src^='/static/']), main img").count() == 0
        expect(page.locator(".glyph").first).to_have_text("U+202E")
