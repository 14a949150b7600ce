"""What a machine had judged safe and people found to be a violation, each with what is like it.

Like it is what a machine judged safe as well: reports of the same item, of the same author, and of the
same text, wherever they were sent from.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from reports.models import Report, Severity
from reports.models.report import FirstReportedText
from reviews.blind import in_hand_blind
from reviews.models import Action, BlindAudit

PAGE = 10
SHOWN_AT_MOST = 20
"""Of each kind of likeness."""
READ_AT_MOST = 1_000
"""So many of an author's newest reports, and of the texts that hold the same words, are looked at."""
_WORDS = 8


_SEVERITY = Coalesce("decision__severity", Value(0))
"""Null in decisions of long ago."""


class HowFar(StrEnum):
    """What the audits came to so far."""

    NOTHING = "nothing"
    DRAWN = "drawn"
    ANSWERED = "answered"


class Why(StrEnum):
    """What two reports have in common; of several the first."""

    ITEM = "item"
    AUTHOR = "author"
    TEXT = "text"


@dataclass(frozen=True)
class Like:
    report: Report
    why: Why


@dataclass(frozen=True)
class Miss:
    """`more` says which kinds have more than is shown."""

    audit: BlindAudit
    report: Report
    like: list[Like]
    more: list[Why]


@dataclass(frozen=True)
class MissesPage:
    misses: list[Miss]
    after: str
    """The key of the next page; blank on the last one."""


def found_misses() -> QuerySet[BlindAudit]:
    """Audits whose answer upholds, the most severe first, then the newest answer."""
    upheld = BlindAudit.objects.filter(decision__action__outcome=Action.Outcome.UPHOLDS)
    return upheld.alias(severity=_SEVERITY).order_by("-severity", "-decision", "-pk")


def read_misses(
    *, reader: User, after: str = "", since: datetime | None = None, version: int | None = None
) -> MissesPage:
    """One page in five statements. `after` is the key that the page before gave; `ValueError` else.

    Of the draws and the policy version that `read_estimates` counts for the same `since` and
    `version`. What `reader` has in hand blind is left out: it would tell the verdict, or what was
    decided.
    """
    blind = list(in_hand_blind(reader))
    audits = found_misses().exclude(report__item__in=blind)
    if since:
        audits = audits.filter(stratum__draw__since__gte=since)
    if version:
        audits = audits.filter(stratum__policy_version=version)
    if after:
        audits = audits.filter(_beyond(after))
    told = ("decision__reviewer", "decision__action", "classification", "stratum")
    rows = list(audits.select_related(*told)[: PAGE + 1])
    shown = rows[:PAGE]
    like = _read_like([audit.report_id for audit in shown], blind)
    reports = _read_reports(
        {audit.report_id for audit in shown}
        | {pk for found in like.values() for pks in found.values() for pk in pks}
    )
    misses = [_miss(audit, like.get(audit.report_id, {}), reports) for audit in shown]
    last = shown[-1] if len(rows) > PAGE else None
    return MissesPage(misses, _key(last) if last else "")


def read_how_far() -> HowFar:
    """Of all audits there are; for the page that has none to show."""
    if BlindAudit.objects.filter(decision__isnull=False).exists():
        return HowFar.ANSWERED
    return HowFar.DRAWN if BlindAudit.objects.exists() else HowFar.NOTHING


def _key(audit: BlindAudit) -> str:
    decision = audit.decision
    assert decision is not None  # noqa: S101 - of an answer
    return f"{decision.severity or 0}.{decision.pk}.{audit.pk}"


def _beyond(after: str) -> Q:
    severity, decision, pk = (int(part) for part in after.split("."))
    known = 0 <= severity <= Severity.CRITICAL
    if not (known and min(decision, pk) > 0 and max(decision, pk) < 2**63):
        raise ValueError(after)
    later = Q(decision__lt=decision) | Q(decision=decision, pk__lt=pk)
    return Q(severity__lt=severity) | (Q(severity=severity) & later)


