"""Reviewers who all ask for the next item at once, and what one such question costs in a long list."""

from __future__ import annotations

import os
import statistics
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg

from dev import programs
from dev.bench.prepared import prepared, say
from dev.bench.sweep import BACKLOG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User

    from dev.processes import Interruption, Supervisor
    from dev.services import Services

PEOPLE = 16
ITEMS = 10
LOOKS = 50


@dataclass
class Tally:
    """What came of all rounds together. An item given to two people in one round is double."""

    rounds: int = 0
    claimed: int = 0
    empty: int = 0
    double: int = 0


def race(people: Sequence[User], *, rounds: int) -> Tally:
    """So many rounds in which everybody asks at one moment for the next pending item.

    Each person has a thread and a connection. Between rounds all claims are deleted.
    """
    from reviews.models import Claim  # noqa: PLC0415  the caller set Django up

    gate = threading.Barrier(len(people) + 1, timeout=60)
    given: dict[int, int | None] = {}
    errors: list[Exception] = []
    threads = [
        threading.Thread(target=_ask, args=(person, rounds, gate, given, errors))
        for person in people
    ]
    for thread in threads:
        thread.start()
    tally = Tally()
    try:
        for _ in range(rounds):
            Claim.objects.all().delete()
            gate.wait()
            gate.wait()
            items = [item for item in given.values() if item is not None]
            tally.rounds += 1
            tally.claimed += len(set(items))
            tally.double += len(items) - len(set(items))
            tally.empty += len(people) - len(items)
    finally:
        gate.abort()
        for thread in threads:
            thread.join()
        for error in errors:
            raise error
    return tally


def _ask(
    person: User,
    rounds: int,
    gate: threading.Barrier,
    given: dict[int, int | None],
    errors: list[Exception],
) -> None:
    from django.db import connection, connections  # noqa: PLC0415

    from reports.models import Item  # noqa: PLC0415
    from reviews.filters import Filters  # noqa: PLC0415
    from reviews.next import claim_next  # noqa: PLC0415

    try:
        connection.ensure_connection()
        for _ in range(rounds):
            gate.wait()
            given[person.pk] = claim_next(
                name=Item.List.PENDING, filters=Filters(), reviewer=person
            )
            gate.wait()
    except threading.BrokenBarrierError:
        pass  # somebody else failed
    except Exception as error:  # noqa: BLE001 - raised again by the caller
        errors.append(error)
        gate.abort()
    finally:
        connections.close_all()


def bench_claims(
    services: Services,
    supervisor: Supervisor,
    interruption: Interruption,
    *,
    rows: int,
    rounds: int,
) -> dict[str, Any]:
    """16 people over 10 items, round after round; then one person's next item among so many."""
    prepared(services, supervisor, interruption)
    os.environ.update(
        programs.environment(database_url=services.database_url, redis_url=services.redis_url)
    )
    _write_items(services, ITEMS)
    import django  # noqa: PLC0415  after the environment is set

    django.setup()
    from django.contrib.auth.models import User  # noqa: PLC0415

    people = [User.objects.create(username=f"reviewer-{number}") for number in range(PEOPLE)]
    began = time.perf_counter()
    tally = race(people, rounds=rounds)
    seconds = time.perf_counter() - began
    say(f"{tally} in {seconds:.0f} s")
    interruption.check()
    _write_items(services, rows)
    taken = _looks(people[0])
    return {
        **vars(tally),
        "seconds": round(seconds, 1),
        "rows": rows,
        "median_ms": round(statistics.median(taken) * 1000, 1),
        "max_ms": round(max(taken) * 1000, 1),
    }


def _looks(reviewer: User) -> list[float]:
    """Seconds of each next item while the items before it are skipped, one after the other."""
    from reports.models import Item  # noqa: PLC0415
    from reviews.filters import Filters  # noqa: PLC0415
    from reviews.next import claim_next, skip_item  # noqa: PLC0415

    taken = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        item_id = claim_next(name=Item.List.PENDING, filters=Filters(), reviewer=reviewer)
        taken.append(time.perf_counter() - began)
        if item_id is not None:
            skip_item(item_id=item_id, reviewer=reviewer)
    return taken


def _write_items(services: Services, rows: int) -> None:
    with psycopg.connect(services.database_url, autocommit=True) as database:
        database.execute("TRUNCATE reports_sender CASCADE")
        database.execute("ALTER SEQUENCE reports_sender_id_seq RESTART")
        for statement in BACKLOG:
            database.execute(statement, {"rows": rows})
