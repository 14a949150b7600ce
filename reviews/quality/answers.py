"""What people answered to blind audits: read from their decisions, and kept beside the audit."""

from collections.abc import Collection

from django.db import connection

ANSWER = """(
    SELECT CASE WHEN action.outcome IN ('clears', 'upholds') THEN decision.id END
    FROM reviews_decidedreport AS decided
    JOIN reviews_decision AS decision ON decision.id = decided.decision_id
    JOIN reviews_action AS action ON action.slug = decision.action
    WHERE decided.report_id = audit.report_id
        AND decision.kind = 'decision'
        AND NOT EXISTS (SELECT FROM reviews_decision AS undo
            WHERE undo.overrides_id = decision.id AND undo.kind = 'undo')
    ORDER BY decision.id DESC LIMIT 1)"""
"""Of an `audit`: the newest decision about its report that nobody took back, if it resolves.

As long as somebody only sent the report on, or back to review, there is no answer.
"""

GIVEN_BLIND = """coalesce((
    SELECT claim.blind AND NOT EXISTS (SELECT FROM reviews_decision AS earlier
        WHERE earlier.item_id = decision.item_id AND earlier.id < decision.id
            AND earlier.created_at > claim.claimed_at)
    FROM reviews_claim AS claim
    WHERE claim.item_id = decision.item_id AND claim.reviewer_id = decision.reviewer_id
        AND claim.claimed_at <= decision.created_at
    ORDER BY claim.id DESC LIMIT 1), false)"""
"""Of a `decision`: whether who made it had the item blind then, by their newest claim on it.

Once somebody has decided, the page shows all, and so that was not blind.
"""


def refresh_answers(report_ids: Collection[int]) -> None:
    """Write what the decisions about these reports say now; the caller holds their locks."""
    with connection.cursor() as cursor:
        cursor.execute(_REFRESH, [sorted(report_ids)])


_REFRESH = f"""
UPDATE reviews_blindaudit AS audit SET decision_id = {ANSWER}
WHERE audit.report_id = ANY(%s) AND audit.decision_id IS DISTINCT FROM {ANSWER}
"""  # noqa: S608 - our own constant