def _miss(audit: BlindAudit, like: dict[Why, list[int]], reports: dict[int, Report]) -> Miss:
    first = {pk: why for why in reversed(Why) for pk in reversed(like.get(why, [])[:SHOWN_AT_MOST])}
    return Miss(
        audit,
        reports[audit.report_id],
        [Like(reports[pk], why) for why in Why for pk in first if first[pk] is why],
        [why for why in Why if len(like.get(why, [])) > SHOWN_AT_MOST],
    )


def _read_reports(report_ids: Collection[int]) -> dict[int, Report]:
    found = Report.objects.filter(pk__any=report_ids).with_excerpt().select_related("item__sender")
    return {report.pk: report for report in found.prefetch_related("classifications")}


def _read_like(missed: Collection[int], blind: list[int]) -> dict[int, dict[Why, list[int]]]:
    """Ids of like reports by missed report and kind, the newest first; one beyond what is shown."""
    like: dict[int, dict[Why, list[int]]] = {}
    with connection.cursor() as cursor:
        asked: dict[str, Any] = {
            "missed": list(missed),
            "blind": blind,
            "shown": SHOWN_AT_MOST + 1,
            "read": READ_AT_MOST,
            "words": _WORDS,
        }
        cursor.execute(_LIKE, asked)
        for missed_id, why, found in cursor.fetchall():
            like.setdefault(missed_id, {})[Why(why)] = found
    return like


# The index over words narrows, then the very text is compared. The longest words of a text are the
# rarest, and a few of them narrow as well as all.
_TEXT = FirstReportedText.WHOLE % {"expressions": "content.body"}
_SAFE = """report.status = 'judged_safe' AND report.id <> missed.id
    AND report.item_id <> ALL (%(blind)s)"""
_LIKE = f"""
WITH missed AS MATERIALIZED (
    SELECT report.id, report.item_id, report.author_pseudonym, {_TEXT} AS text, (
        SELECT string_agg('''' || word || '''', ' & ') FROM (
            SELECT DISTINCT word, length(word)
            FROM unnest(string_to_array(reports_search_words({_TEXT}), ' ')) AS word
            WHERE word <> '' ORDER BY length(word) DESC, word LIMIT %(words)s
        ) AS longest)::tsquery AS words
    FROM reports_report AS report JOIN reports_content AS content ON content.report_id = report.id
    WHERE report.id = ANY(%(missed)s)
)
SELECT missed.id, 'item', array_agg(found.id ORDER BY found.id DESC)
FROM missed CROSS JOIN LATERAL (
    SELECT report.id FROM reports_report AS report
    WHERE report.item_id = missed.item_id AND {_SAFE}
    ORDER BY report.id DESC LIMIT %(shown)s
) AS found GROUP BY missed.id
UNION ALL
SELECT missed.id, 'author', array_agg(found.id ORDER BY found.id DESC)
FROM missed CROSS JOIN LATERAL (
    SELECT report.id FROM (
        SELECT id, item_id, status FROM reports_report
        WHERE author_pseudonym = missed.author_pseudonym AND author_pseudonym <> ''
        ORDER BY id DESC LIMIT %(read)s
    ) AS report
    WHERE {_SAFE} ORDER BY report.id DESC LIMIT %(shown)s
) AS found GROUP BY missed.id
UNION ALL
SELECT missed.id, 'text', array_agg(found.id ORDER BY found.id DESC)
FROM missed CROSS JOIN LATERAL (
    SELECT report.id FROM (
        SELECT content.report_id, {_TEXT} AS text FROM reports_content AS content
        WHERE reports_search_text(content.body)::tsvector @@ missed.words LIMIT %(read)s
    ) AS alike JOIN reports_report AS report ON report.id = alike.report_id
    WHERE alike.text = missed.text AND {_SAFE}
    ORDER BY report.id DESC LIMIT %(shown)s
) AS found GROUP BY missed.id
"""  # noqa: S608 - put together from our own text alone
