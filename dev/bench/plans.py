"""Which plans a page's statements have: nothing may read a large table from end to end."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tables that grow with the reports.
LARGE = frozenset(
    {
        "reports_item",
        "reports_report",
        "reports_content",
        "reports_auditentry",
        "classifier_classification",
        "classifier_job",
        "reviews_decision",
        "reviews_decidedreport",
    }
)


@dataclass
class Plans:
    """What the statements of one page do: how many there are, the indexes, the whole tables read."""

    statements: int = 0
    indexes: set[str] = field(default_factory=set)
    whole_tables: set[str] = field(default_factory=set)

    def add(self, plan: dict[str, Any]) -> None:
        for node in _nodes(plan):
            if node["Node Type"].endswith("Seq Scan") and node["Relation Name"] in LARGE:
                self.whole_tables.add(node["Relation Name"])
            if "Index Name" in node:
                self.indexes.add(node["Index Name"])


def plans_of(browser: Any, address: str, *, post: bool = False) -> Plans:
    """Ask for a page in this process, and explain each SELECT that it makes.

    `browser` is Django's test client, logged in.
    """
    from django.db import connection  # noqa: PLC0415  after the environment is set

    asked: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:  # noqa: FBT001
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        answer = browser.post(address) if post else browser.get(address)
    if answer.status_code not in {200, 302}:
        raise AssertionError(f"{address} answers {answer.status_code}")
    found = Plans()
    for sql, params in asked:
        if sql.lstrip().startswith(("SAVEPOINT", "RELEASE", "SET ", "BEGIN")):
            continue
        found.statements += 1
        if not sql.lstrip().startswith(("SELECT", "WITH")):
            continue
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}", params)
            (told,) = cursor.fetchone()
        found.add((json.loads(told) if isinstance(told, str) else told)[0]["Plan"])
    return found


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", ()):
        yield from _nodes(each)
