"""Whether the live lane needs all there is: then history waits."""

from django.conf import settings
from django.db import connection

from classifier.jobs import MAY_BE_ASKED, READY
from classifier.models import Job


def live_lane_waits() -> bool:
    """A pending report that could be asked has been due for longer than `LIVE_TARGET_SECONDS`.

    One that is held or parked, or that waits for a time or for its model's rest, does not count:
    it is no sooner asked where history waits.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _WAITS,
            {
                "most": Job.MAX_ATTEMPTS,
                "provider": settings.OPENAI_BASE_URL,
                "target": settings.LIVE_TARGET_SECONDS,
            },
        )
        return bool(cursor.fetchone()[0])


# Each sender's through the partial index `report_waiting_by_sender`, in its order and up to the first:
# else a planner that hopes to find one soon may read all of history where every arrival is parked.
_WAITS = f"""
SELECT EXISTS (
    SELECT FROM classifier_policyversion AS policy CROSS JOIN reports_sender AS sender
    CROSS JOIN LATERAL (
        SELECT FROM reports_report AS report
        WHERE sender_id = sender.id AND status = 'pending' AND {MAY_BE_ASKED}
            AND received_at < clock_timestamp() - make_interval(secs => %(target)s)
            AND coalesce((
                SELECT {READY} AND (job.not_before IS NULL
                    OR job.not_before < clock_timestamp() - make_interval(secs => %(target)s))
                FROM classifier_job AS job
                WHERE report_id = report.id AND policy_version_id = policy.number), true)
        ORDER BY floor DESC, received_at, id
        LIMIT 1
    ) AS waits
    WHERE policy.state = 'active' AND NOT EXISTS (
        SELECT FROM classifier_providermodel AS model
        WHERE model.base_url = %(provider)s AND model.name = policy.model
            AND model.rests_until IS NOT NULL)
)
"""  # noqa: S608 - our own constant
