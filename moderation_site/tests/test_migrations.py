"""Each app's tables can be made alone, from nothing and back: no migration leans on luck."""

import os
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from dev.programs import MANAGE
from dev.pytest_services import services

NAME = "migrations_alone"


@pytest.fixture
def empty_database() -> Iterator[str]:
    """The address of a database with nothing in it."""
    address = services().database_url
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME}")
        server.execute(f"CREATE DATABASE {NAME}")
        yield urlunsplit(urlsplit(address)._replace(path=f"/{NAME}"))
        server.execute(f"DROP DATABASE {NAME}")


def migrate(address: str, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, MANAGE, "migrate", "-v0", *arguments],
        env={**os.environ, "DATABASE_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_last_app_brings_all_that_it_needs_and_everything_can_be_undone(
    empty_database: str,
) -> None:
    migrate(empty_database, "reviews")
    migrate(empty_database, "reports", "zero")
    migrate(empty_database)
