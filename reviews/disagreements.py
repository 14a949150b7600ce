"""What reviewers read of disagreements: reports in which a newer version found what none had found."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from classifier.history import PastVerdict, read_history
from classifier.models import Disagreement
from reports.models import Report
from reviews.blind import in_hand_blind
from reviews.models import Decision
from reviews.queue import PAGE


@dataclass(frozen=True)
class Card:
    """One disagreement: its report, and the verdict with the one before it."""

    disagreement: Disagreement
    report: Report
    past: PastVerdict
    decision: Decision | None
    """The newest about the item; None where only a machine had judged."""


@dataclass(frozen=True)
class Page:
    cards: list[Card]
    after: str
    """The key of the next page; blank on the last one."""


def read_disagreements(*, reader: User, after: str = "") -> Page:
    """One page of what is open, without what the reader has in hand blind.

    `after` is the key that the page before gave; `ValueError` for another.
    """
    found = Disagreement.objects.open().exclude(report__item__in=in_hand_blind(reader))
    if after:
        found = found.beyond(after)
    rows = list(found[: PAGE + 1])
    shown = rows[:PAGE]
    reports = Report.objects.with_outcome().with_excerpt().in_bulk([row.report_id for row in shown])
    decisions = Decision.objects.newest_of([report.item_id for report in reports.values()])
    cards = [
        Card(
            row,
            reports[row.report_id],
            next(
                past
                for past in read_history(reports[row.report_id].classifications.all())
                if past.verdict.pk == row.pk
            ),
            decisions.get(reports[row.report_id].item_id),
        )
        for row in shown
    ]
    return Page(cards, shown[-1].key if len(rows) > PAGE else "")
