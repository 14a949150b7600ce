"""Where the machine's verdict that counts and the decision in effect differ: how often, and where.

Both say one category, or that there is no violation. Where the machine found none it either judged
the report safe, or was unsure and sent it to people: no difference where they found none either, and
nothing that was missed where they found one. Of an item the newest decision counts that nobody took
back, from when it is in effect, and only if it settles the reports that it is about.
"""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Prefetch
from django.utils import timezone

from classifier.models import Classification
from reports.models import Report, Severity
from reports.models.report import FirstReportedText
from reviews.blind import in_hand_blind
from reviews.models import DecidedReport, Decision
from reviews.queue import LOOKED_THROUGH, PAGE
from reviews.standing import is_overridden, is_undone

NO_VIOLATION = "none"
# No category's id has a hyphen.
UNSURE = "none-unsure"


class Kind(StrEnum):
    """What is wrong with the machine's answer, by what people found."""

    MISSED = "missed"
    """It would have passed as safe."""
    UNSURE = "unsure"
    """The machine found no violation, but asked people."""
    FALSE_ALARM = "false_alarm"
    OTHER_CATEGORY = "other_category"


@dataclass(frozen=True)
class Narrowed:
    """Which differences; blank or None means any."""

    kind: str = ""
    machine: str = ""
    """A category's id, `NO_VIOLATION` where it was sure of that, or `UNSURE`."""
    people: str = ""
    """A category's id, or `NO_VIOLATION`."""
    language: str = ""
    sender: str = ""
    version: int | None = None
    """The number of the policy version that the verdict was given under."""
    within: timedelta | None = None


@dataclass(frozen=True)
class Difference:
    """One report with both answers; `excerpt` is the start of its text."""

    kind: Kind
    report: Report
    verdict: Classification
    decision: Decision
    excerpt: str | None

    @property
    def severity(self) -> Severity:
        """Of what people found, or of the item where they found nothing."""
        return Severity(self.decision.severity or self.report.item.rank)


@dataclass(frozen=True)
class DifferencesPage:
    cards: list[Difference]
    counts: dict[tuple[str, str], int]
    """Differing reports by machine and people, in all that was looked through; not narrowed by
    kind, machine and people."""
    agreeing: int
    """Reports on which both say the same, of the same ones."""
    after: str
    """The key of the next page; blank on the last one."""
    looked_through: int | None = None
    """The page is not full, yet there are older decisions: only so many were looked through."""

    def count_of(self, kind: Kind) -> int:
        return sum(many for pair, many in self.counts.items() if kind_of(*pair) == kind)


_FOUND_NONE = {NO_VIOLATION: Kind.MISSED, UNSURE: Kind.UNSURE}


def kind_of(machine: str, people: str) -> Kind:
    """Of two answers that differ."""
    if machine in _FOUND_NONE:
        return _FOUND_NONE[machine]
    return Kind.FALSE_ALARM if people == NO_VIOLATION else Kind.OTHER_CATEGORY


def read_differences(*, reader: User, narrowed: Narrowed, after: str = "") -> DifferencesPage:
    """A page, the newest decisions first, of the newest `LOOKED_THROUGH` or those beyond the key.

    `after` is the key that the page before gave; `ValueError` for another. What `reader` has in
    hand blind is left out.
    """
    top, decision, report = _read_key(after)
    with connection.cursor() as cursor:
        asked: dict[str, Any] = {
            **vars(narrowed),
            "within": narrowed.within and narrowed.within.total_seconds(),
            "dialects": f"{narrowed.language}-",
            "blind": list(in_hand_blind(reader)),
            "most": LOOKED_THROUGH,
            "top": top,
            "decision": decision,
            "report": report,
            "page": PAGE + 1,
        }
        cursor.execute(_statement(narrowed), asked)
        newest, oldest, oldest_at, looked, agreeing, counts, pairs = cursor.fetchone()
    shown = [tuple(pair) for pair in json.loads(pairs or "[]")]
    page = DifferencesPage(
        cards=_cards(shown[:PAGE]),
        counts={(machine, people): many for machine, people, many in json.loads(counts or "[]")},
        agreeing=agreeing,
        after="",
    )
    if len(shown) > PAGE:
        decision, report, _machine, _people = shown[PAGE - 1]
        return replace(page, after=f"{newest + 1}.{decision}.{report}")
    over = narrowed.within and oldest_at and oldest_at < timezone.now() - narrowed.within
    if looked < LOOKED_THROUGH or over:
        return page
    return replace(page, after=f"{oldest}.{oldest}.0", looked_through=LOOKED_THROUGH)


def _cards(shown: list[tuple[int, int, str, str]]) -> list[Difference]:
    """A card for each decision and report, with both answers, in their order. Two statements."""
    current = Classification.objects.filter(superseded=False)
    rows: Any = (
        DecidedReport.objects.filter(
            decision__in={decision for decision, *_rest in shown},
            report__in={report for _decision, report, *_rest in shown},
        )
        .select_related("decision__reviewer", "decision__action", "report__item", "report__sender")
        .prefetch_related(Prefetch("report__classifications", current))
        .annotate(excerpt=FirstReportedText("report__content__body"))
    )
    found = {(row.decision_id, row.report_id): row for row in rows}
    return [
        _card(kind_of(machine, people), found[decision, report])
        for decision, report, machine, people in shown
    ]


