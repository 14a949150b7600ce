"""Several different people bring back what was judged safe or resolved, once; one person never does."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from conftest import check_constraints_now
from reports.models import Item, Report, Return, Sender
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import judge, resolve
from reports.tests.reporting_again import (
    judged_safe_by,
    report_by,
    report_by_each,
    standings,
    time_passes,
)
from reports.tests.sending import Client, make_sender

pytestmark = pytest.mark.django_db


def counted() -> list[tuple[int, int, int]]:
    """Of each return: different reporters, the new and the unreliable ones among them."""
    rows = Return.objects.order_by("pk").values_list("reporters", "fresh", "unreliable")
    return list(rows)


def test_two_hundred_reports_by_one_person_bring_nothing_back(
    client_of_sender: Client, policy: Any
) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")

    for _again in range(200):
        report_by(client_of_sender, "u-1")

    assert not Return.objects.exists()
    assert standings().count("needs_review") == 0


def test_reports_without_a_reporter_bring_nothing_back(
    client_of_sender: Client, policy: Any
) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")

    for _each in range(5):
        report_by(client_of_sender, None)

    assert not Return.objects.exists()


def test_the_third_person_brings_back_what_was_judged_safe(
    client_of_sender: Client, policy: Any
) -> None:
    first = judged_safe_by(client_of_sender, policy, "u-1")
    report_by(client_of_sender, "u-2")
    assert standings() == ["judged_safe", "pending"]

    report_by(client_of_sender, "u-3")
    check_constraints_now()

    assert standings() == ["needs_review", "pending", "pending"]
    returned = Return.objects.get()
    assert (returned.item_id, returned.report, returned.ended_at) == (first.item_id, first, None)
    assert counted() == [(3, 3, 0)]
    assert Item.objects.get().list == Item.List.NEEDS_REVIEW


def test_while_it_is_back_no_further_person_brings_it_back_again(
    client_of_sender: Client, policy: Any
) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")
    report_by_each(client_of_sender, *(f"u-{number}" for number in range(2, 12)))

    assert counted() == [(3, 3, 0)]
    assert standings().count("needs_review") == 1


def test_of_several_settled_reports_the_most_severe_comes_back_and_then_the_newest(
    client_of_sender: Client, policy: Any
) -> None:
    for _each in range(3):
        judged_safe_by(client_of_sender, policy, "u-1")

    report_by_each(client_of_sender, "u-2", "u-3")

    assert standings() == ["judged_safe", "judged_safe", "needs_review", "pending", "pending"]


def test_after_a_decision_only_people_who_had_not_been_heard_count(
    client_of_sender: Client,
) -> None:
    for report in report_by_each(client_of_sender, "u-1", "u-2"):
        resolve(report, action="no_violation")
    report_by_each(client_of_sender, "u-1", "u-2", "u-3", "u-4")
    assert not Return.objects.exists()

    report_by(client_of_sender, "u-5")
    check_constraints_now()

    assert counted() == [(3, 3, 0)]
    # The newest of those that were resolved; what waits for its verdict still waits.
    assert standings() == ["resolved", "needs_review", *["pending"] * 5]


def test_a_decision_ends_the_return_and_others_may_bring_it_back_anew(
    client_of_sender: Client, policy: Any
) -> None:
    first = judged_safe_by(client_of_sender, policy, "u-1")
    for report in (first, *report_by_each(client_of_sender, "u-2", "u-3")):
        resolve(report, action="no_violation")
    assert Return.objects.get().ended_at is not None

    report_by_each(client_of_sender, "u-1", "u-2", "u-3", "u-4", "u-5")
    assert Return.objects.count() == 1
    report_by(client_of_sender, "u-6")

    assert counted() == [(3, 3, 0), (3, 3, 0)]


def test_people_count_within_the_time_of_the_sender(client_of_sender: Client, policy: Any) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")
    report_by(client_of_sender, "u-2")
    time_passes(hours=24.1)

    report_by_each(client_of_sender, "u-3", "u-4")
    assert not Return.objects.exists()
    report_by(client_of_sender, "u-1")  # again, within the time

    assert counted() == [(3, 2, 0)]


def test_each_sender_says_how_many_people_within_which_time(policy: Any) -> None:
    strict, mild = make_sender("strict"), make_sender("mild")
    Sender.objects.filter(name="strict").update(returns_from=2)
    Sender.objects.filter(name="mild").update(returns_within=timedelta(minutes=30))
    for client in (strict, mild):
        judged_safe_by(client, policy, "u-1")
    time_passes(hours=0.6)

    for client in (strict, mild):
        report_by_each(client, "u-2")
    assert [each.item.sender.name for each in Return.objects.all()] == ["strict"]

    report_by_each(mild, "u-3")
    assert Return.objects.count() == 1
    report_by_each(mild, "u-4")
    assert Return.objects.count() == 2


def test_what_was_invalidated_does_not_count(client_of_sender: Client, policy: Any) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")
    report_by(client_of_sender, "u-2")
    Report.objects.filter(status="pending").update(invalidated_at=timezone.now())

    report_by(client_of_sender, "u-3")
    assert not Return.objects.exists()
    report_by(client_of_sender, "u-4")

    assert counted() == [(3, 3, 0)]


def test_a_closed_report_that_was_invalidated_is_not_what_comes_back(
    client_of_sender: Client,
) -> None:
    resolve(report_by(client_of_sender, "u-1"), action="no_violation")
    Report.objects.update(invalidated_at=timezone.now())

    report_by_each(client_of_sender, "u-2", "u-3", "u-4")

    assert not Return.objects.exists()


def test_an_item_before_people_is_not_brought_back(client_of_sender: Client, policy: Any) -> None:
    judged_safe_by(client_of_sender, policy, "u-1")
    judge(report_by(client_of_sender, "u-1"), policy, safe=False)

    report_by_each(client_of_sender, "u-2", "u-3")

    assert not Return.objects.exists()


# --- Where a verdict would let it pass


def test_what_several_people_reported_does_not_pass_as_safe_and_only_one_of_it_stays(
    client_of_sender: Client, policy: Any
) -> None:
    reports = report_by_each(client_of_sender, "u-1", "u-2", "u-3")
    Report.objects.update(floor=0, floor_rules=[])  # that of several reporters within an hour
    assert not Return.objects.exists()

    for report in reports:
        judge(report, policy, safe=True)

    assert standings() == ["needs_review", "judged_safe", "judged_safe"]
    assert Return.objects.get().report == reports[0]
    assert counted() == [(3, 3, 0)]


def test_what_fewer_people_reported_passes(client_of_sender: Client, policy: Any) -> None:
    for report in report_by_each(client_of_sender, "u-1", "u-2", "u-1"):
        judge(report, policy, safe=True)

    assert standings() == ["judged_safe"] * 3
    assert not Return.objects.exists()


# --- Brigades


def test_who_had_reported_before_is_not_new_and_who_reports_in_vain_is_unreliable(
    client_of_sender: Client, policy: Any
) -> None:
    for number in range(16):
        elsewhere = {"type": "message", "id": f"other-{number}"}
        resolve(report_by(client_of_sender, "u-2", item=elsewhere), action="no_violation")
    time_passes(hours=30)
    judged_safe_by(client_of_sender, policy, "u-1")

    report_by_each(client_of_sender, "u-2", "u-3")

    assert counted() == [(3, 2, 1)]
    assert Return.objects.get().looks_like_a_brigade


def test_who_acted_in_bad_faith_before_counts_among_the_unreliable(
    client_of_sender: Client, policy: Any
) -> None:
    elsewhere = {"type": "message", "id": "other"}
    invalidate(report_by(client_of_sender, "u-2", item=elsewhere))
    time_passes(hours=30)
    judged_safe_by(client_of_sender, policy, "u-1")

    report_by_each(client_of_sender, "u-2", "u-3")

    assert counted() == [(3, 2, 1)]


@pytest.mark.parametrize(
    ("reporters", "fresh", "unreliable", "brigade"),
    [(4, 1, 1, False), (4, 2, 0, True), (4, 0, 2, True), (5, 2, 2, False)],
)
def test_half_of_them_new_or_half_unreliable_look_like_a_brigade(
    reporters: int, fresh: int, unreliable: int, *, brigade: bool
) -> None:
    returned = Return(reporters=reporters, fresh=fresh, unreliable=unreliable)

    assert returned.looks_like_a_brigade is brigade
