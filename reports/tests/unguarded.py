"""Rows as no step of the product writes them: of a damaged disk, a hand that knows better, another time."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.db.backends.utils import CursorWrapper


@contextmanager
def unguarded() -> Iterator[CursorWrapper]:
    """No trigger fires and no foreign key is asked, within a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor
        cursor.execute("SET LOCAL session_replication_role = origin")
