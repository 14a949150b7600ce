"""How far two people agree: by figures worked out by hand, and kappa by another implementation."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from sklearn.metrics import cohen_kappa_score

from classifier.models import PolicyVersion
from reports.models import Sender
from reports.tests.sending import Client
from reviews.models import DoubleReview, Draw, Stratum
from reviews.quality.agreement import Agreement, Overturned, read_agreement
from reviews.quality.intervals import Ratio, wilson
from reviews.quality.kappa import kappa
from reviews.tests.sampling import decide, judge_safe

pytestmark = pytest.mark.django_db

CLEAR = ("no_violation", "")
SPAM, HATE = ("remove", "spam"), ("remove", "hate")
ESCALATE = ("escalate", "")

Said = tuple[str, str]


@pytest.fixture
def sender(client_of_sender: Client, policy: PolicyVersion) -> Sender:  # noqa: ARG001
    return Sender.objects.get()


def review(
    sender: Sender,
    first: Said,
    second: Said | None,
    *,
    by: tuple[str, str] = ("amal", "badr"),
    language: str = "en",
    side: str = "",
) -> DoubleReview:
    """A first decision that was drawn, and the second person's answer; `side` is how it was settled."""
    (report,) = judge_safe(sender.pk, 1, language=language)
    decision = decide(report, *first, by=by[0])
    draw = Draw.objects.first() or Draw.objects.create(
        of="double_reviews", since=timezone.now() - timedelta(days=1), until=timezone.now()
    )
    stratum, _made = Stratum.objects.get_or_create(
        draw=draw,
        sender=sender,
        language=language,
        category=first[1],
        defaults={"population": 1, "drawn": 1},
    )
    answered: dict[str, Any] = {}
    if second:
        answered = {
            "reviewer": User.objects.get_or_create(username=by[1])[0],
            "action_id": second[0],
            "category": second[1],
            "answered_at": timezone.now(),
            "agrees": first[1] == second[1] and second != ESCALATE,
        }
    if side:
        lead = User.objects.get_or_create(username="lead")[0]
        answered |= {"side": side, "settled_by": lead, "settled_at": timezone.now()}
    return DoubleReview.objects.create(stratum=stratum, decision=decision, **answered)


def by_label(agreements: Sequence[Agreement]) -> dict[str, Agreement]:
    return {each.label: each for each in agreements}


def expected_kappa(pairs: Sequence[tuple[Said, Said]]) -> float:
    first, second = zip(*(("".join(one), "".join(other)) for one, other in pairs), strict=True)
    return float(cohen_kappa_score(first, second))


def test_before_anything_is_answered_nothing_is_said(sender: Sender) -> None:
    review(sender, CLEAR, None)

    agreements = read_agreement()

    assert agreements.overall.agreed == Ratio(0, 0)
    assert agreements.overall.agreed.share is agreements.overall.kappa.value is None
    assert (agreements.by_category, agreements.by_pair) == ([], [])
    assert agreements.open == 1


def test_plain_agreement_and_kappa_are_told_overall(sender: Sender) -> None:
    pairs = [(CLEAR, CLEAR)] * 4 + [(SPAM, SPAM)] * 3 + [(SPAM, CLEAR)] * 2 + [(HATE, SPAM)]
    for first, second in pairs:
        review(sender, first, second)

    overall = read_agreement().overall

    assert overall.agreed == Ratio(7, 10)
    assert (overall.agreed.low, overall.agreed.high) == wilson(7, 10)
    assert overall.kappa.value == pytest.approx(expected_kappa(pairs))
    assert overall.kappa == kappa((one[1], other[1]) for one, other in pairs)


def test_who_takes_another_action_for_the_same_category_agrees(sender: Sender) -> None:
    review(sender, ("remove", "spam"), ("warn", "spam"))

    assert read_agreement().overall.agreed == Ratio(1, 1)


