"""What is said of a reporter: the share that people upheld, in a band that leaves no false precision."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from reports.invalidation import revoke_invalidation
from reports.models import Report
from reports.reliability import (
    IS_RELIABLE,
    IS_UNRELIABLE,
    LOOKED_AT,
    Band,
    Reliability,
    read_reliability,
)
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import resolve
from reports.tests.sending import Client, body_saying, make_sender

pytestmark = pytest.mark.django_db


def send(client: Client, *, reporter: str = "u-9") -> Report:
    return client.send(body_saying("See you at lunch.", reporter={"id": reporter}, reason=None))


def decided(client: Client, *, upheld: int = 0, cleared: int = 0, **fields: Any) -> list[Report]:
    """Reports of one reporter, decided so; each about the same item."""
    reports = [send(client, **fields) for _each in range(upheld + cleared)]
    for number, report in enumerate(reports):
        resolve(report, action="remove" if number < upheld else "no_violation")
    return reports


def known(report: Report) -> Reliability:
    name = report.reporter_pseudonym
    return read_reliability(sender_id=report.sender_id, pseudonyms=[name])[name]


@pytest.mark.parametrize(
    ("upheld", "of", "band"),
    [
        (0, 0, Band.NEW),
        (4, 4, Band.NEW),
        (5, 5, Band.RELIABLE),
        (6, 10, Band.MIXED),
        (60, 100, Band.RELIABLE),
        (0, 15, Band.MIXED),
        (0, 16, Band.UNRELIABLE),
        (1, 5, Band.MIXED),
    ],
)
def test_the_band_says_no_more_than_the_interval(upheld: int, of: int, band: Band) -> None:
    assert Reliability(of, upheld).band == band
    assert Reliability(of, upheld, invalidated=True).band == Band.INVALIDATED


def test_the_database_and_the_pages_agree_on_the_band_of_every_count() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT decided, upheld, invalidated, {IS_RELIABLE}, {IS_UNRELIABLE}"  # noqa: S608 - our own
            " FROM generate_series(0, 100) AS decided, generate_series(0, decided) AS upheld,"
            " unnest(ARRAY[true, false]) AS invalidated"
        )
        rows = cursor.fetchall()

    told = [(row, Reliability(*row[:3])) for row in rows]
    wrong = [
        row for row, known in told if row[3:] != (known.band == Band.RELIABLE, known.is_unreliable)
    ]
    assert wrong == []
    assert len(rows) == 2 * 5151


def test_upheld_and_cleared_reports_count_and_open_ones_do_not(client_of_sender: Client) -> None:
    decided(client_of_sender, upheld=3, cleared=2)

    assert known(send(client_of_sender)) == Reliability(5, 3)


def test_what_may_still_be_taken_back_does_not_count(client_of_sender: Client) -> None:
    report = send(client_of_sender)
    resolve(report, effective_at=timezone.now() + timedelta(seconds=10))

    assert known(report) == Reliability()


def test_what_was_invalidated_does_not_count(client_of_sender: Client) -> None:
    reports = decided(client_of_sender, upheld=1, cleared=2)
    Report.objects.filter(pk=reports[0].pk).update(invalidated_at=timezone.now())

    assert known(reports[0]) == Reliability(2, 0)


def test_who_was_invalidated_is_known_for_it_until_that_is_revoked(
    client_of_sender: Client,
) -> None:
    invalidation = invalidate(send(client_of_sender))
    forum = send(make_sender("forum"))

    assert known(send(client_of_sender)) == Reliability(invalidated=True)
    assert known(send(client_of_sender, reporter="u-10")) == Reliability()
    assert known(forum) == Reliability()

    assert sum(revoke_invalidation(invalidation=invalidation, actor_name="test")) == 1

    assert known(send(client_of_sender)) == Reliability()


def test_each_reporter_counts_apart_and_each_sender_knows_its_own(client_of_sender: Client) -> None:
    mine = decided(client_of_sender, upheld=1)[0]
    other = decided(client_of_sender, cleared=2, reporter="u-10")[0]
    forum = decided(make_sender("forum"), cleared=1)[0]

    names = [mine.reporter_pseudonym, other.reporter_pseudonym, forum.reporter_pseudonym, ""]
    assert read_reliability(sender_id=mine.sender_id, pseudonyms=names) == {
        mine.reporter_pseudonym: Reliability(1, 1),
        other.reporter_pseudonym: Reliability(2, 0),
        forum.reporter_pseudonym: Reliability(),
    }


def test_only_the_newest_reports_are_looked_at(client_of_sender: Client) -> None:
    old = decided(client_of_sender, upheld=1)[0]
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO reports_report SELECT (jsonb_populate_record(row, jsonb_build_object("
            "'id', row.id + n, 'public_id', gen_random_uuid(), 'idempotency_key', 'copy ' || n,"
            " 'status', 'pending', 'upheld_at', NULL))).*"
            " FROM reports_report AS row CROSS JOIN generate_series(1, %s) AS n WHERE id = %s",
            [LOOKED_AT, old.pk],
        )

    assert known(old) == Reliability()
