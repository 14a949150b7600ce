"""The second review of a decision: its answer overrides nothing, and may be taken back for a while."""

import re
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import PolicyVersion
from classifier.tests.situations import at_once
from conftest import check_constraints_now
from reports.models import AuditEntry, Item
from reports.tests.sending import Client, body_saying, make_sender
from reviews.claims import HeldByAnotherError, claim_item
from reviews.decisions import StaleDecisionError, Wish, decide_item
from reviews.models import Claim, Decision, DoubleReview, Draft, SamplingRate
from reviews.quality.second import answer_double_review, take_back_answer
from reviews.tests.people import decide, form_of, log_in, page
from reviews.tests.quality import decided, drawn_double_review, judge_spam, share
from reviews.undo import NotTheirsError, TooLateError

pytestmark = pytest.mark.django_db


def person(name: str) -> User:
    user, _made = User.objects.get_or_create(username=name)
    return user


def answer(
    review: DoubleReview, action: str, category: str = "", *, by: str = "dana", reason: str = ""
) -> DoubleReview:
    return answer_double_review(
        review_id=review.pk,
        reviewer=person(by),
        wish=Wish(action, category, note="a second note", reason=reason),
    )


def override(first: Decision, *, by: str = "lena") -> Decision:
    return decide_item(
        item_id=first.item_id,
        reviewer=person(by),
        wish=Wish("no_violation"),
        report_ids=first.reports.values_list("pk", flat=True),
        last_decision_id=first.pk,
    )


def pretend_answered_ago(review: DoubleReview, **time: int) -> None:
    check_constraints_now()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE reviews_doublereview DISABLE TRIGGER USER")
        DoubleReview.objects.filter(pk=review.pk).update(answered_at=Now() - timedelta(**time))
        check_constraints_now()
        cursor.execute("ALTER TABLE reviews_doublereview ENABLE TRIGGER USER")


@pytest.fixture
def first(client_of_sender: Client, policy: PolicyVersion) -> Decision:
    """Omar removed it as spam."""
    return decided(client_of_sender, policy, "Buy cheap watches.", by="omar", action="remove")


@pytest.fixture
def review(first: Decision) -> DoubleReview:
    return drawn_double_review(first)


@pytest.fixture
def address(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion, review: DoubleReview
) -> str:
    """Where dana is led to by starting: the second review, among other work."""
    judge_spam(client_of_sender.send(body_saying("other work")), policy)
    share(SamplingRate.Of.MIXED_IN, 1)
    location = str(dana.post("/review/needs-review/start/")["Location"])
    assert f"/{review.decision.item_id}/" in location
    return location


def submit(browser: Browser, review: DoubleReview, html: str, **values: str) -> str:
    """Where an answer that is accepted leads."""
    sent = decide(browser, review.decision.item, html, **values)
    assert sent.status_code == 302, sent.content.decode()
    return str(sent["Location"])


# --- What it says


@pytest.mark.parametrize(
    ("action", "category", "agrees"),
    [
        ("remove", "spam", True),
        ("warn", "spam", True),
        ("remove", "hate", False),
        ("no_violation", "", False),
        ("escalate", "", False),
    ],
)
def test_both_agree_where_they_found_the_same_whatever_they_would_do(
    review: DoubleReview, action: str, category: str, *, agrees: bool
) -> None:
    assert answer(review, action, category).agrees is agrees


@pytest.mark.parametrize(("action", "agrees"), [("no_violation", True), ("escalate", False)])
def test_no_violation_agrees_with_no_violation_alone(
    client_of_sender: Client, policy: PolicyVersion, action: str, *, agrees: bool
) -> None:
    review = drawn_double_review(decided(client_of_sender, policy, "Lunch?", by="omar"))

    assert answer(review, action).agrees is agrees


def test_it_overrides_nothing_and_is_kept_with_its_words_and_severity(
    first: Decision, review: DoubleReview
) -> None:
    before = Item.objects.values().get(pk=first.item_id)

    answer(review, "remove", "credible_threat", reason="You threatened.")

    review.refresh_from_db()
    assert (review.reviewer, review.action_id) == (person("dana"), "remove")
    assert (review.category, review.severity) == ("credible_threat", 4)
    assert review.note == "a second note\n\nYou threatened."
    assert Item.objects.values().get(pk=first.item_id) == before
    assert Decision.objects.get() == first
    row = AuditEntry.objects.get(action="second_reviewed")
    assert (row.actor_name, row.object_id) == ("dana", str(first.item_id))
    assert row.detail == {
        "double_review": review.pk,
        "decision": first.pk,
        "action": "remove",
        "category": "credible_threat",
        "agrees": False,
    }


