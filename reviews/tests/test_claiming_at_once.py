"""Many people ask for the next item at one moment: each item goes to one of them, the rest get none.

`python -m dev.bench claims` does it a thousand times and prints what came of it.
"""

from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from classifier.tests.situations import at_once, make_many, other_connection
from dev.bench.claims import ITEMS, PEOPLE, Tally, race
from reports import lifecycle
from reports.models import AuditEntry, Item
from reviews.filters import Filters
from reviews.models import Claim
from reviews.next import claim_next, claimable
from reviews.tests.moving import meanwhile

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 25


def people(count: int) -> list[User]:
    return [User.objects.create(username=f"reviewer-{number}") for number in range(count)]


next_pending = partial(claim_next, name=Item.List.PENDING, filters=Filters())


def test_of_sixteen_at_once_over_ten_items_ten_have_one_each_and_six_have_none() -> None:
    make_many("chat-app", ITEMS)

    tally = race(people(PEOPLE), rounds=ROUNDS)

    assert tally == Tally(rounds=ROUNDS, claimed=10 * ROUNDS, empty=6 * ROUNDS, double=0)
    assert AuditEntry.objects.filter(action="claimed").count() == 10 * ROUNDS


def test_what_the_same_person_takes_from_several_tabs_at_once_is_theirs_with_a_row_each() -> None:
    make_many("chat-app", 3)
    (dana,) = people(1)

    given = at_once([partial(next_pending, reviewer=dana)] * 8)

    claimed = set(Claim.objects.in_force().values_list("item", flat=True))
    assert set(given) - {None} == claimed
    assert AuditEntry.objects.filter(action="claimed").count() == len(claimed)
    assert next_pending(reviewer=dana) in claimed


def test_an_item_that_is_just_locked_is_passed_over_while_there_is_another() -> None:
    make_many("chat-app", 2)
    (dana,) = people(1)
    first, second = Item.objects.order_by("-rank", "since", "id")

    with other_connection() as other:
        other.execute("SELECT FROM reports_item WHERE id = %s FOR NO KEY UPDATE", [first.pk])
        given = next_pending(reviewer=dana)
        other.rollback()

    assert given == second.pk


def test_the_only_item_is_waited_for_while_it_is_locked_rather_than_called_none() -> None:
    make_many("chat-app", 1)
    (dana,) = people(1)
    item = Item.objects.get()
    given: list[int | None] = []

    meanwhile(
        lambda: lifecycle.lock_item(item.pk), lambda: given.append(next_pending(reviewer=dana))
    )

    assert given == [item.pk]


def test_an_item_that_is_resolved_while_one_waits_for_it_is_not_given() -> None:
    make_many("chat-app", 1)
    (dana,) = people(1)
    given: list[int | None] = []

    def resolve() -> None:
        lifecycle.lock_item(Item.objects.get().pk)
        Item.objects.update(list=Item.List.RESOLVED, resolved_at="2026-11-30T06:00Z")

    meanwhile(resolve, lambda: given.append(next_pending(reviewer=dana)))

    assert given == [None]
    assert not Claim.objects.exists()


def test_the_next_item_is_found_by_the_lists_index_and_nothing_is_sorted() -> None:
    make_many("chat-app", 20_000)
    reviewers = people(40)
    for reviewer in reviewers[1:]:
        next_pending(reviewer=reviewer)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    top = claimable(Item.List.PENDING, filters=Filters(), reviewer=reviewers[0])
    with transaction.atomic():
        plan = top.select_for_update(no_key=True, skip_locked=True, of=("self",))[:1].explain()

    assert "item_open_in_list_order" in plan
    assert "Sort" not in plan
    assert "Seq Scan on reports_item" not in plan
