"""Jobs: claim one, put one off. Times are the database's clock; a process's clock decides nothing."""

import random
import time
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from classifier.cooldown import LONGEST_REST_SECONDS, RESTS_AT_ONCE
from classifier.disagreements import note_refusal
from classifier.models import Job, PolicyVersion, WaitingReason
from reports import lifecycle
from reports.nudge import Lane

# Growing waits after a provider's fault; the longest is short enough that an outage's end is noticed.
FIRST_WAIT_SECONDS = 5.0
LONGEST_WAIT_SECONDS = 300.0
# A nudge that brought nothing for this long counts as lost.
NUDGE_LOST_SECONDS = 60.0
# Of a batch's job: what met so many faults of its own in a row ends, so that the batch can.
MOST_FAULTS_IN_A_BATCH = 10
# A claim that took longer than this has waited for a lock.
WAITED_SECONDS = 0.2

# Waiting cannot help these: the provider judged the content, or cannot read it. A person has to look.
PARKED_AT_ONCE = frozenset(
    {WaitingReason.MODEL_REFUSED, WaitingReason.CONTENT_FILTERED, WaitingReason.TOO_LONG}
)
# These say something about the content: the report rises to people's eyes, once.
RAISES_FLOOR = frozenset({WaitingReason.MODEL_REFUSED, WaitingReason.CONTENT_FILTERED})
# These spend an attempt. All others are the provider's faults and cost none.
SPENDS_ATTEMPT = PARKED_AT_ONCE | {
    WaitingReason.ANSWER_INVALID,
    WaitingReason.ANSWER_MISPLACED,
    WaitingReason.ANSWER_CUT,
    WaitingReason.INPUT_TRUNCATED,
    WaitingReason.INTERNAL_ERROR,
}


@dataclass(frozen=True)
class Claimed:
    """A job in this worker's hands. `number` fences it: a later claim has a higher one."""

    job_id: int
    report_id: int
    policy: PolicyVersion
    number: int
    reason: str
    """Why the last try brought nothing; blank for the first one."""
    expires: float
    """`time.monotonic()` when the lease ends, counted from before it began."""
    batch_id: int | None = None


def claim_job(*, report_id: int, policy: PolicyVersion, lane: Lane) -> Claimed | None:
    """Take a pending report's job in one statement, or None: held, ended, to wait, or not pending.

    The statement inserts the job or takes over one whose lease has run out.
    """
    return claim_by(_CLAIM, report_id=report_id, policy=policy, lane=lane)


def claim_by(
    statement: str, *, report_id: int, policy: PolicyVersion, **parameters: Any
) -> Claimed | None:
    """Claim by a statement that returns the job's id, claims, reason and batch, or no row."""
    began = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(
            statement,
            {
                "report": report_id,
                "version": policy.number,
                "lease": settings.LEASE_SECONDS,
                "most": Job.MAX_ATTEMPTS,
                **parameters,
            },
        )
        row = cursor.fetchone()
        if row is not None and time.monotonic() - began > WAITED_SECONDS:
            # The statement waited for somebody's row lock, and its lease ran on meanwhile.
            began = time.monotonic()
            cursor.execute(_EXTEND, [settings.LEASE_SECONDS, *row[:2]])
            row = cursor.fetchone()
    if row is None:
        return None
    expires = began + settings.LEASE_SECONDS
    return Claimed(
        job_id=row[0],
        report_id=report_id,
        policy=policy,
        number=row[1],
        reason=row[2],
        expires=expires,
        batch_id=row[3],
    )


