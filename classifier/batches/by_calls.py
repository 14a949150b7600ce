"""History asked by calls: the batch queue's nudges, and the claims of its workers.

The live lane claims what is pending, this one what is not, so neither can take the other's job.
"""

from django.db import connection, transaction

from classifier.jobs import MAY_BE_ASKED, NUDGE_LOST_SECONDS, READY, REFUSED, Claimed, claim_by
from classifier.models import Job, PolicyVersion

# As `Batch.objects.at_work()`.
_AT_WORK = "batch.state = 'running'"


def choose_history(*, policy: PolicyVersion, at_most: int, nudged_too: bool) -> list[int]:
    """Up to `at_most` report ids whose jobs are due, the oldest jobs first; marked nudged."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _CHOOSE,
            {
                "version": policy.number,
                "most": Job.MAX_ATTEMPTS,
                "lost": NUDGE_LOST_SECONDS,
                "nudged_too": nudged_too,
                "at_most": at_most,
            },
        )
        return [report_id for _job_id, report_id in sorted(cursor.fetchall())]


# What of each batch is first through the partial index `job_to_do_of_batch`; past what others hold.
_CHOOSE = f"""
UPDATE classifier_job SET nudged_at = clock_timestamp()
WHERE id IN (
    SELECT due.id
    FROM classifier_batch AS batch CROSS JOIN LATERAL (
        SELECT job.id FROM classifier_job AS job
        WHERE job.batch_id = batch.id AND job.through = 'calls' AND {READY}
            AND (%(nudged_too)s OR job.nudged_at IS NULL
                OR job.nudged_at < clock_timestamp() - make_interval(secs => %(lost)s))
        ORDER BY job.id
        LIMIT %(at_most)s
        FOR UPDATE SKIP LOCKED
    ) AS due
    WHERE batch.policy_version_id = %(version)s AND {_AT_WORK}
    ORDER BY due.id
    LIMIT %(at_most)s
)
RETURNING id, report_id
"""  # noqa: S608 - our own constant


def claim_history(*, report_id: int, policy: PolicyVersion) -> Claimed | None:
    """Take the report's job of a batch at work, or None: held, ended, to wait, or none of a batch.

    A job whose report the model has refused since it was planned ends here, with that reason.
    """
    claimed = claim_by(_CLAIM, report_id=report_id, policy=policy)
    if claimed is None:
        with connection.cursor() as cursor:
            cursor.execute(
                _END_REFUSED,
                {"report": report_id, "version": policy.number, "most": Job.MAX_ATTEMPTS},
            )
    return claimed


_MINE = f"""
FROM reports_report AS report, classifier_batch AS batch
WHERE job.report_id = %(report)s AND job.policy_version_id = %(version)s
    AND job.through = 'calls' AND {READY}
    AND batch.id = job.batch_id AND {_AT_WORK}
    AND report.id = job.report_id AND report.status <> 'pending'
"""

_CLAIM = f"""
UPDATE classifier_job AS job SET attempts = job.attempts + 1, claims = job.claims + 1,
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
{_MINE} AND {MAY_BE_ASKED}
RETURNING job.id, job.claims, job.reason, job.batch_id
"""  # noqa: S608 - our own constant

_END_REFUSED = f"""
UPDATE classifier_job AS job SET parked = true, ended_at = clock_timestamp(), lease_until = NULL,
    reason = (SELECT min(rule) FROM unnest(ARRAY{REFUSED}) AS rule
        WHERE jsonb_exists(report.floor_rules, rule))
{_MINE} AND NOT ({MAY_BE_ASKED})
"""  # noqa: S608 - our own constant


def let_wait(*, report_id: int, policy: PolicyVersion) -> None:
    """The nudge is spent, nothing was asked: the sweep nudges again when the lane may go on."""
    Job.objects.filter(report=report_id, policy_version=policy, batch__isnull=False).update(
        nudged_at=None
    )
