"""The actions that there always are: nothing could be decided without them."""

from typing import Any

from django.db import connections

from reviews.migrations._first_actions import FIRST_ACTIONS
from reviews.models import Action


def complete_actions(*, using: str, **_signal: Any) -> None:
    """Write the first actions where they are missing. Runs after `migrate` and `flush`."""
    connection = connections[using]
    if Action._meta.db_table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(FIRST_ACTIONS)
