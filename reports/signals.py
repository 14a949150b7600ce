"""What the database knows about who reports what: signals for triage, read as a report comes in."""
# ruff: noqa: S608 - the statement is put together from our own constants

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection

from reports.fingerprint import author_pseudonym
from reports.models.sender import Sender
from reports.reliability import IS_RELIABLE, IS_UNRELIABLE, counts_of
from reports.submission import Submission

# So many different people about one item within this time are no accident.
REPORTERS = 3
REPORTERS_WITHIN = timedelta(hours=1)
# A violation of a year ago says little about today.
UPHELD_WITHIN = timedelta(days=90)
LOOKED_UP = 50
"""So many other reporters at most, the newest: a crowd of unreliable ones does not hold up intake."""


@dataclass(frozen=True)
class Signals:
    """About one arriving report, itself included."""

    several_reporters: bool = False
    trusted_flagger: bool = False
    item_upheld: bool = False
    author_upheld: bool = False
    reliable_reporter: bool = False


def read_signals(
    *, sender: Sender, item_id: int, reporter: str, author: str, reason: str
) -> Signals:
    """Called with the item locked, so that reports that come together count one another.

    `reporter` and `author` are pseudonyms, "" where none was given. Five look-ups, and one of each of
    at most `LOOKED_UP` other reporters of the item. What was invalidated says nothing.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _SIGNALS,
            {
                "sender": sender.pk,
                "item": item_id,
                "reporter": reporter,
                "author": author,
                "reason": reason,
                "reporters": REPORTERS,
                "looked_up": LOOKED_UP,
                "reporters_within": REPORTERS_WITHIN.total_seconds(),
                "upheld_within": UPHELD_WITHIN.total_seconds(),
                # A floor never sinks: it rises by nothing that can still be taken back.
                "undo": settings.UNDO_SECONDS,
            },
        )
        return Signals(*cursor.fetchone())


def author_of(submission: Submission, *, sender: Sender) -> str:
    """The pseudonym of who made the item: named as such, or the one who wrote what was reported."""
    author_id = submission.item.author_id
    if author_id is None:
        writers = {message.author_id for message in submission.reported_messages()}
        author_id = writers.pop() if len(writers) == 1 else None
    return author_pseudonym(sender_id=sender.pk, author_id=author_id) if author_id else ""


# Who reports in vain nearly always is nobody among several. Others are looked up only while they
# are still wanted.
_SIGNALS = f"""
WITH itself AS MATERIALIZED (
    SELECT {IS_RELIABLE} AS reliable, {IS_UNRELIABLE} AS unreliable
    FROM ({counts_of("%(reporter)s")}) AS counts
)
SELECT
    %(reporter)s <> '' AND (SELECT (NOT unreliable)::int FROM itself) + (
        SELECT count(*) FROM (
            SELECT FROM (
                SELECT reporter_pseudonym AS name FROM reports_report
                WHERE item_id = %(item)s AND reporter_pseudonym NOT IN ('', %(reporter)s)
                    AND received_at > clock_timestamp() - make_interval(secs => %(reporters_within)s)
                    AND invalidated_at IS NULL
                GROUP BY reporter_pseudonym ORDER BY max(id) DESC LIMIT %(looked_up)s
            ) AS other
            CROSS JOIN LATERAL ({counts_of("other.name")}) AS counts
            WHERE NOT {IS_UNRELIABLE}
            LIMIT %(reporters)s
        ) AS credible
    ) >= %(reporters)s,
    %(reporter)s <> '' AND EXISTS (
        SELECT FROM reports_trustedflagger
        WHERE sender_id = %(sender)s AND pseudonym = %(reporter)s AND ended_at IS NULL
            AND (reasons = '[]' OR reasons ? %(reason)s)
    ),
    EXISTS (
        SELECT FROM reports_report
        WHERE item_id = %(item)s AND invalidated_at IS NULL
            AND upheld_at > clock_timestamp() - make_interval(secs => %(upheld_within)s)
            AND upheld_at <= clock_timestamp() - make_interval(secs => %(undo)s)
    ),
    %(author)s <> '' AND EXISTS (
        SELECT FROM reports_report
        WHERE sender_id = %(sender)s AND author_pseudonym = %(author)s AND invalidated_at IS NULL
            AND upheld_at > clock_timestamp() - make_interval(secs => %(upheld_within)s)
            AND upheld_at <= clock_timestamp() - make_interval(secs => %(undo)s)
    ),
    (SELECT reliable FROM itself)
"""
