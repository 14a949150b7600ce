"""How often people found what a reporter reported: a share with its interval, and a band of it."""
# ruff: noqa: S608 - the statements are put together from our own constants

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from django.db import connection, models
from django.utils.translation import gettext_lazy as _

from reports.wilson import Z95, Interval, wilson

DECIDED = 100
"""So many of the newest reports that a person decided say how reliable their reporter is."""
LOOKED_AT = 500
"""Of so many of the newest reports at all, so that the look-up stays bounded."""
FEWEST = 5
ABOVE, BELOW = 0.5, 0.2


class Band(models.TextChoices):
    """What is said of a reporter instead of a number that looks more exact than it is."""

    NEW = "new", _("new reporter")
    MIXED = "mixed", _("mixed reporter")
    RELIABLE = "reliable", _("reliable reporter")
    UNRELIABLE = "unreliable", _("unreliable reporter")
    INVALIDATED = "invalidated", _("reporter invalidated before")


@dataclass(frozen=True)
class Reliability:
    """`upheld` of the `decided` reports: those in which a person found a violation.

    `invalidated`: an invalidation of theirs stands, however much of the rest was upheld.
    """

    decided: int = 0
    upheld: int = 0
    invalidated: bool = False

    @cached_property
    def interval(self) -> Interval:
        """Where the share upheld lies, at 95 %."""
        return wilson(found=self.upheld, of=self.decided)

    @property
    def share(self) -> float | None:
        return self.upheld / self.decided if self.decided else None

    @property
    def band(self) -> Band:
        if self.invalidated:
            return Band.INVALIDATED
        if self.decided < FEWEST:
            return Band.NEW
        if self.interval.low > ABOVE:
            return Band.RELIABLE
        return Band.UNRELIABLE if self.interval.high < BELOW else Band.MIXED

    @property
    def is_unreliable(self) -> bool:
        """Seldom right, or in bad faith once: such a one is nobody among several."""
        return self.band in {Band.UNRELIABLE, Band.INVALIDATED}


def read_reliability(*, sender_id: int, pseudonyms: Collection[str]) -> dict[str, Reliability]:
    """Of each of these reporters of one sender, in one statement; "" stands for nobody."""
    wanted = sorted(set(pseudonyms) - {""})
    if not wanted:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_OF_MANY, {"sender": sender_id, "wanted": wanted})
        return {name: Reliability(*counts) for name, *counts in cursor.fetchall()}


def counts_of(reporter: str, *, sender: str = "%(sender)s") -> str:
    """SQL: `decided`, `upheld` and `invalidated` of the reporter that the expression names, at the
    sender with that id.

    A decision that may still be taken back counts for nothing yet,
    nor does what was invalidated. What is resolved without being upheld was cleared, by whatever
    decision: the rows of decisions are asked for their time alone.
    """
    return f"""
    SELECT count(*) AS decided, count(upheld_at) AS upheld, EXISTS (
        SELECT FROM reports_invalidation
        WHERE pseudonym = {reporter} AND sender_id = {sender} AND revoked_at IS NULL
    ) AS invalidated FROM (
        SELECT upheld_at FROM (
            SELECT mine.id, mine.status, mine.upheld_at, mine.invalidated_at
            FROM reports_report AS mine
            WHERE mine.reporter_pseudonym = {reporter} AND mine.reporter_pseudonym <> ''
                AND mine.sender_id = {sender}
            ORDER BY mine.id DESC LIMIT {LOOKED_AT}
        ) AS theirs
        WHERE (status = 'resolved' OR upheld_at IS NOT NULL) AND invalidated_at IS NULL
            AND NOT EXISTS (
                SELECT FROM reviews_decidedreport AS named
                JOIN reviews_decision AS decision ON decision.id = named.decision_id
                WHERE named.report_id = theirs.id AND decision.effective_at > clock_timestamp())
        ORDER BY id DESC LIMIT {DECIDED}
    ) AS counted"""


# The bounds of Wilson's interval lie beyond a share where the score test refuses that share.
_FAR = f"decided >= {FEWEST} AND (upheld - {{0}} * decided)^2 > {Z95**2} * {{0}} * (1 - {{0}}) * decided"
IS_RELIABLE = f"(NOT invalidated AND upheld > {ABOVE} * decided AND {_FAR.format(ABOVE)})"
IS_UNRELIABLE = f"(invalidated OR upheld < {BELOW} * decided AND {_FAR.format(BELOW)})"
"""SQL conditions of what `counts_of` finds; the same as `Reliability.band` and `is_unreliable` say."""

_OF_ROW = counts_of("reports_report.reporter_pseudonym", sender="reports_report.sender_id")
OF_REPORT = f"(SELECT ARRAY[decided, upheld, invalidated::int] FROM ({_OF_ROW}) AS found)"
"""SQL, for a statement over `reports_report`: what `Reliability` takes, of each report's reporter."""

_OF_MANY = f"""
SELECT wanted.name, decided, upheld, invalidated FROM unnest(%(wanted)s::text[]) AS wanted (name)
CROSS JOIN LATERAL ({counts_of("wanted.name")}) AS found
"""
