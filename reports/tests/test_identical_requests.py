"""Many requests at once over real connections: one row a key, one item row, no deadlock."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db.models import Count

from reports.models import Content, Item, Report, ReporterIdentity
from reports.tests.outcomes import resolve
from reports.tests.sending import (
    Client,
    HttpAnswer,
    body_saying,
    make_sender,
    post_over_http,
    report_body,
    web_process,
)

AT_ONCE = 32


@pytest.fixture(scope="module")
def address(django_db_setup: None) -> Iterator[str]:  # noqa: ARG001
    """Two web processes with threads enough to answer all at once."""
    with web_process(workers=2, threads=AT_ONCE // 2) as address:
        yield address


def all_at_once(send: Callable[[int], HttpAnswer]) -> list[HttpAnswer]:
    """Call `send` with each number in a thread of its own, all released at the same moment."""
    start = Barrier(AT_ONCE, timeout=30)

    def one(number: int) -> HttpAnswer:
        start.wait()
        return send(number)

    with ThreadPoolExecutor(AT_ONCE) as threads:
        return list(threads.map(one, range(AT_ONCE)))


def ids(answers: list[HttpAnswer]) -> set[str]:
    return {answer.json()["id"] for answer in answers}


@pytest.mark.django_db(transaction=True)
def test_32_identical_requests_at_once_are_one_row_and_32_answers_with_its_id(
    address: str,
) -> None:
    sender = make_sender("chat-app")

    answers = all_at_once(lambda _: post_over_http(address, sender.key, report_body(), key="k-1"))

    assert Counter(answer.status_code for answer in answers) == {202: 1, 200: AT_ONCE - 1}
    report = Report.objects.get()
    assert ids(answers) == {str(report.public_id)}
    assert all(
        answer.headers["Idempotency-Replayed"] == "true"
        for answer in answers
        if answer.status_code == 200
    )
    assert (Item.objects.count(), Content.objects.count()) == (1, 1)
    assert ReporterIdentity.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_bodies_under_one_key_at_once_one_wins_and_the_other_is_422(
    address: str,
) -> None:
    sender = make_sender("chat-app")
    bodies = [report_body(comment="one"), body_saying("two", comment="two")]

    answers = all_at_once(
        lambda number: post_over_http(address, sender.key, bodies[number % 2], key="k-1")
    )

    won = Content.objects.get().body["comment"]
    by_body = [answers[0::2], answers[1::2]]
    winners, losers = by_body if won == "one" else reversed(by_body)
    assert Counter(answer.status_code for answer in winners) == {202: 1, 200: AT_ONCE // 2 - 1}
    assert {answer.status_code for answer in losers} == {422}
    assert ids(winners) == {str(Report.objects.get().public_id)}
    assert Item.objects.count() == 1, "a refused body leaves no item behind"


@pytest.mark.django_db(transaction=True)
def test_32_reports_on_one_item_at_once_are_one_item_row(address: str) -> None:
    sender = make_sender("chat-app")

    answers = all_at_once(
        lambda number: post_over_http(
            address, sender.key, report_body(reporter={"id": f"u-{number}"})
        )
    )

    assert {answer.status_code for answer in answers} == {202}
    assert len(ids(answers)) == AT_ONCE
    item = Item.objects.annotate(count=Count("reports")).get()
    assert item.count == AT_ONCE
    assert item.list == Item.List.PENDING
    assert item.since == min(Report.objects.values_list("received_at", flat=True))


@pytest.mark.django_db(transaction=True)
def test_one_reporter_on_many_items_at_once_is_one_identity(address: str) -> None:
    sender = make_sender("chat-app")

    answers = all_at_once(
        lambda number: post_over_http(address, sender.key, body_saying(f"text {number}"))
    )

    assert {answer.status_code for answer in answers} == {202}
    assert Item.objects.count() == AT_ONCE
    assert ReporterIdentity.objects.count() == 1


def test_the_same_body_under_a_new_key_is_a_new_report_marked_as_a_likely_retry(
    client_of_sender: Client,
) -> None:
    first, second, third = (client_of_sender.send() for _ in range(3))

    assert [first.likely_retry, second.likely_retry, third.likely_retry] == [False, True, True]
    assert len({first.public_id, second.public_id, third.public_id}) == 3


def test_another_body_or_another_sender_is_no_retry(client_of_sender: Client) -> None:
    client_of_sender.send()

    assert not client_of_sender.send(report_body(comment="worse")).likely_retry
    assert not make_sender("forum").send().likely_retry


def test_another_key_is_another_report_also_after_the_item_was_resolved(
    client_of_sender: Client,
) -> None:
    first = client_of_sender.send()
    resolve(first)

    second = client_of_sender.send(report_body(comment="worse"))

    first.refresh_from_db()
    second.item.refresh_from_db()
    assert second.pk != first.pk
    assert second.item_id == first.item_id
    assert (first.status, second.status) == ("resolved", "pending")
    assert second.item.list == Item.List.PENDING


def test_a_key_stands_for_its_report_also_after_it_was_resolved(client_of_sender: Client) -> None:
    client_of_sender.post(key="k-1")
    resolve(Report.objects.get())

    again: Any = client_of_sender.post(key="k-1")

    assert again.status_code == 200
    assert again.json()["status"] == "resolved"