def claim_more_urgent(*, than: int, policy: PolicyVersion, lane: Lane) -> Claimed | None:
    """Take a due job whose report has a higher severity floor than the one that a nudge names.

    The queue is first in, first out, and a threat may lie behind a thousand nudges: so the order is
    the database's. None where nothing is more urgent, which is nearly always.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _MORE_URGENT, {"than": than, "version": policy.number, "most": Job.MAX_ATTEMPTS}
        )
        candidates = [row[0] for row in cursor.fetchall()]
    for report_id in candidates:  # another worker may be quicker with the first ones
        claimed = claim_job(report_id=report_id, policy=policy, lane=lane)
        if claimed is not None:
            return claimed
    return None


# The provider or the model would not judge the content: no one is asked about it again, by no worker,
# under no other policy version and at no other provider.
REFUSED = sorted(reason.value for reason in RAISES_FLOOR)
MAY_BE_ASKED = f"NOT report.floor_rules ?| ARRAY{REFUSED}"

# What makes a job claimable.
READY = """NOT job.done AND NOT job.parked AND job.attempts < %(most)s
    AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
    AND (job.not_before IS NULL OR job.not_before <= clock_timestamp())
"""
# What makes a pending report's job claimable; `job` is an outer join.
DUE = f"job.id IS NULL OR {READY}"

_MORE_URGENT = f"""
SELECT report.id
FROM reports_report AS report LEFT JOIN classifier_job AS job
    ON job.report_id = report.id AND job.policy_version_id = %(version)s
WHERE report.status = 'pending' AND {MAY_BE_ASKED} AND ({DUE})
    AND report.rank > (SELECT rank FROM reports_report WHERE id = %(than)s)
ORDER BY report.rank DESC, report.received_at, report.id
LIMIT 16
"""  # noqa: S608 - our own constant

_CLAIM = f"""
INSERT INTO classifier_job AS job
    (report_id, policy_version_id, lane, attempts, claims, faults, reason, parked, done, lease_until)
SELECT id, %(version)s, %(lane)s, 1, 1, 0, '', false, false,
    clock_timestamp() + make_interval(secs => %(lease)s)
FROM reports_report AS report WHERE id = %(report)s AND status = 'pending' AND {MAY_BE_ASKED}
ON CONFLICT ON CONSTRAINT one_job_per_report_and_version DO UPDATE
SET attempts = job.attempts + 1, claims = job.claims + 1,
    lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
-- A report that was pending when this began may be history by now.
WHERE job.batch_id IS NULL AND {READY}
RETURNING id, claims, reason, batch_id
"""  # noqa: S608 - our own constant


class TooManyCallsError(Exception):
    """The report has cost more calls than any may."""


def extend_claim(claimed: Claimed, *, at_most: int | None = None) -> Claimed | None:
    """A whole new lease for one call more; None: the job is another's by now.

    `at_most`: raises `TooManyCallsError` where the job's further calls, over all tries, are more.
    """
    began = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute(
            _ONE_MORE,
            [settings.LEASE_SECONDS, at_most is not None, claimed.job_id, claimed.number],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    if at_most is not None and row[0] > at_most:
        raise TooManyCallsError(f"{row[0]} further calls")
    return replace(claimed, expires=began + settings.LEASE_SECONDS)


_ONE_MORE = """
UPDATE classifier_job SET
    lease_until = clock_timestamp() + make_interval(secs => %s),
    further_calls = further_calls + %s::int
WHERE id = %s AND claims = %s AND NOT done AND NOT parked
RETURNING further_calls
"""


def hold_back(*, claimed: Claimed, reason: WaitingReason, seconds: float) -> None:
    """Give the job back unasked, with the reason that holds everybody up.

    For a while only: the model's own row holds everybody up for as long as it takes, and a person
    may end that.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _HOLD_BACK,
            {
                "job": claimed.job_id,
                "claim": claimed.number,
                "reason": reason,
                "seconds": min(seconds, LONGEST_REST_SECONDS),
            },
        )


_HOLD_BACK = """
UPDATE classifier_job SET
    lease_until = NULL, nudged_at = NULL, attempts = attempts - 1,
    -- An answer that was cut gets more room next time.
    reason = CASE WHEN reason = 'answer_cut' THEN reason ELSE %(reason)s END,
    not_before = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE id = %(job)s AND claims = %(claim)s AND NOT done AND NOT parked
"""


