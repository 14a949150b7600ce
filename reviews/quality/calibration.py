"""Second reviews that differ from the first decision and wait for a lead: both beside the text."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Prefetch, Q, QuerySet
from django.db.models.functions import Now

from classifier.models import Classification
from reports.models import Report, Severity
from reports.models.report import FirstReportedText
from reviews.blind import in_hand_blind
from reviews.models import DecidedReport, DoubleReview
from reviews.queue import PAGE


@dataclass(frozen=True)
class Card:
    """One second review with its first decision; the most severe report that both are about."""

    review: DoubleReview
    report: Report
    excerpt: str | None
    is_theirs: bool
    """The reader is one of the two, and so does not settle it."""


@dataclass(frozen=True)
class CalibrationPage:
    cards: list[Card]
    after: str
    """The key of the next page; blank on the last one."""


def to_settle() -> QuerySet[DoubleReview]:
    """Those that differ, most severe first, then oldest.

    Once the second answer can be taken back no more, and while the first decision stands: what
    overrides it has settled the matter.
    """
    answered_before = Now() - timedelta(seconds=settings.UNDO_SECONDS)
    differing = DoubleReview.objects.filter(agrees=False, settled_at=None)
    waits = differing.whose_first_stands().filter(answered_at__lte=answered_before)
    return waits.order_by("-severity", "id")


def read_calibration(*, reader: User, after: str = "") -> CalibrationPage:
    """One page. `after` is the key that the page before gave; `ValueError` for another.

    What `reader` has in hand blind is left out.
    """
    found = to_settle().exclude(decision__item__in=in_hand_blind(reader))
    if after:
        found = found.filter(_beyond(after))
    rows = list(
        found.select_related("decision__reviewer", "decision__action", "reviewer", "action")[
            : PAGE + 1
        ]
    )
    shown = rows[:PAGE]
    reports = _reports_of([row.decision_id for row in shown])
    cards = [
        Card(
            row,
            reports[row.decision_id].report,
            reports[row.decision_id].excerpt,
            reader.pk in {row.decision.reviewer_id, row.reviewer_id},
        )
        for row in shown
    ]
    last = shown[-1] if len(rows) > PAGE else None
    return CalibrationPage(cards, f"{last.severity}.{last.pk}" if last else "")


def _reports_of(decision_ids: list[int]) -> dict[int, Any]:
    """Of each decision the most severe of its reports, then the newest; by the decision's id."""
    current = Classification.objects.filter(superseded=False)
    rows = (
        DecidedReport.objects.filter(decision__in=decision_ids)
        .select_related("report__item", "report__sender")
        .prefetch_related(Prefetch("report__classifications", current))
        .annotate(excerpt=FirstReportedText("report__content__body"))
        .order_by("decision", "-report__rank", "-report")
        .distinct("decision")
    )
    return {row.decision_id: row for row in rows}


def _beyond(after: str) -> Q:
    severity, pk = (int(part) for part in after.split("."))
    if not (0 <= severity <= Severity.CRITICAL and 0 < pk < 2**63):
        raise ValueError(after)
    return Q(severity__lt=severity) | Q(severity=severity, pk__gt=pk)
