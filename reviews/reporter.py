"""What is known of one reporter, by the pseudonym alone: reads for reviewers only."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from reports.models import Invalidation, Report
from reports.reliability import Reliability, counts_of
from reviews.blind import in_hand_blind
from reviews.cards import cards_of
from reviews.queue import PAGE, Card

REPORTS_OF_A_REPORTER = 1_000
"""The newest reports by one reporter that are looked at."""
SHOWN_INVALIDATIONS = 20


@dataclass(frozen=True)
class ReporterPage:
    reliability: Reliability
    counts: list[tuple[str, int]]
    """Statuses in words, and how many of the newest reports stand so."""
    invalidated: int
    more: bool
    """There are older reports by this reporter, which were not looked at."""
    cards: list[Card]
    """The newest reports, one an item."""
    invalidations: list[Invalidation]


def read_reporter_page(report: Report, *, reader: User) -> ReporterPage | None:
    """Of who sent this report; None where the sender named nobody.

    The cards leave out what the reader has in hand blind.
    """
    if not report.reporter_pseudonym:
        return None
    sender, reporter = report.sender_id, report.reporter_pseudonym
    with connection.cursor() as cursor:
        cursor.execute(
            _REPORTER, {"sender": sender, "reporter": reporter, "most": REPORTS_OF_A_REPORTER}
        )
        decided, upheld, is_invalidated, looked_at, invalidated, *counts = cursor.fetchone()
    theirs = Report.objects.filter(sender=sender, reporter_pseudonym=reporter)
    newest = theirs.exclude(reporter_pseudonym="").order_by("-pk")[:REPORTS_OF_A_REPORTER]
    of_items = Report.objects.filter(pk__in=newest.values("pk"))
    of_items = of_items.exclude(item__in=in_hand_blind(reader))
    first = of_items.order_by("item", "-pk").distinct("item").values("pk")
    invalidations = Invalidation.objects.filter(sender=sender, pseudonym=reporter)
    return ReporterPage(
        Reliability(decided, upheld, is_invalidated),
        list(zip((str(each.label) for each in Report.Status), counts, strict=True)),
        invalidated,
        looked_at > REPORTS_OF_A_REPORTER,
        cards_of(Report.objects.filter(pk__in=first).order_by("-pk")[:PAGE]),
        list(invalidations.order_by("-pk")[:SHOWN_INVALIDATIONS]),
    )


def reliability_sentence(known: Reliability) -> str:
    """The share upheld with its interval, and what an invalidation makes of them."""
    sentences = []
    if known.invalidated:
        sentences.append(
            gettext("Reports of theirs were invalidated: they count like an unreliable reporter.")
        )
    if known.share is not None:
        sentences.append(_share_sentence(known, known.share))
    return " ".join(sentences) or gettext("No person has decided about a report of theirs yet.")


def _share_sentence(known: Reliability, share: float) -> str:
    said = ngettext(
        "People upheld %(upheld)s of %(decided)s newest report that they decided: %(share)s, between"
        " %(low)s and %(high)s with 95%% confidence.",
        "People upheld %(upheld)s of %(decided)s newest reports that they decided: %(share)s, between"
        " %(low)s and %(high)s with 95%% confidence.",
        known.decided,
    )
    low, high = known.interval
    shares = {"share": _percent(share), "low": _percent(low), "high": _percent(high)}
    return said % {"upheld": known.upheld, "decided": known.decided, **shares}


def _percent(share: float) -> str:
    return gettext("%(number)s%%") % {"number": number_format(round(100 * share))}


_COUNTS = ", ".join(f"count(*) FILTER (WHERE status = '{each}')" for each in Report.Status.values)
_REPORTER = f"""
WITH newest AS MATERIALIZED (
    SELECT status, invalidated_at FROM reports_report
    WHERE reporter_pseudonym = %(reporter)s AND reporter_pseudonym <> '' AND sender_id = %(sender)s
    ORDER BY id DESC LIMIT %(most)s + 1
), counted AS (
    SELECT count(*) AS looked_at, count(invalidated_at) AS invalidated, {_COUNTS} FROM newest
)
SELECT decided, upheld, found.invalidated, counted.* FROM ({counts_of("%(reporter)s")}) AS found, counted
"""  # noqa: S608 - our own constants
