"""Forked parts have nothing of the parent's: not its connections, not its answers to signals."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from classifier.batches.forked import PartDiedError, run_parts
from classifier.management.operation import ends_by_signal

pytestmark = pytest.mark.django_db(transaction=True)

_told_at_birth: list[signal.Signals] = []


def _tell() -> None:
    for each in _told_at_birth:
        os.kill(os.getpid(), each)


# Before the child has run a line of its own.
os.register_at_fork(after_in_child=_tell)


@pytest.fixture
def pooled(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[int]]:
    """As with DATABASE_POOL_SIZE: the sessions of the connections, which nobody has taken."""
    database: Any = connection
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    monkeypatch.setitem(options, "pool", {"min_size": 3, "max_size": 3})
    database.pool.open(wait=True)
    yield {each.info.backend_pid for each in database.pool._pool}
    database.close()
    database.close_pool()


def session(_part: int) -> int:
    """Of the database, which this process asks."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_each_part_has_a_connection_of_its_own_though_the_parent_has_a_pool(
    pooled: set[int],
) -> None:
    sessions = run_parts(session, parts=2)

    assert len(set(sessions)) == 2
    assert not pooled & set(sessions)
    assert session(0) in pooled


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_a_part_that_is_told_to_end_at_its_birth_ends_alone(told: signal.Signals) -> None:
    _told_at_birth.append(told)
    try:
        with ends_by_signal("The parent goes on."), pytest.raises(PartDiedError):
            run_parts(session, parts=2)
    finally:
        _told_at_birth.clear()