def put_off(*, claimed: Claimed, reason: WaitingReason, rest: float | None = None) -> bool:
    """Give the job back with a named reason and a time; False when the claim was no longer ours.

    `rest`: seconds that the model is left alone by everybody. A floor under the report's own wait,
    and all of it where the fault has nothing to do with the report. A pending report stays so; a
    batch's job is parked after `MOST_FAULTS_IN_A_BATCH` in a row that brought no rest.
    """
    spends = reason in SPENDS_ATTEMPT
    with transaction.atomic():
        # Locked before the job, as recording does it.
        report = lifecycle.lock(claimed.report_id) if reason in RAISES_FLOOR else None
        with connection.cursor() as cursor:
            cursor.execute(
                _PUT_OFF,
                {
                    "job": claimed.job_id,
                    "claim": claimed.number,
                    "reason": reason,
                    "spends": spends,
                    "park": reason in PARKED_AT_ONCE,
                    "most": Job.MAX_ATTEMPTS,
                    "first": FIRST_WAIT_SECONDS,
                    "longest": LONGEST_WAIT_SECONDS,
                    "floor": min(rest or 0.0, LONGEST_REST_SECONDS),
                    "own": rest is None or reason not in RESTS_AT_ONCE,
                    # What everybody rests for may have nothing to do with this one.
                    "counts": not spends and rest is None,
                    "most_faults": MOST_FAULTS_IN_A_BATCH,
                    # Spread over time what failed at the same moment.
                    "jitter": random.uniform(1.0, 1.2),  # noqa: S311 - not a secret
                },
            )
            ours: bool = cursor.rowcount == 1
        if report is not None and ours:
            note_refusal(report=report, rule=reason)
    return ours


_EXTEND = """
UPDATE classifier_job SET lease_until = clock_timestamp() + make_interval(secs => %s)
WHERE id = %s AND claims = %s AND NOT done AND NOT parked
RETURNING id, claims, reason, batch_id
"""

_PARKS = """%(park)s OR (%(spends)s AND attempts >= %(most)s)
        OR (batch_id IS NOT NULL AND %(counts)s AND faults + 1 >= %(most_faults)s)"""

# What was parked in a batch has ended, whatever its last holder says.
_PUT_OFF = f"""
UPDATE classifier_job SET
    lease_until = NULL,
    nudged_at = NULL,
    reason = %(reason)s,
    attempts = attempts - (NOT %(spends)s)::int,
    faults = CASE WHEN %(spends)s THEN 0
        WHEN batch_id IS NOT NULL AND NOT %(counts)s THEN faults ELSE faults + 1 END,
    parked = {_PARKS},
    ended_at = CASE WHEN {_PARKS} THEN clock_timestamp() END,
    not_before = clock_timestamp() + make_interval(secs => greatest(%(floor)s,
        CASE WHEN %(own)s THEN %(jitter)s * least(%(longest)s, %(first)s * 2.0 ^ least(
            CASE WHEN %(spends)s THEN attempts - 1 ELSE faults END, 20)) END))
WHERE id = %(job)s AND claims = %(claim)s AND NOT done AND NOT (parked AND batch_id IS NOT NULL)
"""  # noqa: S608 - our own constant


def park_dead() -> int:
    """Park the jobs whose last attempt's holder died; they have no attempts left. Returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            # By id and past what others hold: two that lock the same jobs crosswise would stop.
            "UPDATE classifier_job SET parked = true, lease_until = NULL, reason = %(reason)s,"
            " ended_at = clock_timestamp()"
            " WHERE id IN (SELECT id FROM classifier_job WHERE lease_until < clock_timestamp()"
            " AND attempts >= %(most)s ORDER BY id FOR UPDATE SKIP LOCKED)",
            {"reason": WaitingReason.HOLDER_DIED, "most": Job.MAX_ATTEMPTS},
        )
        parked: int = cursor.rowcount
        return parked
