"""What two people decided differently stands before leads: the worst first, both answers beside the text."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from classifier.models import PolicyVersion
from classifier.tests.explaining import nodes_of
from reports.models import Severity
from reports.tests.sending import Client
from reviews.models import Claim, Decision
from reviews.quality.calibration import to_settle
from reviews.queue import PAGE
from reviews.tests.differing import AGREES, NO_ANSWER, differing, wish
from reviews.tests.people import log_in, page
from reviews.undo import undo_decision

pytestmark = pytest.mark.django_db

QUEUE = "/review/quality/to-settle/"


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """What is decided is in effect."""
    settings.UNDO_SECONDS = 0


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


def excerpts(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def test_both_answers_stand_side_by_side_with_names_and_notes(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    review = differing(
        client_of_sender, policy, action_id="warn", category="spam", note="his \u202enote"
    )

    html = page(lena, QUEUE)

    first, second = html.split('<section class="panel"')[1:]
    said = re.sub(r"<(?!span class=\"glyph)[^>]+>", "", first)
    assert "dana decided: remove. Hate." in said
    assert "Note: her note" in said
    assert "Reason for the author: her reason" in said
    said = re.sub(r"<[^>]+>", "", second.partition("</section>")[0])
    assert "omar would decide: warn. Spam." in said
    assert "Note: his U+202Enote" in said
    assert excerpts(html) == ["I will find you"]
    assert f'href="/review/items/{review.decision.item_id}/?from=to-settle"' in html


def test_headings_and_buttons_say_which_item_they_are_of(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    review = differing(client_of_sender, policy)

    html = page(lena, QUEUE)

    names = re.findall(r'aria-labelledby="(\w+)-(\d+) named-(\d+)"', html)
    assert [name for name, *_pks in names] == ["first", "second", "keep", "take", "neither"]
    assert {pk for _name, *pks in names for pk in pks} == {str(review.pk)}
    for name, pk, _pk in names:
        assert html.count(f'id="{name}-{pk}"') == 1
    assert html.count(f'id="named-{review.pk}"') == 1


def test_the_most_severe_come_first_on_pages_that_follow_a_key(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    for number in range(PAGE + 2):
        severity = Severity.CRITICAL if number % 3 == 0 else Severity.LOW
        differing(client_of_sender, policy, f"text {number}", severity=severity)
    wanted = sorted(range(PAGE + 2), key=lambda number: (number % 3 != 0, number))

    first = page(lena, QUEUE)
    (key,) = re.findall(r'href="(\?after=[\d.]+)">Next page', first)
    second = page(lena, f"{QUEUE}{key}")

    assert [*excerpts(first), *excerpts(second)] == [f"text {number}" for number in wanted]
    assert "Next page" not in second
    for odd in ("x", "1", "9.1", "1.0", f"1.{2**63}", "-1.1"):
        assert lena.get(QUEUE, {"after": odd})["Location"] == QUEUE


def test_what_agrees_is_settled_or_not_answered_is_not_in_it(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    differing(client_of_sender, policy, "agrees", **AGREES)
    differing(client_of_sender, policy, "not answered", **NO_ANSWER)
    settled, left = (differing(client_of_sender, policy, text) for text in ("settled", "left"))
    lena.post(f"{QUEUE}{settled.pk}/", {"side": "first"})

    assert excerpts(page(lena, QUEUE)) == ["left"]
    assert list(to_settle()) == [left]


def test_what_was_decided_anew_leaves_it_until_that_is_taken_back(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    review = differing(client_of_sender, policy)
    settings.UNDO_SECONDS = 60
    assert excerpts(page(lena, QUEUE)) == ["I will find you"]
    wish(review.decision.reports.get(), "noor", action="no_violation")
    assert excerpts(page(lena, QUEUE)) == []

    anew = Decision.objects.latest("pk")
    undo_decision(decision_id=anew.pk, reviewer=anew.reviewer)

    assert excerpts(page(lena, QUEUE)) == ["I will find you"]


def test_an_answer_that_may_still_be_taken_back_is_not_in_it_yet(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    differing(client_of_sender, policy, answered_at=Now())
    settings.UNDO_SECONDS = 60
    assert excerpts(page(lena, QUEUE)) == []

    settings.UNDO_SECONDS = 0
    assert excerpts(page(lena, QUEUE)) == ["I will find you"]


def test_who_may_not_settle_it_is_told_why(client_of_sender: Client, policy: PolicyVersion) -> None:
    differing(client_of_sender, policy)
    button = "The first stands</button>"
    assert button in page(log_in("lena", "lead"), QUEUE)

    for name in ("dana", "omar"):
        html = page(log_in(name, "lead"), QUEUE)
        assert "You are one of the two: somebody else settles it." in html
        assert button not in html
    html = page(log_in("otto", "operator"), QUEUE)
    assert "Settling needs the role of a lead." in html
    assert button not in html
    page(log_in("noor", "reviewer"), QUEUE, status=403)


def test_a_text_that_its_reader_wants_hidden_is_hidden(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    differing(client_of_sender, policy, "horrible")

    assert "horrible" in page(log_in("lena", "lead"), QUEUE)
    assert "horrible" not in page(log_in("vera", "lead", veiled=True), QUEUE)


def test_what_its_reader_has_in_hand_blind_is_left_out(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    review = differing(client_of_sender, policy)
    Claim.objects.create(
        item=review.decision.item,
        reviewer_id=int(lena.session["_auth_user_id"]),
        blind=True,
        expires_at=timezone.now() + timedelta(minutes=5),
    )

    assert excerpts(page(lena, QUEUE)) == []
    assert excerpts(page(log_in("lara", "lead"), QUEUE)) == ["I will find you"]


def test_the_page_asks_few_statements_whatever_the_rows(
    lena: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    for number in range(5):
        differing(client_of_sender, policy, f"text {number}")

    with CaptureQueriesContext(connection) as asked:
        assert len(excerpts(page(lena, QUEUE))) == 5
    assert len(asked) <= 12


def test_it_is_read_in_the_order_of_its_index() -> None:
    with CaptureQueriesContext(connection) as asked:
        list(to_settle()[:26])

    nodes = nodes_of(asked[0]["sql"], sorts=False)
    assert "double_review_to_settle" in [node.get("Index Name") for node in nodes]


def test_an_empty_queue_says_so(lena: Browser) -> None:
    assert "Nothing is to settle" in page(lena, QUEUE)
