"""Migrations that write to what is stored: the same as intake would have written, step by step."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from classifier.tests.situations import wait_until
from moderation_site.tests.migrating import empty_database, migrate, migrating
from reports.models import Sender
from reports.signals import author_of
from reports.submission import Submission

CHUNK = 1_000


@pytest.fixture
def address() -> Iterator[str]:
    with empty_database() as made:
        yield made


@pytest.fixture
def database(address: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


def store_item(database: psycopg.Connection[Any]) -> tuple[int, int]:
    """A sender and an item of its, by their ids."""
    sender = database.execute(
        "INSERT INTO reports_sender (name, is_active, latency_budget)"
        " VALUES ('chat-app', true, '5 minutes') RETURNING id"
    ).fetchone()
    assert sender is not None
    item = database.execute(
        "INSERT INTO reports_item (sender_id, type, external_id, list, rank)"
        " VALUES (%s, 'message', 'm-1', 'pending', 0) RETURNING id",
        sender,
    ).fetchone()
    assert item is not None
    return sender[0], item[0]


def store_reports(database: psycopg.Connection[Any], bodies: list[object]) -> tuple[int, list[int]]:
    """Reports as they were stored before, in the order of the bodies: the sender and their ids."""
    sender, item = store_item(database)
    ids = [
        row[0]
        for row in database.execute(
            "INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key,"
            " fingerprint, fingerprint_version, likely_retry, status, floor, floor_rules, rank,"
            " reason, reporter_pseudonym, language, due_at)"
            " SELECT gen_random_uuid(), %s, %s, number::text, '', 1, false, 'pending', 0, '[]', 0,"
            " '', '', 'en', now() FROM generate_series(1, %s) AS number ORDER BY number RETURNING id",
            [sender, item, len(bodies)],
        )
    ]
    with database.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO reports_content (report_id, body) VALUES (%s, %s)",
            [(pk, json.dumps(body)) for pk, body in zip(ids, bodies, strict=True)],
        )
    return sender, ids


def pseudonyms(database: psycopg.Connection[Any]) -> list[str]:
    rows = database.execute("SELECT author_pseudonym FROM reports_report ORDER BY id")
    return [row[0] for row in rows]


# --- Authors


def body(*messages: dict[str, Any], author: str | None = None) -> dict[str, Any]:
    return {
        "item": {"type": "message", "id": "m-1", "author_id": author},
        "messages": [{"text": "Lunch?", **each} for each in messages],
    }


def by(author: str | None, **fields: Any) -> dict[str, Any]:
    return {"author_id": author, **fields}


SENT: list[object] = [
    body(by("u-8"), author="u-7"),
    body(by("u-8")),
    body(by("u-8"), by("u-8")),
    body(by("u-8"), by("u-9")),
    body(by("u-8"), by(None)),
    body(by("u-8"), {}),
    body({}),
    body(by("u-8", reported=True), by("u-9")),
    body(by("u-8", reported=True), by("u-9", reported=False), by(None, reported=None)),
    body(by("u-8", reported=True), by("u-9", reported=True)),
    body(by("u-8", reported=True), by(None, reported=True)),
    body(by("u-8"), by(None, reported=True)),
    body(by("u-8", reported=False), by("u-8", reported=None)),
    body(by("u-8", reported=False), by("u-9", reported=False)),
    body(by("é \"'\\ 用户 مستخدم 😀")),
    {"item": {"type": "message", "id": "m-1"}, "messages": [{"text": "Lunch?", "author_id": "u"}]},
]
FAULTY: list[object] = ["a text", 5, [], {}, {"item": 3, "messages": "none"}, {"messages": {}}]


def as_at_intake(sent: list[object], sender_id: int) -> list[str]:
    sender = Sender(pk=sender_id)
    return [author_of(Submission.model_validate(each), sender=sender) for each in sent]


def test_authors_of_stored_reports_are_named_as_at_intake(
    address: str, database: psycopg.Connection[Any]
) -> None:
    migrate(address, "reports", "0003")
    sender, ids = store_reports(database, [*SENT, *FAULTY])
    purged, named = ids[0], ids[1]
    database.execute("DELETE FROM reports_content WHERE report_id = %s", [purged])
    database.execute("UPDATE reports_report SET author_pseudonym = 'n' WHERE id = %s", [named])

    migrate(address, "reports", "0004")

    wanted = ["", "n", *as_at_intake(SENT, sender)[2:], *("" for _ in FAULTY)]
    assert pseudonyms(database) == wanted
    assert len(set(wanted)) == 5  # none, n, and three authors

    migrate(address, "reports", "0003")
    migrate(address, "reports", "0004")
    assert pseudonyms(database) == wanted


def test_authors_are_named_a_chunk_at_a_time_and_what_was_done_stays_done(
    address: str, database: psycopg.Connection[Any]
) -> None:
    migrate(address, "reports", "0003")
    sent: list[object] = [SENT[number % len(SENT)] for number in range(2 * CHUNK + 1)]
    sender, ids = store_reports(database, sent)
    wanted = as_at_intake(sent, sender)

    with psycopg.connect(address) as busy:
        busy.execute("SELECT FROM reports_report WHERE id = %s FOR UPDATE", [ids[CHUNK + 1]])
        with migrating(address, "reports", "0004"):
            wait_until(lambda: pseudonyms(database)[0] != "", seconds=30)
            assert pseudonyms(database) == [*wanted[:CHUNK], *([""] * (CHUNK + 1))]
            # What was named is free, though the migration waits.
            database.execute("SET lock_timeout = '5s'")
            database.execute("UPDATE reports_report SET rank = 1 WHERE id = %s", [ids[0]])
            busy.rollback()

    assert pseudonyms(database) == wanted


# --- What people upheld


def decide(
    database: psycopg.Connection[Any], reports: list[int], action: str, *, minutes_ago: int
) -> None:
    with database.transaction():
        database.execute(
            "WITH decision AS ("
            "   INSERT INTO reviews_decision (item_id, reviewer_id, action, category, note, reason,"
            "       created_at, effective_at, overrides_id)"
            "   SELECT report.item_id, person.id, %(action)s, '', '', '',"
            "       now() - make_interval(mins => %(ago)s), now(), NULL"
            "   FROM reports_report AS report, auth_user AS person WHERE report.id = %(first)s"
            "   RETURNING id)"
            " INSERT INTO reviews_decidedreport (decision_id, report_id)"
            " SELECT id, unnest(%(reports)s::bigint[]) FROM decision",
            {"action": action, "ago": minutes_ago, "reports": reports, "first": reports[0]},
        )


def upheld(database: psycopg.Connection[Any]) -> list[int | None]:
    """How many minutes ago each report was upheld."""
    rows = database.execute(
        "SELECT round(extract(epoch FROM now() - upheld_at) / 60)::int"
        " FROM reports_report ORDER BY id"
    )
    return [row[0] for row in rows]


def writers(database: psycopg.Connection[Any]) -> list[str]:
    """The transactions that wrote the rows as they stand."""
    rows = database.execute("SELECT xmin::text FROM reports_report ORDER BY id")
    return [row[0] for row in rows]


def test_decided_reports_are_upheld_by_their_newest_decision(
    address: str, database: psycopg.Connection[Any]
) -> None:
    migrate(address, "reports", "0003")
    migrate(address, "reviews", "0002")
    database.execute(
        "INSERT INTO auth_user (username, password, is_superuser, first_name, last_name, email,"
        " is_staff, is_active, date_joined, last_login)"
        " VALUES ('rita', '', false, '', '', '', false, true, now(), now())"
    )
    _sender, ids = store_reports(database, [body({})] * 7)
    warned, removed, suspended, harmless, cleared, condemned, _undecided = ids
    decide(database, [cleared], "remove", minutes_ago=60)
    decide(database, [condemned], "no_violation", minutes_ago=50)
    decide(database, [warned, harmless], "warn", minutes_ago=40)
    decide(database, [harmless], "reopen", minutes_ago=30)
    decide(database, [removed, condemned], "remove", minutes_ago=20)
    decide(database, [suspended], "suspend", minutes_ago=10)
    decide(database, [cleared], "no_violation", minutes_ago=5)
    before = writers(database)

    migrate(address, "reviews", "0003")

    assert upheld(database) == [40, 20, 10, None, None, 20, None]
    after = writers(database)
    untouched = [index for index, was in enumerate(before) if was == after[index]]
    assert untouched == [3, 4, 6]  # no write, no lock

    migrate(address, "reviews", "0002")
    migrate(address, "reviews", "0003")
    assert writers(database) == after