def _card(kind: Kind, row: Any) -> Difference:
    verdict = row.report.current_classification()
    return Difference(kind, row.report, verdict, row.decision, row.excerpt)


_LARGEST = 2**63 - 1


def _read_key(after: str) -> tuple[int, int, int]:
    """The decision below which it is looked, and the decision and report that were shown last."""
    if not after:
        return _LARGEST, _LARGEST, _LARGEST
    top, decision, report = (int(part) for part in after.split("."))
    if not all(0 <= part <= _LARGEST for part in (top, decision, report)):
        raise ValueError(after)
    return top, decision, report


def _statement(narrowed: Narrowed) -> str:
    of_reports = [
        condition
        for name, condition in {
            "language": "(report.language = %(language)s OR starts_with(report.language, %(dialects)s))",
            "sender": "report.sender_id = (SELECT id FROM reports_sender WHERE name = %(sender)s)",
            "version": "verdict.policy_version_id = %(version)s",
            "within": "decision.created_at >= statement_timestamp()"
            " - make_interval(secs => %(within)s)",
        }.items()
        if getattr(narrowed, name)
    ]
    of_answers = [
        condition
        for name, condition in {
            "machine": "machine = %(machine)s",
            "people": "people = %(people)s",
            "kind": f"CASE WHEN machine = '{NO_VIOLATION}' THEN '{Kind.MISSED}'"
            f" WHEN machine = '{UNSURE}' THEN '{Kind.UNSURE}'"
            f" WHEN people = '{NO_VIOLATION}' THEN '{Kind.FALSE_ALARM}'"
            f" ELSE '{Kind.OTHER_CATEGORY}' END = %(kind)s",
        }.items()
        if getattr(narrowed, name)
    ]
    return _DIFFERENCES.format(
        of_reports=" AND ".join(["true", *of_reports]),
        of_answers=" AND ".join(["true", *of_answers]),
    )


# Each decision looks its rows up by their indexes, whatever the planner thinks of reading a table
# whole: hence LATERAL with OFFSET 0.
_DIFFERENCES = f"""
WITH looked AS MATERIALIZED (
    SELECT id, item_id, kind, action, category, created_at, effective_at FROM reviews_decision
    WHERE id < %(top)s ORDER BY id DESC LIMIT %(most)s
), harmless AS MATERIALIZED (
    SELECT version.number, each->>'id' AS category
    FROM classifier_policyversion AS version, jsonb_array_elements(version.categories) AS each
    WHERE (each->'safe')::boolean
), compared AS MATERIALIZED (
    SELECT decision.id AS decision, report.id AS report,
        CASE WHEN harmless.number IS NULL THEN verdict.category
            WHEN verdict.safe THEN '{NO_VIOLATION}' ELSE '{UNSURE}' END AS machine,
        CASE action.outcome WHEN 'upholds' THEN decision.category ELSE '{NO_VIOLATION}' END AS people
    FROM looked AS decision
    JOIN reviews_action AS action ON action.slug = decision.action
    CROSS JOIN LATERAL (SELECT report_id FROM reviews_decidedreport
        WHERE decision_id = decision.id OFFSET 0) AS named
    CROSS JOIN LATERAL (SELECT policy_version_id, category, safe FROM classifier_classification
        WHERE report_id = named.report_id AND NOT superseded OFFSET 0) AS verdict
    CROSS JOIN LATERAL (SELECT id, language, sender_id FROM reports_report
        WHERE id = named.report_id OFFSET 0) AS report
    LEFT JOIN harmless ON harmless.number = verdict.policy_version_id
        AND harmless.category = verdict.category
    WHERE decision.kind = 'decision' AND decision.effective_at <= statement_timestamp()
        AND action.outcome IN ('clears', 'upholds')
        AND NOT {is_undone("decision")} AND NOT {is_overridden("decision")}
        AND decision.item_id <> ALL (%(blind)s)
        AND {{of_reports}}
), different AS MATERIALIZED (
    SELECT decision, report, machine, people FROM compared
    WHERE machine <> people AND NOT (machine = '{UNSURE}' AND people = '{NO_VIOLATION}')
)
SELECT (SELECT max(id) FROM looked), (SELECT min(id) FROM looked),
    (SELECT min(created_at) FROM looked), (SELECT count(*) FROM looked),
    (SELECT count(*) FROM compared) - (SELECT count(*) FROM different),
    (SELECT jsonb_agg(jsonb_build_array(machine, people, many)) FROM (
        SELECT machine, people, count(*) AS many FROM different GROUP BY machine, people) AS counts),
    (SELECT jsonb_agg(jsonb_build_array(decision, report, machine, people)
        ORDER BY decision DESC, report DESC) FROM (
        SELECT decision, report, machine, people FROM different
        WHERE (decision, report) < (%(decision)s, %(report)s) AND {{of_answers}}
        ORDER BY decision DESC, report DESC LIMIT %(page)s) AS page)
"""  # noqa: S608 - put together from our own text alone
