"""What is handed out blind: samples among other work, to whom they may be given, and when."""

from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.tests.situations import at_once
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying, make_sender
from reviews.claims import claim_item
from reviews.decisions import Wish, decide_item
from reviews.filters import Filters
from reviews.models import Claim, Decision, Hold, Preferences, SamplingRate
from reviews.next import claim_next, forget_skips, skip_item
from reviews.quality.agreement import read_agreement
from reviews.quality.mixing import is_handed_blind
from reviews.quality.second import answer_double_review
from reviews.tests.moving import hold
from reviews.tests.people import classify, judge_threat
from reviews.tests.quality import (
    decided,
    drawn_audit,
    drawn_double_review,
    judge_spam,
    judged_safe,
    share,
)
from reviews.undo import undo_decision

pytestmark = pytest.mark.django_db
Of = SamplingRate.Of


def person(name: str) -> User:
    user, _made = User.objects.get_or_create(username=name)
    return user


def given(name: str = "dana", filters: Filters | None = None, **values: int) -> int | None:
    """The item that the person is given next, once they have let go of all they had."""
    let_go(name)
    return claim_next(
        name=Item.List.NEEDS_REVIEW,
        filters=filters or Filters(),
        reviewer=person(name),
        **values,
    )


def let_go(name: str) -> None:
    Claim.objects.filter(reviewer=person(name)).update(released_at=Now())


def claim_of(name: str) -> Claim:
    return Claim.objects.in_force().get(reviewer=person(name))


@pytest.fixture(autouse=True)
def _always_mixed_in(db: None) -> None:  # noqa: ARG001
    share(Of.MIXED_IN, 1)
    share(Of.BLIND, 0)


