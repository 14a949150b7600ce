"""Whether the live lane needs all there is: then history waits."""

from django.conf import settings
from django.db import connection

from classifier.jobs import DUE, MAY_BE_ASKED
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


# Among pending reports only, by their partial index.
_WAITS = f"""
SELECT EXISTS (
    SELECT FROM classifier_policyversion AS policy
    JOIN reports_report AS report ON report.status = 'pending'
    LEFT JOIN classifier_job AS job
        ON job.report_id = report.id AND job.policy_version_id = policy.number
    WHERE policy.state = 'active' AND {MAY_BE_ASKED} AND ({DUE})
        AND greatest(report.received_at, job.not_before)
            < clock_timestamp() - make_interval(secs => %(target)s)
        AND NOT EXISTS (
            SELECT FROM classifier_providermodel AS model
            WHERE model.base_url = %(provider)s AND model.name = policy.model
                AND model.rests_until IS NOT NULL)
)
"""  # noqa: S608 - our own constant
