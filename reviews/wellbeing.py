"""What stands above every page: the lists' counts, how this person works, how much they have seen."""

from dataclasses import dataclass, fields
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from reports.counting import COUNTED_AT_MOST
from reports.models import Report, Severity
from reviews.blind import LEFT_OUT
from reviews.claims import HOLDS
from reviews.models import Preferences
from reviews.preferences import preferences_of
from reviews.queue import COUNTS, Counts
from reviews.standing import is_overridden
from reviews.veil import IS_REVEALED

SEVERE = Severity.HIGH


@dataclass(frozen=True)
class Desk:
    """One person's desk. Severe items are counted once each, by when they came into their hands."""

    preferences: Preferences
    counts: Counts
    severe_today: int
    """Since midnight UTC."""
    severe_since_pause: int
    """Of those, since the last pause, or since the person last chose to go on without one."""
    has_revealed: bool
    """Whether they have lifted the veil of the item that was asked about."""
    to_settle: int
    """Second reviews that wait for a lead, as `reviews.quality.calibration` lists them; bounded."""
    has_blind: bool
    """Whether starting may lead to something blind, in hand or let go of, which no list shows them."""

    def veils(self, report: Report) -> bool:
        """Whether this person wants its text hidden until they ask: so severe, or opted out of.

        The item's severity counts as well: its page hides the texts of all its reports.
        """
        least, verdict = self.preferences.veil_from, report.current_classification()
        severe = least is not None and max(report.rank, report.item.rank) >= least
        return severe or (verdict is not None and verdict.category in self.preferences.opted_out)

    @property
    def veils_blindly(self) -> bool:
        """Whether what they have blind is veiled: as soon as anything is, for a veil tells as well."""
        return self.preferences.veil_from is not None or bool(self.preferences.opted_out)

    @property
    def proposes_pause(self) -> bool:
        return self.severe_since_pause >= self.preferences.pause_after


def read_desk(user: User, *, item_id: int | None = None) -> Desk:
    """In one statement; `item_id` where the page is about one item."""
    preferences = preferences_of(user)
    asked: dict[str, Any] = {
        "most": COUNTED_AT_MOST + 1,
        "user": user.pk,
        "item": item_id,
        "paused": preferences.paused_at,
        "severe": SEVERE,
        "holds": HOLDS.total_seconds(),
        "undo": settings.UNDO_SECONDS,
        "left_out": LEFT_OUT.total_seconds(),
    }
    with connection.cursor() as cursor:
        cursor.execute(_DESK, asked)
        row = cursor.fetchone()
    lists = len(fields(Counts))
    return Desk(preferences, Counts(*row[:lists]), *row[lists:])


# Of the claims, from this person's newest alone, by their index. What one has blind, or had, is not
# counted before one's answer to it is taken back no more: the count would tell that it is severe.
_DESK = f"""
SELECT {COUNTS},
    count(DISTINCT item.id),
    count(DISTINCT item.id) FILTER (
        WHERE claim.claimed_at > coalesce(%(paused)s::timestamptz, '-infinity')),
    {IS_REVEALED},
    (SELECT count(*) FROM (SELECT FROM reviews_doublereview AS second
        JOIN reviews_decision AS first ON first.id = second.decision_id
        WHERE NOT second.agrees AND second.settled_at IS NULL
            AND second.answered_at <= statement_timestamp() - make_interval(secs => %(undo)s)
            AND NOT {is_overridden("first")}
        LIMIT %(most)s) AS differing),
    EXISTS (SELECT FROM reviews_claim AS blind JOIN reports_item AS item ON item.id = blind.item_id
        WHERE blind.reviewer_id = %(user)s AND blind.blind
            AND blind.claimed_at > statement_timestamp() - make_interval(secs => %(left_out)s)
            AND (item.list = 'needs_review' AND NOT EXISTS (SELECT FROM reviews_decision AS later
                    WHERE later.item_id = item.id AND later.created_at > blind.claimed_at)
                OR blind.released_at IS NULL AND blind.expires_at > clock_timestamp()))
FROM reviews_claim AS claim JOIN reports_item AS item ON item.id = claim.item_id
WHERE claim.reviewer_id = %(user)s AND item.rank >= %(severe)s
    AND (NOT claim.blind
        OR EXISTS (SELECT FROM reviews_decision AS own
            WHERE own.item_id = item.id AND own.reviewer_id = %(user)s AND own.kind <> 'undo'
                AND own.created_at > claim.claimed_at
                AND own.created_at <= statement_timestamp() - make_interval(secs => %(undo)s)
                AND NOT EXISTS (SELECT FROM reviews_decision AS undo
                    WHERE undo.overrides_id = own.id AND undo.kind = 'undo'))
        OR EXISTS (SELECT FROM reviews_doublereview AS own
            WHERE own.id = claim.double_review_id AND own.reviewer_id = %(user)s
                AND own.answered_at <= statement_timestamp() - make_interval(secs => %(undo)s)))
    AND claim.claimed_at >= date_trunc('day', statement_timestamp(), 'UTC')
"""  # noqa: S608 - put together from our own text alone