@pytest.fixture
def spam(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """Something to do in needs review, for samples are mixed in among other work alone."""
    report = client_of_sender.send(body_saying("Buy cheap watches."))
    judge_spam(report, policy)
    return report


@pytest.fixture
def safe(client_of_sender: Client, policy: PolicyVersion) -> Report:
    report = judged_safe(client_of_sender, policy, "Lunch at noon?")
    drawn_audit(report)
    return report


def test_a_sample_is_handed_blind_in_place_of_the_lists_top(spam: Report, safe: Report) -> None:
    assert given() == safe.item_id
    assert claim_of("dana").blind

    share(Of.MIXED_IN, 0)
    assert given() == spam.item_id
    assert not claim_of("dana").blind


@pytest.mark.parametrize("rate", [0, 1])
def test_other_work_is_handed_blind_as_often_as_its_share_says(spam: Report, rate: int) -> None:
    share(Of.BLIND, rate)

    assert given() == spam.item_id
    assert claim_of("dana").blind == bool(rate)


def test_whether_an_item_is_handed_blind_is_fixed_and_the_share_is_kept() -> None:
    items = [Item(pk=number, rank=1) for number in range(400)]

    blind = [item.pk for item in items if is_handed_blind(item, share=0.25)]

    assert 70 < len(blind) < 130
    assert blind == [item.pk for item in items if is_handed_blind(item, share=0.25)]
    more = {item.pk for item in items if is_handed_blind(item, share=0.5)}
    assert more.issuperset(blind)


@pytest.mark.usefixtures("spam")
def test_while_something_critical_waits_no_sample_comes_first_and_it_is_not_handed_blind(
    client_of_sender: Client, policy: PolicyVersion, safe: Report
) -> None:
    threat = client_of_sender.send(body_saying("I will kill you tomorrow"))
    judge_threat(threat, policy)
    share(Of.BLIND, 1)

    assert given() == threat.item_id
    assert not claim_of("dana").blind
    skip_item(item_id=threat.item_id, reviewer=person("dana"))
    assert given() == safe.item_id


def test_when_nothing_but_samples_is_left_the_list_is_at_its_end(safe: Report) -> None:
    assert Item.objects.get(pk=safe.item_id).list == Item.List.JUDGED_SAFE

    assert given() is None


def test_only_needs_review_has_samples_among_it(client_of_sender: Client, safe: Report) -> None:
    pending = client_of_sender.send(body_saying("just in"))
    share(Of.BLIND, 1)

    taken = claim_next(name=Item.List.PENDING, filters=Filters(), reviewer=person("dana"))

    assert taken == pending.item_id != safe.item_id
    assert not claim_of("dana").blind


def test_what_waits_for_somebody_is_not_handed_blind(spam: Report) -> None:
    share(Of.BLIND, 1)
    hold(spam, "omar", Hold.Kind.SECOND_APPROVAL)

    assert given() == spam.item_id
    assert not claim_of("dana").blind


# --- What would be overridden unseen


def reported_after_a_decision(client: Client, policy: PolicyVersion, **verdict: Any) -> Report:
    """Omar removed the item for spam; then somebody reported something else of it."""
    first = decided(client, policy, "Buy!", by="omar", action="remove")
    item = {"type": first.item.type, "id": first.item.external_id}
    later = client.send(body_saying("Buy more!", item=item))
    classify(later, policy, **verdict)
    return later


def test_an_audit_of_an_item_about_which_a_decision_stands_is_not_handed(
    client_of_sender: Client, policy: PolicyVersion, spam: Report
) -> None:
    later = reported_after_a_decision(client_of_sender, policy)
    drawn_audit(later)
    assert Item.objects.get(pk=later.item_id).list == Item.List.JUDGED_SAFE

    assert given() == spam.item_id


@pytest.mark.parametrize("reopened", [False, True])
def test_other_work_about_which_a_decision_stands_is_not_handed_blind_until_it_is_reopened(
    client_of_sender: Client, policy: PolicyVersion, *, reopened: bool
) -> None:
    share(Of.BLIND, 1)
    later = reported_after_a_decision(client_of_sender, policy, safe=False, rules=["unsure"])
    if reopened:
        decide_item(
            item_id=later.item_id,
            reviewer=person("omar"),
            wish=Wish("reopen"),
            report_ids=[later.pk],
            last_decision_id=Decision.objects.get().pk,
        )

    assert given() == later.item_id
    assert claim_of("dana").blind == reopened


# --- A sample that is none any more


def test_an_answered_audit_is_not_handed_again(spam: Report, safe: Report) -> None:
    decision = decide_item(
        item_id=safe.item_id,
        reviewer=person("omar"),
        wish=Wish("no_violation"),
        report_ids=[safe.pk],
        last_decision_id=None,
    )
    assert decision.pk

    assert given() == spam.item_id


def test_an_item_about_which_a_new_report_came_is_no_sample_meanwhile(
    client_of_sender: Client, spam: Report, safe: Report
) -> None:
    again = body_saying("again", item={"type": safe.item.type, "id": safe.item.external_id})
    client_of_sender.send(again)

    assert given() == spam.item_id
    assert Item.objects.get(pk=safe.item_id).list == Item.List.PENDING


@pytest.mark.parametrize("gone", ["overridden", "reopened"])
def test_a_second_review_whose_first_decision_was_overridden_is_not_handed(
    client_of_sender: Client, policy: PolicyVersion, spam: Report, gone: str
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar", action="remove")
    drawn_double_review(first)
    decide_item(
        item_id=first.item_id,
        reviewer=person("lena"),
        wish=Wish("no_violation" if gone == "overridden" else "reopen"),
        report_ids=first.reports.values_list("pk", flat=True),
        last_decision_id=first.pk,
    )
    if gone == "reopened":
        claim_item(item_id=first.item_id, reviewer=person("lena"))

    assert given() == spam.item_id


def test_a_second_review_is_handed_again_once_what_overrode_its_decision_was_taken_back(
    client_of_sender: Client, policy: PolicyVersion, spam: Report
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar", action="remove")
    review = drawn_double_review(first)
    override = decide_item(
        item_id=first.item_id,
        reviewer=person("noor"),
        wish=Wish("no_violation"),
        report_ids=first.reports.values_list("pk", flat=True),
        last_decision_id=first.pk,
    )
    assert given() == spam.item_id
    assert read_agreement().open == 0

    undo_decision(decision_id=override.pk, reviewer=person("noor"))
    let_go("noor")

    assert read_agreement().open == 1
    assert given() == first.item_id
    answered = answer_double_review(
        review_id=review.pk, reviewer=person("dana"), wish=Wish("remove", "spam")
    )
    assert answered.agrees


# --- To whom


def test_what_one_has_seen_with_all_that_is_told_of_it_is_no_sample_for_them(
    spam: Report, safe: Report
) -> None:
    assert claim_item(item_id=safe.item_id, reviewer=person("dana"))
    let_go("dana")

    assert given("dana") == spam.item_id
    let_go("dana")
    assert given("lena") == safe.item_id
    # What one had blind told nothing.
    assert given("lena") == safe.item_id


def test_a_second_review_goes_to_somebody_else_than_who_decided(
    client_of_sender: Client, policy: PolicyVersion, spam: Report
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar")
    review = drawn_double_review(first)

    assert given("omar") == spam.item_id
    let_go("omar")
    assert given("dana") == first.item_id
    claim = claim_of("dana")
    assert (claim.blind, claim.double_review_id) == (True, review.pk)
    assert Item.objects.get(pk=first.item_id).list == Item.List.RESOLVED


def test_who_ever_decided_about_the_item_does_not_review_it_a_second_time(
    client_of_sender: Client, policy: PolicyVersion, spam: Report
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="dana", action="remove")
    second = decide_item(
        item_id=first.item_id,
        reviewer=person("omar"),
        wish=Wish("no_violation"),
        report_ids=first.reports.values_list("pk", flat=True),
        last_decision_id=first.pk,
    )
    drawn_double_review(second)

    assert given("dana") == spam.item_id
    let_go("dana")
    assert given("lena") == first.item_id


def test_what_others_have_and_what_one_skipped_is_not_handed(spam: Report, safe: Report) -> None:
    assert given("omar") == safe.item_id
    assert given("dana") == spam.item_id

    let_go("omar")
    skip_item(item_id=safe.item_id, reviewer=person("dana"))
    assert given("dana") == spam.item_id
    forget_skips(person("dana"))
    assert given("dana") == safe.item_id


def test_what_was_just_answered_is_not_handed_at_once(spam: Report, safe: Report) -> None:
    assert given(beside=safe.item_id) == spam.item_id


def test_the_filters_of_the_list_hold_for_samples_as_well(
    policy: PolicyVersion, spam: Report, safe: Report
) -> None:
    other = make_sender("other-app")
    elsewhere = other.send(body_saying("Buy!", language="ar"))
    judge_spam(elsewhere, policy)

    assert given(filters=Filters(sender="other-app")) == elsewhere.item_id
    assert given(filters=Filters(language="ar")) == elsewhere.item_id
    assert given(filters=Filters(language="en")) == safe.item_id != spam.item_id


@pytest.mark.parametrize(
    "telling",
    [
        {"category": "spam"},
        {"confidence_from": "0.5"},
        {"confidence_to": "0.99"},
        {"version": "1"},
        {"rule": "unsafe_category"},
    ],
)
def test_where_the_filters_ask_for_verdicts_nothing_is_handed_blind_nor_resumed(
    client_of_sender: Client, policy: PolicyVersion, spam: Report, telling: dict[str, str]
) -> None:
    """Else what is blind would be known to match."""
    report = client_of_sender.send(body_saying("Buy!"))
    classify(report, policy, category="spam", confidence=0.88, rules=["unsafe_category"])
    drawn_audit(report)
    share(Of.BLIND, 1)
    filters = Filters.read(telling)
    assert given() == report.item_id

    resumed = claim_next(name=Item.List.NEEDS_REVIEW, filters=filters, reviewer=person("dana"))

    assert resumed == spam.item_id
    assert not Claim.objects.in_force().get(item=spam.item_id).blind
    assert given(filters=filters) == spam.item_id
    assert not claim_of("dana").blind


@pytest.mark.parametrize("opted_out", [["spam"], ["hate"]])
def test_a_second_review_of_what_one_opted_out_of_is_not_handed(
    client_of_sender: Client, policy: PolicyVersion, opted_out: list[str]
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar", action="remove")
    drawn_double_review(first)
    threat = client_of_sender.send(body_saying("a list of insults"))
    judge_threat(threat, policy, category="harassment", severity=2, rules=["unsafe_category"])
    Preferences.objects.create(user=person("dana"), opted_out=opted_out)

    wanted = threat.item_id if opted_out == ["spam"] else first.item_id
    assert given("dana") == wanted


# --- Resumed, and at once


@pytest.mark.usefixtures("spam")
def test_what_one_has_blind_is_resumed_from_needs_review_alone(safe: Report) -> None:
    assert given() == safe.item_id
    dana = person("dana")

    def start(name: Item.List) -> int | None:
        return claim_next(name=name, filters=Filters(), reviewer=dana)

    assert start(Item.List.JUDGED_SAFE) is None
    assert start(Item.List.NEEDS_REVIEW) == safe.item_id
    assert claim_of("dana").blind
    assert Claim.objects.count() == 1


def test_a_second_review_in_hand_is_resumed_though_its_item_is_resolved(
    client_of_sender: Client, policy: PolicyVersion, spam: Report
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar")
    drawn_double_review(first)
    assert given("dana") == first.item_id

    again = claim_next(
        name=Item.List.NEEDS_REVIEW, filters=Filters(), reviewer=person("dana"), beside=spam.item_id
    )

    assert again == first.item_id
    assert Claim.objects.count() == 1


def test_a_resolved_item_is_claimed_for_a_second_review_alone(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    first = decided(client_of_sender, policy, "cheap", by="omar")
    review = drawn_double_review(first)
    dana = person("dana")

    assert not claim_item(item_id=first.item_id, reviewer=dana)
    assert not claim_item(item_id=first.item_id, reviewer=dana, blind=True)
    other = decided(client_of_sender, policy, "cheaper", by="omar")
    assert not claim_item(item_id=other.item_id, reviewer=dana)
    assert claim_item(item_id=first.item_id, reviewer=dana, blind=True, double_review=review.pk)


@pytest.mark.django_db(transaction=True)
def test_of_eight_at_once_each_gets_another_item_and_each_sample_goes_to_one(
    policy: PolicyVersion,
    transactional_db: None,  # noqa: ARG001
) -> None:
    share(Of.MIXED_IN, 1)
    client = make_sender("chat-app")
    for number in range(8):
        judge_spam(client.send(body_saying(f"spam {number}")), policy)
    for number in range(4):
        drawn_audit(judged_safe(client, policy, f"safe {number}"))
    people = [person(f"reviewer-{number}") for number in range(8)]

    next_one = partial(claim_next, name=Item.List.NEEDS_REVIEW, filters=Filters())
    taken = at_once([partial(next_one, reviewer=each) for each in people])

    assert len(set(taken)) == 8
    assert None not in taken
    samples = Claim.objects.in_force().filter(blind=True).values_list("item__list", flat=True)
    assert list(samples) == [Item.List.JUDGED_SAFE] * 4


@pytest.mark.usefixtures("spam")
def test_starting_leads_to_an_address_that_does_not_tell_a_sample(
    dana: Browser, safe: Report
) -> None:
    answer = dana.post("/review/needs-review/start/?language=en")

    assert answer["Location"] == f"/review/items/{safe.item_id}/?language=en&from=needs-review"
    assert not Decision.objects.exists()
