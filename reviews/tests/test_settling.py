"""A lead settles which of two answers stands; it is on record, once, and overrides where it must."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db.models.functions import Now
from django.test import Client as Browser
from django.utils import timezone
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Report
from reports.tests.sending import Client, body_saying
from reviews.claims import HeldByAnotherError, give_back
from reviews.decisions import Wish, approval_of, decide_item
from reviews.models import Action, Claim, Decision, DoubleReview, Hold
from reviews.quality.agreement import Overturned, read_agreement
from reviews.quality.calibration import to_settle
from reviews.quality.settle import NotSettledError, settle, settle_what_was_overridden
from reviews.tests.differing import AGREES, NO_ANSWER, differing, wish
from reviews.tests.people import log_in, page
from reviews.undo import undo_decision

pytestmark = pytest.mark.django_db

Side = DoubleReview.Side


@pytest.fixture(autouse=True)
def _at_once(settings: Settings) -> None:
    """What is decided is in effect."""
    settings.UNDO_SECONDS = 0


@pytest.fixture
def lena(db: None) -> User:  # noqa: ARG001
    log_in("lena", "lead")
    return User.objects.get(username="lena")


@pytest.fixture
def review(client_of_sender: Client, policy: PolicyVersion) -> DoubleReview:
    return differing(client_of_sender, policy)


def decisions() -> list[tuple[str, str, str | None, str]]:
    rows = Decision.objects.order_by("pk").select_related("reviewer")
    return [(row.reviewer.username, row.kind, row.action_id, row.category) for row in rows]


def settled(review: DoubleReview) -> tuple[str, str | None, int | None]:
    review.refresh_from_db()
    by = review.settled_by.username if review.settled_by else None
    return review.side, by, review.settling_id


def test_where_the_first_stands_nothing_is_decided_anew(review: DoubleReview, lena: User) -> None:
    settle(review_id=review.pk, lead=lena, side=Side.FIRST)

    assert settled(review) == ("first", "lena", None)
    assert decisions() == [("dana", "decision", "remove", "hate")]
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.actor, entry.object_type) == ("settled", lena, "item")
    assert entry.detail == {
        "double_review": review.pk,
        "side": "first",
        "decision": review.decision_id,
        "settling": None,
    }


def test_where_the_second_stands_the_lead_decides_in_its_words(
    client_of_sender: Client, policy: PolicyVersion, lena: User
) -> None:
    review = differing(
        client_of_sender, policy, action_id="warn", category="harassment", note="It is milder."
    )

    settle(review_id=review.pk, lead=lena, side=Side.SECOND)

    newest = Decision.objects.latest("pk")
    assert decisions()[1:] == [("lena", "decision", "warn", "harassment")]
    assert (newest.note, newest.overrides_id) == ("It is milder.", review.decision_id)
    assert set(newest.reports.all()) == set(review.decision.reports.all())
    # Once it is in effect, for until then it may be taken back.
    assert settled(review) == ("", None, None)
    assert settle_what_was_overridden() == 1
    assert settled(review) == ("second", "lena", newest.pk)
    audited = AuditEntry.objects.filter(actor=lena).order_by("pk")
    assert list(audited.values_list("action", flat=True)) == ["decided", "settled"]


def test_the_second_answer_is_settled_for_no_sooner_than_it_can_be_taken_back_no_more(
    review: DoubleReview, lena: User, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    decision = settle(review_id=review.pk, lead=lena, side=Side.SECOND)
    assert decision
    assert settle_what_was_overridden() == 0
    assert not to_settle().exists()

    undo_decision(decision_id=decision.pk, reviewer=lena)
    give_back(item_id=decision.item_id, reviewer=lena)

    assert settle_what_was_overridden() == 0
    assert list(to_settle()) == [review]
    assert read_agreement().overturned == Overturned(0, 0, 1)
    settle(review_id=review.pk, lead=lena, side=Side.FIRST)
    assert settled(review) == ("first", "lena", None)


@pytest.mark.parametrize("approver", ["omar", "noor"])
def test_the_second_answer_may_need_a_second_person(
    review: DoubleReview, lena: User, approver: str
) -> None:
    Action.objects.filter(slug="no_violation").update(second_from=0)

    settle(review_id=review.pk, lead=lena, side=Side.SECOND)

    proposal = Decision.objects.latest("pk")
    assert proposal.kind == Decision.Kind.PROPOSAL
    hold = Hold.objects.get(item=proposal.item, ended_at=None)
    assert hold.kind == Hold.Kind.SECOND_APPROVAL
    assert Report.objects.get().status == "needs_review"
    assert settle_what_was_overridden() == 0

    approval = decide_item(
        item_id=proposal.item_id,
        reviewer=User.objects.get_or_create(username=approver)[0],
        wish=approval_of(proposal, note=""),
        report_ids=proposal.reports.values_list("pk", flat=True),
        last_decision_id=proposal.pk,
    )
    assert settle_what_was_overridden() == 1
    assert settled(review) == ("second", "lena", approval.pk)


def test_a_second_answer_that_escalates_sends_it_to_who_leads(
    client_of_sender: Client, policy: PolicyVersion, lena: User
) -> None:
    review = differing(client_of_sender, policy, action_id="escalate")

    settle(review_id=review.pk, lead=lena, side=Side.SECOND)

    assert Hold.objects.get(ended_at=None).kind == Hold.Kind.ESCALATED


@pytest.mark.parametrize("side", [Side.FIRST, Side.SECOND])
def test_the_same_once_more_is_once(
    review: DoubleReview, lena: User, side: DoubleReview.Side
) -> None:
    for _each in range(2):
        settle(review_id=review.pk, lead=lena, side=side)

    said = AuditEntry.objects.filter(actor=lena).values_list("action", flat=True)
    assert list(said) == ["decided" if side == Side.SECOND else "settled"]
    assert len(decisions()) == (2 if side == Side.SECOND else 1)


# --- What is refused


def refused(review: DoubleReview, lead: User, side: DoubleReview.Side = Side.FIRST) -> str:
    before = decisions()
    with pytest.raises(NotSettledError) as error:
        settle(review_id=review.pk, lead=lead, side=side)
    assert decisions() == before
    return str(error.value)


def test_what_is_settled_already_stands(review: DoubleReview, lena: User) -> None:
    settle(review_id=review.pk, lead=lena, side=Side.FIRST)
    other = User.objects.create(username="lara")

    assert "already" in refused(review, lena, Side.SECOND)
    assert "already" in refused(review, other)
    assert settled(review)[:2] == ("first", "lena")


@pytest.mark.parametrize("name", ["dana", "omar"])
def test_neither_of_the_two_settles_it(review: DoubleReview, name: str) -> None:
    assert "one of the two" in refused(review, User.objects.get(username=name))


def test_what_was_overridden_meanwhile_is_settled_by_that(review: DoubleReview, lena: User) -> None:
    wish(review.decision.reports.get(), "noor", action="warn", category="spam")

    assert "decided anew" in refused(review, lena)
    assert "decided anew" in refused(review, lena, Side.SECOND)
    assert settled(review) == ("", None, None)


@pytest.mark.parametrize("second", [AGREES, NO_ANSWER], ids=["agrees", "no answer"])
def test_where_no_two_answers_differ_there_is_nothing_to_settle(
    client_of_sender: Client, policy: PolicyVersion, lena: User, second: dict[str, Any]
) -> None:
    review = differing(client_of_sender, policy, **second)

    assert "no two answers" in refused(review, lena)


def test_an_answer_that_may_still_be_taken_back_is_waited_for(
    client_of_sender: Client, policy: PolicyVersion, lena: User, settings: Settings
) -> None:
    review = differing(client_of_sender, policy, answered_at=Now())
    settings.UNDO_SECONDS = 60
    assert "taken back" in refused(review, lena)

    settings.UNDO_SECONDS = 0
    settle(review_id=review.pk, lead=lena, side=Side.FIRST)


def test_what_somebody_has_in_hand_is_not_decided_over_their_head(
    review: DoubleReview, lena: User
) -> None:
    Claim.objects.create(
        item=review.decision.item,
        reviewer=User.objects.get(username="dana"),
        expires_at=timezone.now() + timedelta(minutes=5),
    )

    with pytest.raises(HeldByAnotherError):
        settle(review_id=review.pk, lead=lena, side=Side.SECOND)

    assert settled(review) == ("", None, None)
    settle(review_id=review.pk, lead=lena, side=Side.FIRST)


# --- What a later decision settled


@pytest.mark.parametrize(
    ("values", "side"),
    [
        ({"action": "warn", "category": "spam"}, "neither"),
        ({"action": "warn", "category": "hate"}, "first"),
        ({"action": "no_violation"}, "second"),
    ],
)
def test_a_third_person_s_decision_settles_it_as_it_says(
    review: DoubleReview, values: dict[str, str], side: str
) -> None:
    assert settle_what_was_overridden() == 0
    wish(review.decision.reports.get(), "noor", **values)

    assert settle_what_was_overridden() == 1

    assert settled(review) == (side, "noor", Decision.objects.latest("pk").pk)
    assert AuditEntry.objects.latest("pk").action == "settled"
    assert settle_what_was_overridden() == 0


def test_every_night_it_is_settled_with_the_draw(review: DoubleReview) -> None:
    wish(review.decision.reports.get(), "noor", action="warn", category="spam")
    out = StringIO()

    call_command("draw_samples", stdout=out)
    assert settled(review) == ("", None, None)
    call_command("draw_samples", "--execute", stdout=out)

    assert "Settled by a later decision: 1." in out.getvalue()
    assert settled(review)[:2] == ("neither", "noor")


def test_a_decision_that_may_still_be_taken_back_settles_nothing(
    review: DoubleReview, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    wish(review.decision.reports.get(), "noor", action="warn", category="spam")

    assert settle_what_was_overridden() == 0


def test_what_is_sent_back_settles_nothing_nor_what_one_of_the_two_then_decides(
    review: DoubleReview,
) -> None:
    report = review.decision.reports.get()

    wish(report, "noor", action="reopen")
    assert settle_what_was_overridden() == 0
    wish(report, "dana", action="warn", category="spam")
    assert settle_what_was_overridden() == 0

    assert settled(review) == ("", None, None)


# --- The page's buttons


def press(browser: Browser, review: DoubleReview, side: str) -> str:
    answer = browser.post(f"/review/quality/to-settle/{review.pk}/", {"side": side})
    assert answer.status_code == 302, answer.status_code
    return browser.get(answer["Location"]).content.decode()


def test_a_button_settles_and_the_page_says_what_stands(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    browser = log_in("lena", "lead")
    first, second, third = (
        differing(client_of_sender, policy, f"text {number}") for number in range(3)
    )

    assert "Settled: the first answer stands." in press(browser, first, "first")
    assert "Settled: the second answer stands." in press(browser, second, "second")
    Action.objects.filter(slug="no_violation").update(second_from=0)
    assert "A different person must approve it." in press(browser, third, "second")
    assert "Nothing is to settle" in press(browser, third, "second")


def test_a_settlement_for_the_second_offers_to_take_it_back_as_any_decision(
    client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 60
    browser = log_in("lena", "lead")
    first, second = (differing(client_of_sender, policy, f"text {number}") for number in range(2))

    assert "Undo" not in press(browser, first, "first")
    html = press(browser, second, "second")

    assert f'action="/review/decisions/{Decision.objects.latest("pk").pk}/undo/"' in html


def test_a_refusal_is_said(review: DoubleReview) -> None:
    browser = log_in("lena", "lead")
    Claim.objects.create(
        item=review.decision.item,
        reviewer=User.objects.get(username="dana"),
        expires_at=timezone.now() + timedelta(minutes=5),
    )

    assert "Not settled. <bdi>dana</bdi> has the item in hand." in press(browser, review, "second")
    press(browser, review, "first")
    again = press(log_in("lara", "lead"), review, "first")
    assert "Not settled. Somebody has settled it already." in again
    assert browser.post("/review/quality/to-settle/999/", {"side": "first"}).status_code == 404
    for odd in ("neither", "", "both"):
        sent = {"side": odd}
        assert browser.post(f"/review/quality/to-settle/{review.pk}/", sent).status_code == 422


@pytest.mark.parametrize("role", ["reviewer", "operator"])
def test_settling_needs_the_role_of_a_lead(review: DoubleReview, role: str) -> None:
    browser = log_in("otto", role)

    answer = browser.post(f"/review/quality/to-settle/{review.pk}/", {"side": "first"})

    assert answer.status_code == 403
    assert settled(review) == ("", None, None)


@pytest.mark.parametrize("person", ["dana", "omar"])
def test_until_then_neither_of_the_two_decides_about_the_item(
    review: DoubleReview, person: str
) -> None:
    browser = Browser()
    browser.force_login(User.objects.get(username=person))
    address = f"/review/items/{review.decision.item_id}/"
    html = page(browser, address)
    assert "A lead settles which stands" in html
    assert 'id="decision"' not in html

    answer = browser.post(
        address,
        {
            "reports": review.decision.reports.get().pk,
            "last": review.decision_id,
            "action": "no_violation",
            "note": "surely nothing",
        },
    )

    assert answer.status_code == 403
    assert "surely nothing" in answer.content.decode()
    assert list(to_settle()) == [review]
    assert Decision.objects.get() == review.decision


def test_what_is_open_again_is_decided_by_either_of_the_two(
    review: DoubleReview, client_of_sender: Client
) -> None:
    item = review.decision.item
    again = {"type": item.type, "id": item.external_id, "author_id": None, "url": None}
    client_of_sender.send(body_saying("again", item=again))
    dana = review.decision.reviewer

    report = item.reports.latest("pk")
    decide_item(
        item_id=item.pk,
        reviewer=dana,
        wish=Wish("no_violation", "", ""),
        report_ids=[report.pk],
        last_decision_id=review.decision_id,
    )

    assert Decision.objects.latest("pk").reviewer == dana
