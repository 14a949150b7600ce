"""How often each rule fired of late: at intake, and on what models answered."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import connection

from classifier import rules
from reports import triage
from reports.models import Severity

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

DAYS = 7
# So many of the newest rows are read, however many a day has.
LOOKED_AT = 100_000


@dataclass(frozen=True)
class Fired:
    """One rule, and on how many of the newest reports or verdicts it fired."""

    name: str
    revision: int
    sentence: "StrOrPromise"
    count: int
    floor: Severity | None = None
    """What a rule of intake raises the floor to."""


def rules_of_intake() -> list[Fired]:
    counts = _count(_AT_INTAKE)
    return [
        Fired(each.name, each.revision, each.sentence, counts.get(each.name, 0), each.floor)
        for each in triage.every_rule()
    ]


def rules_of_the_application() -> list[Fired]:
    counts = _count(_ON_VERDICTS)
    return [
        Fired(each.name, each.revision, each.sentence, counts.get(each.name, 0))
        for each in rules.RULES
    ]


def _count(statement: str) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"looked_at": LOOKED_AT, "days": DAYS})
        return dict(cursor.fetchall())


_AT_INTAKE = """
SELECT rule, count(*) FROM (
    SELECT floor_rules FROM reports_report
    WHERE id > (SELECT max(id) FROM reports_report) - %(looked_at)s
        AND received_at >= now() - make_interval(days => %(days)s)
) AS report, jsonb_array_elements_text(floor_rules) AS rule
GROUP BY rule
"""

_ON_VERDICTS = """
SELECT rule, count(*) FROM (
    SELECT rules FROM classifier_classification
    WHERE id > (SELECT max(id) FROM classifier_classification) - %(looked_at)s
        AND created_at >= now() - make_interval(days => %(days)s)
) AS verdict, jsonb_array_elements_text(rules) AS rule
GROUP BY rule
"""
