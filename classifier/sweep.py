"""The sweep finds what no nudge will bring: the backlog in PostgreSQL tops up a short queue in Redis.

Its own process, not a task on the queue that it fills. Several may run; one works at a time.
"""

import logging
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.models.functions import Now

from classifier.batches.by_calls import choose_history
from classifier.batches.pressure import live_lane_waits
from classifier.cooldown import nudges_allowed
from classifier.jobs import DUE, MAY_BE_ASKED, NUDGE_LOST_SECONDS, park_dead
from classifier.models import Heartbeat, Job, PolicyVersion
from reports.failpoints import Point, hit
from reports.nudge import Lane, publish, queue_bound, queue_length

log = logging.getLogger(__name__)

# A fresh report is left to its own nudge for this long.
GRACE_SECONDS = 10.0
_LOCK = "sweep"


@dataclass(frozen=True)
class Swept:
    """One tick: nudges put out, jobs parked, and whether this process had its turn."""

    nudged: int = 0
    parked: int = 0
    had_turn: bool = True


def sweep_once() -> Swept:
    """One tick: park what has no attempts left, then top up each queue to its bound."""
    if not _take_turn():
        return Swept(had_turn=False)
    try:
        parked = park_dead()
        nudged = _top_up(Lane.LIVE)
        nudged += _top_up(Lane.BATCH)
        Heartbeat.objects.update_or_create(name=Heartbeat.SWEEP, defaults={"at": Now()})
    finally:
        _end_turn()
    return Swept(nudged=nudged, parked=parked)


def _top_up(lane: Lane) -> int:
    policy = PolicyVersion.objects.active()
    if policy is None or (lane is Lane.BATCH and live_lane_waits()):
        return 0
    try:
        waiting = queue_length(lane)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
        log.warning("the broker does not answer (%s); reports wait", type(error).__name__)
        return 0
    room = queue_bound(lane) - waiting
    # While the model is left alone nobody needs a nudge; afterwards one report finds out.
    allowed = nudges_allowed(policy)
    if allowed is not None:
        room = min(room, allowed - waiting)
    if room <= 0:
        return 0
    # Nothing in the queue: whatever was nudged before is spent or was lost with the broker.
    if lane is Lane.LIVE:
        chosen = choose(policy=policy, lane=lane, at_most=room, nudged_too=waiting == 0)
    else:
        chosen = choose_history(policy=policy, at_most=room, nudged_too=waiting == 0)
    hit(Point.SWEEP_AFTER_CHOOSE)
    for count, report_id in enumerate(chosen):
        try:
            publish(report_id=report_id, lane=lane)
        except Exception as error:  # noqa: BLE001
            log.warning("the broker failed after %d nudges (%s)", count, type(error).__name__)
            return count
    hit(Point.SWEEP_AFTER_PUBLISH)
    return len(chosen)


def choose(*, policy: PolicyVersion, lane: Lane, at_most: int, nudged_too: bool) -> list[int]:
    """Up to `at_most` report ids that are due, highest floor first, senders in turn; marked nudged."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            _CHOOSE,
            {
                "version": policy.number,
                "most": Job.MAX_ATTEMPTS,
                "grace": GRACE_SECONDS,
                "lost": NUDGE_LOST_SECONDS,
                "nudged_too": nudged_too,
                "at_most": at_most,
            },
        )
        chosen = [row[0] for row in cursor.fetchall()]
        if chosen:
            # In one order with a replay beside it: two that lock the same jobs crosswise would stop.
            cursor.execute(
                _MARK,
                {"reports": sorted(chosen), "version": policy.number, "lane": lane.value},
            )
    return chosen


# Each sender's best through the partial index `report_waiting_by_sender`, then one of each in turn.
_CHOOSE = f"""
SELECT best.id
FROM reports_sender AS sender CROSS JOIN LATERAL (
    SELECT id, floor, received_at,
        row_number() OVER (PARTITION BY floor ORDER BY received_at, id) AS turn
    FROM (
        SELECT report.id, report.floor, report.received_at
        FROM reports_report AS report LEFT JOIN classifier_job AS job
            ON job.report_id = report.id AND job.policy_version_id = %(version)s
        WHERE report.sender_id = sender.id AND report.status = 'pending' AND {MAY_BE_ASKED}
            AND ({DUE})
            AND (%(nudged_too)s OR CASE WHEN job.id IS NULL
                THEN report.received_at < clock_timestamp() - make_interval(secs => %(grace)s)
                ELSE job.nudged_at IS NULL
                    OR job.nudged_at < clock_timestamp() - make_interval(secs => %(lost)s)
                END)
        ORDER BY report.floor DESC, report.received_at, report.id
        LIMIT %(at_most)s
    ) AS due
) AS best
ORDER BY best.floor DESC, best.turn, best.received_at, best.id
LIMIT %(at_most)s
"""  # noqa: S608 - our own constant

_MARK = """
INSERT INTO classifier_job AS job
    (report_id, policy_version_id, lane, attempts, claims, faults, reason, parked, done, nudged_at)
SELECT unnest(%(reports)s::bigint[]), %(version)s, %(lane)s, 0, 0, 0, '', false, false,
    clock_timestamp()
ON CONFLICT ON CONSTRAINT one_job_per_report_and_version DO UPDATE
SET nudged_at = excluded.nudged_at
"""


def _take_turn() -> bool:
    # A session lock: it outlives the transactions of a tick and dies with the connection.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [_LOCK])
        return bool(cursor.fetchone()[0])


def _end_turn() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", [_LOCK])