def test_who_sends_it_on_agrees_with_nobody(sender: Sender) -> None:
    review(sender, CLEAR, ESCALATE)
    review(sender, SPAM, ESCALATE)

    agreements = read_agreement()

    assert agreements.overall.agreed == Ratio(0, 2)
    assert [each.label for each in agreements.by_category] == ["", "spam"]


def test_a_category_is_one_against_the_rest(sender: Sender) -> None:
    pairs = [(CLEAR, CLEAR)] * 5 + [(SPAM, SPAM)] * 2 + [(SPAM, HATE)] + [(HATE, CLEAR)]
    for first, second in pairs:
        review(sender, first, second)

    categories = by_label(read_agreement().by_category)

    assert set(categories) == {"", "spam", "hate"}
    # Of three that either called spam, both did twice.
    assert categories["spam"].agreed == Ratio(2, 3)
    assert categories["hate"].agreed == Ratio(0, 2)
    assert categories[""].agreed == Ratio(5, 6)
    rest = [((str(one == SPAM), ""), (str(other == SPAM), "")) for one, other in pairs]
    assert categories["spam"].kappa.value == pytest.approx(expected_kappa(rest))


def test_languages_are_told_apart(sender: Sender) -> None:
    review(sender, SPAM, SPAM, language="en")
    review(sender, SPAM, CLEAR, language="ar")
    review(sender, SPAM, SPAM, language="ar")

    languages = by_label(read_agreement().by_language)

    assert languages["en"].agreed == Ratio(1, 1)
    assert languages["ar"].agreed == Ratio(1, 2)


def test_a_pair_is_one_whoever_of_them_was_first(sender: Sender) -> None:
    review(sender, CLEAR, SPAM, by=("amal", "badr"))
    review(sender, SPAM, CLEAR, by=("badr", "amal"))
    review(sender, SPAM, SPAM, by=("dana", "badr"))

    pairs = {(each.label, each.other): each for each in read_agreement().by_pair}

    assert set(pairs) == {("amal", "badr"), ("badr", "dana")}
    assert pairs["amal", "badr"].agreed == Ratio(0, 2)
    # Amal found nothing both times and Badr both times spam: chance would do as well.
    assert pairs["amal", "badr"].kappa.value == 0
    # Both said one and the same, so nothing is known.
    assert pairs["badr", "dana"].kappa.value is None


def test_overturned_is_what_was_settled_against_the_first(sender: Sender) -> None:
    review(sender, CLEAR, CLEAR)
    review(sender, CLEAR, SPAM, side="first")
    review(sender, CLEAR, SPAM, side="second")
    review(sender, CLEAR, HATE, side="neither")

    overturned = read_agreement().overturned

    assert overturned == Overturned(2, 4, 0)
    assert (overturned.share, overturned.low, overturned.high) == (0.5, *wilson(2, 4))


def test_what_is_not_settled_may_yet_be_overturned(sender: Sender) -> None:
    for _each in range(10):
        review(sender, CLEAR, CLEAR)
    for _each in range(5):
        review(sender, CLEAR, SPAM)

    overturned = read_agreement().overturned

    assert overturned == Overturned(0, 10, 5)
    assert overturned.share is None
    assert (overturned.low, overturned.high) == (wilson(0, 15)[0], wilson(5, 15)[1])


def test_it_is_narrowed_by_when_the_first_took_effect(sender: Sender) -> None:
    review(sender, CLEAR, CLEAR)
    review(sender, CLEAR, None)
    soon = timezone.now() + timedelta(hours=1)

    assert read_agreement(until=soon).overall.agreed == Ratio(1, 1)
    assert read_agreement(since=soon).overall.agreed == Ratio(0, 0)
    assert (read_agreement(until=soon).open, read_agreement(since=soon).open) == (1, 0)


def test_however_many_there_are_it_is_two_statements(
    sender: Sender, django_assert_num_queries: Any
) -> None:
    for language in ("en", "ar", "fr"):
        review(sender, SPAM, SPAM, language=language)

    with django_assert_num_queries(2):
        read_agreement()