def test_the_same_answer_twice_is_one_and_another_comes_too_late(
    first: Decision, review: DoubleReview
) -> None:
    answer(review, "warn", "spam")
    answer(review, "warn", "spam")

    assert AuditEntry.objects.filter(action="second_reviewed").count() == 1
    for who, action in (("dana", "remove"), ("lena", "warn")):
        with pytest.raises(StaleDecisionError) as stale:
            answer(review, action, "spam", by=who)
        assert stale.value.standing == first


def test_an_answer_is_refused_where_the_first_decision_was_overridden_or_another_has_the_item(
    first: Decision, review: DoubleReview
) -> None:
    assert claim_item(
        item_id=first.item_id, reviewer=person("lena"), blind=True, double_review=review.pk
    )
    with pytest.raises(HeldByAnotherError):
        answer(review, "remove", "spam")

    newest = override(first)

    with pytest.raises(StaleDecisionError) as stale:
        answer(review, "remove", "spam")
    assert stale.value.standing == newest
    assert not DoubleReview.objects.exclude(answered_at=None).exists()


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_answer_at_once_one_is_kept(
    policy: PolicyVersion,
    transactional_db: None,  # noqa: ARG001
) -> None:
    review = drawn_double_review(decided(make_sender("chat-app"), policy, "x", by="omar"))
    people = [person(f"reviewer-{number}").username for number in range(8)]

    def try_it(name: str) -> bool:
        try:
            return bool(answer(review, "no_violation", by=name).pk)
        except StaleDecisionError:
            return False

    assert sorted(at_once([partial(try_it, each) for each in people])) == [False] * 7 + [True]
    assert AuditEntry.objects.filter(action="second_reviewed").count() == 1


# --- On the desk


def test_submitting_says_what_it_was_and_shows_everything_once_it_stands(
    dana: Browser, address: str, review: DoubleReview, settings: Settings
) -> None:
    submit(dana, review, page(dana, address), action="no_violation", note="seems fine")

    html = page(dana, address)

    assert "That was a second review. It is kept." in html
    assert f'action="/review/second-reviews/{review.pk}/undo/' in html
    assert "omar" not in html
    settings.UNDO_SECONDS = 0
    assert "<bdi>omar</bdi> decided: remove." in page(dana, address)
    assert not Claim.objects.in_force().exists()
    assert not Draft.objects.exists()


@pytest.mark.parametrize("category", ["spam", "hate"])
def test_submit_and_next_leads_on_by_the_list_and_says_not_whether_both_agree(
    dana: Browser, address: str, category: str
) -> None:
    seen = form_of(page(dana, address))
    other = Item.objects.get(list=Item.List.NEEDS_REVIEW)

    sent = {**seen, "next": "", "action": "warn", "category": category}
    led = dana.post(address, sent)["Location"]

    assert led == f"/review/items/{other.pk}/?from=needs-review"
    html = page(dana, led)
    assert "That was a second review. It is kept." in html
    assert not re.search("agrees|differs", html)


def test_an_answer_that_is_sent_again_for_its_reply_was_lost_is_told_the_same(
    dana: Browser, address: str, review: DoubleReview
) -> None:
    html = page(dana, address)
    submit(dana, review, html, action="no_violation", note="seems fine")

    submit(dana, review, html, action="no_violation", note="seems fine")

    assert AuditEntry.objects.filter(action="second_reviewed").count() == 1
    assert "That was a second review." in page(dana, address)


def test_what_is_typed_and_arrives_after_the_answer_is_not_kept(
    dana: Browser, address: str, review: DoubleReview
) -> None:
    here = address.partition("?")[0]
    typed = {"action": "", "category": "", "note": "seems", "reason": "", "last": ""}
    as_script = {"Accept": "application/json"}
    assert dana.post(f"{here}draft/", typed, headers=as_script).status_code == 200
    submit(dana, review, page(dana, address), action="no_violation")

    assert dana.post(f"{here}draft/", typed, headers=as_script).status_code == 409

    assert not Draft.objects.exists()


@pytest.mark.parametrize("meanwhile", ["overridden", "answered", "taken"])
def test_whatever_came_meanwhile_what_was_typed_is_kept_and_what_stands_is_said(
    dana: Browser, address: str, first: Decision, review: DoubleReview, meanwhile: str
) -> None:
    html = page(dana, address)
    Claim.objects.update(expires_at=Now() - timedelta(seconds=1))
    if meanwhile == "overridden":
        override(first)
    elif meanwhile == "answered":
        answer(review, "remove", "spam", by="lena")
    else:
        claim_item(
            item_id=first.item_id, reviewer=person("lena"), blind=True, double_review=review.pk
        )

    sent = decide(dana, first.item, html, action="warn", category="spam", note="typed for long")

    said = " ".join(sent.content.decode().split())
    assert sent.status_code == 409
    assert "typed for long</textarea>" in said
    assert {
        "overridden": "<bdi>lena</bdi> decided: no violation.",
        "answered": "<bdi>omar</bdi> decided: remove.",
        "taken": "<bdi>lena</bdi> has this item until",
    }[meanwhile] in said
    assert ("without the machine's answer" in said) == (meanwhile == "taken")
    assert Draft.objects.get().note == "typed for long"


