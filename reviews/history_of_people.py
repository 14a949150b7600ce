"""Who decided what, and what was decided about an author's items: reads for reviewers only."""

import json
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.utils import timezone

from reports.models import Report
from reports.models.report import ReportQuerySet
from reviews.blind import in_hand_blind
from reviews.cards import cards_of
from reviews.models import Action, DecidedReport, Decision
from reviews.queue import LOOKED_THROUGH, PAGE, Card

COUNTED_WITHIN = timedelta(days=90)
REPORTS_OF_AN_AUTHOR = 1_000
"""The newest reports about one author that are looked at."""
# What a sentence about a decision needs.
_TOLD = ("reviewer", "item__sender", "action", "overrides__action")


@dataclass(frozen=True)
class DecisionsPage:
    decisions: list[Decision]
    after: str
    """The key of the next page; blank on the last one."""
    looked_through: int | None = None
    """The page is not full, yet there are older ones: only so many were looked through."""


@dataclass(frozen=True)
class Author:
    """What is known of who made an item, at its sender."""

    decided: list[tuple[Action, int]]
    """Actions, known by their names only, and how many decisions of the last `COUNTED_WITHIN`
    stand; most first."""
    open_reports: int
    more: bool
    """There are older reports about this author, which were not looked at."""


@dataclass(frozen=True)
class AuthorPage:
    author: Author
    open: list[Card]
    decisions: list[Decision]


def decisions_by(  # noqa: PLR0913 - what the form above them narrows them to
    *,
    reader: User,
    reviewer: str = "",
    action: str = "",
    category: str = "",
    within: timedelta | None = None,
    after: str = "",
) -> DecisionsPage:
    """A page of decisions, newest first; blank means anybody's, any. `ValueError` for an odd key.

    Without those about what the `reader` has in hand blind.
    """
    found = Decision.objects.order_by("-pk").select_related(*_TOLD)
    found = found.exclude(item__in=in_hand_blind(reader))
    if reviewer:
        # Asked apart: of a join the planner would walk back through everybody's.
        whose = User.objects.filter(username=reviewer).values_list("pk", flat=True).first()
        found = found.filter(reviewer=whose) if whose else found.none()
    if after:
        beyond = int(after)
        if not 0 < beyond < 2**63:
            raise ValueError(after)
        found = found.filter(pk__lt=beyond)
    last = None
    if action or category or within:
        last = found[LOOKED_THROUGH - 1 : LOOKED_THROUGH].values_list("pk", "created_at").first()
        found = found.filter(pk__gte=last[0] if last else 0)
    if action:
        found = found.filter(action=action)
    if category:
        found = found.filter(category=category)
    if within:
        found = found.filter(created_at__gte=Now() - within)
    rows = list(found[: PAGE + 1])
    if len(rows) > PAGE:
        return DecisionsPage(rows[:PAGE], str(rows[PAGE - 1].pk))
    if last is None or (within and last[1] < timezone.now() - within):
        return DecisionsPage(rows, "")
    return DecisionsPage(rows, str(last[0]), looked_through=LOOKED_THROUGH)


def read_author(report: Report) -> Author | None:
    """Of the author of what was reported; None where the sender named none. One statement."""
    if not report.author_pseudonym:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            _AUTHOR,
            {
                "sender": report.sender_id,
                "author": report.author_pseudonym,
                "most": REPORTS_OF_AN_AUTHOR,
                "seconds": COUNTED_WITHIN.total_seconds(),
            },
        )
        names, counts, open_reports, looked_at = cursor.fetchone()
    actions = [Action(names=json.loads(each)) for each in names or []]
    decided = list(zip(actions, counts or [], strict=True))
    return Author(decided, open_reports, looked_at > REPORTS_OF_AN_AUTHOR)


def read_author_page(report: Report, *, reader: User) -> AuthorPage | None:
    """The same with the newest open reports, one an item, and the newest decisions.

    Both without what the reader has in hand blind.
    """
    author = read_author(report)
    if author is None:
        return None
    theirs, blind = _reports_of(report), in_hand_blind(reader)
    newest = theirs.values("pk").order_by("-pk")[:REPORTS_OF_AN_AUTHOR]
    waiting = theirs.filter(pk__in=newest, status__in=["pending", "needs_review"])
    waiting = waiting.exclude(item__in=blind)
    first = waiting.order_by("item", "-pk").distinct("item").values("pk")
    cards = cards_of(Report.objects.filter(pk__in=first).order_by("-pk")[:PAGE])
    about = DecidedReport.objects.filter(report__in=newest).values("decision")
    decisions = Decision.objects.filter(pk__in=about).exclude(item__in=blind).order_by("-pk")
    return AuthorPage(author, cards, list(decisions.select_related(*_TOLD)[:PAGE]))


def _reports_of(report: Report) -> ReportQuerySet:
    mine = Report.objects.filter(author_pseudonym=report.author_pseudonym, sender=report.sender_id)
    return mine.exclude(author_pseudonym="")


_AUTHOR = """
WITH newest AS MATERIALIZED (
    SELECT id, status FROM reports_report
    WHERE author_pseudonym = %(author)s AND author_pseudonym <> '' AND sender_id = %(sender)s
    ORDER BY id DESC LIMIT %(most)s + 1
), decided AS (
    SELECT decision.action, action.names, count(*) AS decisions
    FROM reviews_decision AS decision JOIN reviews_action AS action ON action.slug = decision.action
    WHERE decision.kind = 'decision' AND decision.id IN (
            SELECT decision_id FROM reviews_decidedreport JOIN newest ON newest.id = report_id
        )
        AND decision.created_at > clock_timestamp() - make_interval(secs => %(seconds)s)
        AND NOT EXISTS (
            SELECT FROM reviews_decision AS later WHERE later.overrides_id = decision.id
        )
    GROUP BY decision.action, action.names
)
SELECT
    (SELECT array_agg(names::text ORDER BY decisions DESC, action) FROM decided),
    (SELECT array_agg(decisions ORDER BY decisions DESC, action) FROM decided),
    (SELECT count(*) FROM newest WHERE status IN ('pending', 'needs_review')),
    (SELECT count(*) FROM newest)
"""
