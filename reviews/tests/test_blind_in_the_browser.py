"""Blind work in a real browser: an audit finds a miss by keyboard alone, and a decision is reviewed anew."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying, make_sender
from reviews.models import Claim, Decision, DoubleReview, SamplingRate
from reviews.tests.chromium import FOUND, MISSING, log_in, make_reviewer
from reviews.tests.quality import (
    decided,
    drawn_audit,
    drawn_double_review,
    judge_spam,
    judged_safe,
    share,
)

pytestmark = [
    pytest.mark.skipif(FOUND is None, reason=MISSING),
    pytest.mark.django_db(transaction=True),
]
MACHINE = "What the model answered"
BLIND = "You see this item without the machine's answer"


@pytest.fixture
def sender(transactional_db: None) -> Client:  # noqa: ARG001
    return make_sender("chat-app")


@pytest.fixture
def spam(sender: Client, policy: PolicyVersion) -> Item:
    """Other work, among which the samples come."""
    report = sender.send(body_saying("Buy cheap watches."))
    judge_spam(report, policy)
    return report.item


@pytest.fixture
def dana(open_page: Any, spam: Item) -> Page:  # noqa: ARG001
    """At the list, with the keys at hand."""
    share(SamplingRate.Of.MIXED_IN, 1)
    share(SamplingRate.Of.BLIND, 0)
    make_reviewer("dana")
    page: Page = open_page()
    log_in(page, "dana")
    expect(page.locator("kbd[data-letter=g]")).to_be_visible()
    return page


@pytest.fixture
def buried(sender: Client, policy: PolicyVersion) -> Report:
    """A threat that a machine judged safe, drawn for an audit."""
    report = judged_safe(sender, policy, "I will kill you tomorrow")
    drawn_audit(report)
    return report


@pytest.fixture
def review(sender: Client, policy: PolicyVersion) -> DoubleReview:
    """Omar removed it as spam; it is drawn for a second person."""
    first = decided(sender, policy, "Meet me at noon.", by="omar", action="remove")
    return drawn_double_review(first)


def test_an_audit_that_finds_a_miss_by_keyboard_alone(
    buried: Report, dana: Page, spam: Item, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    dana.keyboard.press("g")
    expect(dana.locator("h1")).to_contain_text(buried.item.external_id)
    expect(dana.locator("h1")).to_be_focused()
    expect(dana.locator("main")).to_contain_text(BLIND)
    expect(dana.locator("main")).not_to_contain_text(MACHINE)
    expect(dana.locator(".reported blockquote")).to_have_text("I will kill you tomorrow")
    expect(dana.locator("main mark")).to_have_count(0)

    dana.keyboard.press("d")
    dana.keyboard.press("c")
    dana.keyboard.type("credible")
    dana.keyboard.press("Enter")

    expect(dana.locator("h1")).to_contain_text(spam.external_id)
    expect(dana.get_by_role("status").first).to_contain_text("Decided: remove.")
    decision = Decision.objects.get()
    assert (decision.item, decision.category) == (buried.item, "credible_threat")
    assert Item.objects.get(pk=buried.item_id).list == Item.List.RESOLVED
    dana.goto(f"/review/items/{buried.item_id}/")
    expect(dana.locator("main")).to_contain_text(BLIND)
    settings.UNDO_SECONDS = 0
    dana.get_by_role("link", name="Look again").click()
    expect(dana.locator("main")).to_contain_text(MACHINE)


def test_a_decision_is_reviewed_a_second_time_taken_back_and_answered_anew(
    review: DoubleReview, dana: Page, spam: Item
) -> None:
    dana.get_by_role("button", name="Start reviewing").click()
    expect(dana.locator("h1")).to_contain_text(review.decision.item.external_id)
    expect(dana.locator("main")).to_contain_text(BLIND)
    expect(dana.locator("main")).not_to_contain_text("omar")

    note = dana.locator("#decision").get_by_label("Note for colleagues")
    note.fill("A plain invitation.")
    expect(dana.get_by_text("Draft saved.")).to_be_visible()
    dana.get_by_label("no violation").check()
    dana.get_by_role("button", name="Submit", exact=True).click()
    expect(dana.get_by_role("status").first).to_contain_text("It is kept.")
    expect(dana.locator("main")).not_to_contain_text("omar")

    dana.get_by_role("button", name="Undo").click()
    expect(dana.locator("main")).to_contain_text(BLIND)
    expect(note).to_have_value("A plain invitation.")
    expect(dana.get_by_label("no violation")).to_be_checked()
    dana.get_by_label("warn").check()
    dana.get_by_label("Category").select_option(label="Spam")
    dana.get_by_role("button", name="Submit and next").click()

    expect(dana.locator("h1")).to_contain_text(spam.external_id)
    expect(dana.get_by_role("status").first).to_contain_text("It is kept.")
    review.refresh_from_db()
    assert (review.action_id, review.category, review.agrees) == ("warn", "spam", True)
    assert Decision.objects.count() == 1
    assert list(Claim.objects.in_force().values_list("item", flat=True)) == [spam.pk]