# --- Taken back


def test_taking_it_back_gives_the_item_back_blind_with_what_was_typed(
    dana: Browser, address: str, review: DoubleReview
) -> None:
    submit(dana, review, page(dana, address), action="warn", category="hate", note="seems hate")

    back = dana.post(f"/review/second-reviews/{review.pk}/undo/?from=needs-review")
    html = page(dana, back["Location"])

    assert back["Location"] == address
    assert "Taken back: your second review." in html
    assert "without the machine's answer" in html
    assert "seems hate</textarea>" in html
    assert re.search(r'value="warn"[^>]* checked', html)
    review.refresh_from_db()
    assert (review.reviewer, review.answered_at, review.agrees) == (None, None, None)
    claim = Claim.objects.in_force().get()
    assert (claim.reviewer, claim.double_review) == (person("dana"), review)
    assert AuditEntry.objects.latest("pk").action == "second_review_undone"


def test_the_same_request_twice_is_one_and_the_answer_may_then_be_another(
    review: DoubleReview,
) -> None:
    answer(review, "no_violation")
    for _again in range(2):
        take_back_answer(review_id=review.pk, reviewer=person("dana"))
    assert AuditEntry.objects.filter(action="second_review_undone").count() == 1

    assert answer(review, "remove", "spam").agrees


def test_only_who_gave_it_takes_it_back(review: DoubleReview) -> None:
    with pytest.raises(NotTheirsError):
        take_back_answer(review_id=review.pk, reviewer=person("lena"))
    answer(review, "no_violation")

    with pytest.raises(NotTheirsError):
        take_back_answer(review_id=review.pk, reviewer=person("lena"))

    browser = log_in("lena", "reviewer")
    assert browser.post(f"/review/second-reviews/{review.pk}/undo/").status_code == 403
    assert browser.post("/review/second-reviews/4711/undo/").status_code == 404


@pytest.mark.parametrize("why", ["late", "settled"])
def test_once_its_time_is_over_or_a_lead_has_settled_it_it_stands(
    dana: Browser, review: DoubleReview, why: str
) -> None:
    answer(review, "no_violation")
    if why == "late":
        pretend_answered_ago(review, seconds=30)
    else:
        DoubleReview.objects.filter(pk=review.pk).update(
            settled_by=person("lead"), settled_at=Now(), side="first"
        )

    with pytest.raises(TooLateError):
        take_back_answer(review_id=review.pk, reviewer=person("dana"))

    led = dana.post(f"/review/second-reviews/{review.pk}/undo/")["Location"]
    assert "Too late to undo: your second review stands." in page(dana, led)


# --- What the database forbids


@pytest.mark.parametrize(
    ("changes", "trigger"),
    [
        ({"reviewer": "omar"}, "second_review_is_by_another_person"),
        ({"settled_by": "omar"}, "settlement_is_by_a_third_person"),
        ({"settled_by": "dana"}, "settlement_is_by_a_third_person"),
        ({"category": "hate"}, "second_answer_stands"),
    ],
)
def test_the_database_keeps_the_people_apart_and_an_answer_as_it_is(
    review: DoubleReview, changes: dict[str, str], trigger: str
) -> None:
    answer(review, "remove", "spam")
    people = {"reviewer", "settled_by"}
    values = {key: person(each) if key in people else each for key, each in changes.items()}

    with pytest.raises(IntegrityError) as error, transaction.atomic():
        DoubleReview.objects.filter(pk=review.pk).update(**values)

    assert trigger in str(error.value)


def test_an_old_answer_is_not_emptied_and_a_second_review_not_deleted(
    review: DoubleReview,
) -> None:
    answer(review, "remove", "spam")
    pretend_answered_ago(review, minutes=2)
    empty = {"reviewer": None, "action": None, "category": "", "answered_at": None, "agrees": None}

    for harm in (
        lambda: DoubleReview.objects.filter(pk=review.pk).update(**empty),
        lambda: DoubleReview.objects.filter(pk=review.pk).delete(),
    ):
        with pytest.raises(IntegrityError, match="_stands"), transaction.atomic():
            harm()

    assert DoubleReview.objects.get().answered_at is not None
