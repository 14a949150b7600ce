"""How tests migrate a database of their own, from nothing or from an older version."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg

from dev.programs import MANAGE
from dev.pytest_services import services

NAME = "migrations_alone"


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a database with nothing in it."""
    address = services().database_url
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS {NAME}")
        server.execute(f"CREATE DATABASE {NAME}")
        yield urlunsplit(urlsplit(address)._replace(path=f"/{NAME}"))
        server.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


def migrate(address: str, *arguments: str) -> None:
    with migrating(address, *arguments):
        pass


@contextmanager
def migrating(address: str, *arguments: str) -> Iterator[None]:
    """It runs beside the block, and has come to a good end after it."""
    process = subprocess.Popen(
        [sys.executable, MANAGE, "migrate", "-v0", *arguments],
        env={**os.environ, "DATABASE_URL": address},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield
        _out, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
    finally:
        process.kill()
        process.wait()
