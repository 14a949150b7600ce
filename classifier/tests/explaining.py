"""How PostgreSQL would answer what was asked."""

import json
from typing import Any

from django.db import connection

_CHEAP_FOR_A_FEW = ("enable_seqscan", "enable_bitmapscan")


def nodes_of(sql: str, *, analyze: bool = False, sorts: bool = True) -> list[dict[str, Any]]:
    """Every node of the statement's plan; `analyze` runs it, without `sorts` it avoids sorting.

    As if the tables were large: so few rows might be read in another way for less.
    """
    off = _CHEAP_FOR_A_FEW if sorts else (*_CHEAP_FOR_A_FEW, "enable_sort")
    with connection.cursor() as cursor:
        cursor.execute("; ".join(f"SET {each} = off" for each in off))
        try:
            cursor.execute(f"EXPLAIN ({'ANALYZE, ' if analyze else ''}FORMAT JSON) {sql}")
            (found,) = cursor.fetchone()
        finally:
            cursor.execute("; ".join(f"RESET {each}" for each in off))
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    return _flat(plan)


def _flat(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for child in node.get("Plans", []) for each in _flat(child))]
