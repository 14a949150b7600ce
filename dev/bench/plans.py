"""Which plans a page's statements have: nothing may read a large table from end to end."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# A table of fewer rows may well be read from end to end.
LARGE = 100_000


@dataclass
class Plans:
    """What the statements of one page do: how many there are, the indexes, the whole tables read."""

    statements: int = 0
    indexes: set[str] = field(default_factory=set)
    whole_tables: set[str] = field(default_factory=set)

    def add(self, plan: dict[str, Any], *, large: Collection[str]) -> None:
        """A statement's plan; `large` names the tables that must not be read whole."""
        for node in _nodes(plan):
            if node["Node Type"].endswith("Seq Scan") and node["Relation Name"] in large:
                self.whole_tables.add(node["Relation Name"])
            if "Index Name" in node:
                self.indexes.add(node["Index Name"])


def plans_of(browser: Any, address: str, *, post: bool = False) -> Plans:
    """Ask for a page in this process, and explain each of its statements where it is made.

    `browser` is Django's test client, logged in.
    """
    from django.db import connection  # noqa: PLC0415  after the environment is set

    found = Plans()
    large = _large_tables(connection)
    explaining = False

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
        nonlocal explaining
        result = execute(sql, params, many, context)
        if not explaining:
            found.statements += 1
            explaining = True
            # In the same transaction, under the settings that it may have made.
            for each in filter(None, map(str.strip, sql.split(";"))):
                if each.startswith(("SELECT", "WITH")):
                    found.add(_explain(connection, each, params), large=large)
            explaining = False
        return result

    with connection.execute_wrapper(note):
        answer = browser.post(address) if post else browser.get(address)
    if answer.status_code not in {200, 302}:
        raise AssertionError(f"{address} answers {answer.status_code}")
    return found


def _explain(connection: Any, sql: str, params: Any) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
        (told,) = cursor.fetchone()
    plan: dict[str, Any] = (json.loads(told) if isinstance(told, str) else told)[0]["Plan"]
    return plan


def _large_tables(connection: Any) -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE reltuples >= %s", [LARGE])
        return {row[0] for row in cursor.fetchall()}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)
