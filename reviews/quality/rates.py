"""The rates that there are at first: without them nothing is drawn and nothing mixed in."""

from typing import Any

from django.db import connections

from reviews.migrations._first_rates import FIRST_RATES
from reviews.models import SamplingRate


def complete_rates(*, using: str, **_signal: Any) -> None:
    """Write the first rates where there is none. Runs after `migrate` and `flush`."""
    connection = connections[using]
    if SamplingRate._meta.db_table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(FIRST_RATES)
