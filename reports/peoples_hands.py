"""What people have a hand in, so that no verdict takes it from them.

Read by the tables' names, for intake does not import the reviewers' side. The caller holds the
items' locks, under which claims, holds and decisions are made.
"""

from collections.abc import Collection

from django.db import connection

LIKE_A_MISS = "like_a_miss"
"""The rule that raised the floor of what was sent back, for it is like something that was missed."""


def in_peoples_hands(report_ids: Collection[int]) -> set[int]:
    """Those that a decision names, that somebody sent back, and whose item somebody has in hand,
    made wait or brought back.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DECIDED_OR_IN_HANDS, [sorted(report_ids)])
        return {row[0] for row in cursor.fetchall()}


IN_PEOPLES_HANDS = f"""(
    EXISTS (SELECT FROM reviews_claim WHERE item_id = report.item_id
        AND released_at IS NULL AND expires_at > clock_timestamp())
    OR EXISTS (SELECT FROM reviews_hold WHERE item_id = report.item_id
        AND ended_at IS NULL AND (until IS NULL OR until > clock_timestamp()))
    OR EXISTS (SELECT FROM reports_return WHERE item_id = report.item_id AND ended_at IS NULL)
    OR report.floor_rules @> '["{LIKE_A_MISS}"]')
"""  # noqa: S608 - our own constant
"""SQL: whether somebody sent `report` back, or has its item in hand, made it wait or brought it back."""
_DECIDED_OR_IN_HANDS = f"""
SELECT id FROM reports_report AS report
WHERE id = ANY(%s) AND (
    EXISTS (SELECT FROM reviews_decidedreport WHERE report_id = report.id) OR {IN_PEOPLES_HANDS})
"""  # noqa: S608 - our own constant


def resolved_by_people(report_ids: Collection[int]) -> set[int]:
    """Those that a decision resolves which nobody took back."""
    if not report_ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_RESOLVED, [sorted(report_ids)])
        return {row[0] for row in cursor.fetchall()}


_RESOLVED = """
SELECT report_id FROM reviews_decidedreport
WHERE report_id = ANY(%s) AND is_resolved_by(decision_id)
"""


def held_for_people(report_ids: Collection[int]) -> set[int]:
    """Those that do not pass as safe: their item was escalated or waits for a second person, or they
    are what several people brought it back by.
    """
    if not report_ids:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_HELD, {"reports": sorted(report_ids)})
        return {row[0] for row in cursor.fetchall()}


_HELD = """
SELECT report.id FROM reviews_hold AS hold
JOIN reports_report AS report ON report.item_id = hold.item_id
WHERE report.id = ANY(%(reports)s) AND hold.ended_at IS NULL AND hold.kind <> 'put_aside'
UNION SELECT report_id FROM reports_return WHERE report_id = ANY(%(reports)s) AND ended_at IS NULL
"""
