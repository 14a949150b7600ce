"""Who decides anew about an item reads what both had answered, and comes back to what is to settle."""

import re
from typing import Any

import pytest
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.tests.sending import Client
from reviews.models import DoubleReview
from reviews.tests.differing import NO_ANSWER, differing, in_effect
from reviews.tests.people import form_of, log_in, page

pytestmark = pytest.mark.django_db

DIFFER = "Two people differ about this item"
SECOND = "<bdi>omar</bdi> would decide: warn. Spam."
QUEUE = "/review/quality/to-settle/"


@pytest.fixture
def review(client_of_sender: Client, policy: PolicyVersion) -> DoubleReview:
    review = differing(
        client_of_sender, policy, action_id="warn", category="spam", note="his <b>\u202enote"
    )
    in_effect(review.decision)
    return review


def shown(review: DoubleReview, name: str, *roles: str) -> tuple[str, str]:
    """The notice about both answers, blank without one, and what happened."""
    html = page(log_in(name, *roles), f"/review/items/{review.decision.item_id}/")
    notice = re.search(rf'<div class="notice">\s*<p>{DIFFER}(.*?)</div>', html)
    return notice[1] if notice else "", html.partition('aria-labelledby="story"')[2]


def test_who_may_settle_it_reads_both_answers(review: DoubleReview) -> None:
    notice, _story = shown(review, "lena", "lead")

    assert "<bdi>dana</bdi> decided: remove. Hate." in notice
    assert "her note" in notice
    assert SECOND in notice
    assert "his &lt;b&gt;" in notice
    assert "\u202e" not in notice
    assert "What you decide here settles it." in notice
    assert f'href="{QUEUE}"' in notice


def test_the_two_are_told_that_somebody_else_settles_it(review: DoubleReview) -> None:
    for name in ("dana", "omar"):
        notice, _story = shown(review, name, "lead")
        assert "You are one of the two: somebody else settles it." in notice
        assert "What you decide here settles it." not in notice


def test_what_happened_has_the_second_answer_for_everybody(review: DoubleReview) -> None:
    notice, story = shown(review, "noor", "reviewer")

    assert notice == ""
    assert "Second review:" in story
    assert SECOND in story


def test_an_answer_that_may_be_taken_back_is_shown_nowhere(
    review: DoubleReview, settings: Settings
) -> None:
    assert DIFFER in page(log_in("lena", "lead"), f"/review/items/{review.decision.item_id}/")
    settings.UNDO_SECONDS = 2 * 60 * 60

    notice, story = shown(review, "lena", "lead")

    assert notice == ""
    assert "Second review:" not in story


def test_who_was_asked_and_has_not_answered_is_shown_nowhere(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    nothing: dict[str, Any] = {**NO_ANSWER}
    notice, story = shown(differing(client_of_sender, policy, **nothing), "lena", "lead")

    assert notice == ""
    assert "Second review:" not in story


def test_what_is_settled_or_agrees_is_told_without_a_notice(review: DoubleReview) -> None:
    log_in("lena", "lead").post(f"{QUEUE}{review.pk}/", {"side": "first"})

    notice, story = shown(review, "lena", "lead")

    assert notice == ""
    assert SECOND in story


def test_who_came_from_what_is_to_settle_goes_back_there(review: DoubleReview) -> None:
    lena = log_in("lena", "lead")
    address = f"/review/items/{review.decision.item_id}/?from=to-settle"
    html = page(lena, address)

    assert f'<a class="button" href="{QUEUE}">Back to the list</a>' in html
    answer = lena.post(address, {**form_of(html), "next": "", "action": "warn", "category": "hate"})
    assert answer["Location"] == QUEUE
