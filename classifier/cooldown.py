"""Leaving a model alone: one rest for all workers, in the row of the model at its provider.

    asked freely --fault--> rests --its time is over--> one call finds out --answer--> asked freely
                              ^--------------------- fault --------------------'

A rest is the model's, not a report's: no report spends an attempt on it or grows a wait of its own,
so when it ends the most urgent one is asked first. Times are the database's clock.
"""

import random
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction

from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from reports.audit import write_audit

FIRST_REST_SECONDS = 5.0
# One call in a rest is cheap, and an outage's end should be noticed within a minute.
LONGEST_REST_SECONDS = 60.0
# Faults in a row, over all workers, after which a server that only fails is left alone too.
FAULTS_UNTIL_REST = 5
# Who came while another call was finding out looks again after this.
LOOK_AGAIN_SECONDS = 2.0
# A probe asks in each of three modes, and again for a parameter that the server would not have.
CALLS_A_PROBE = 6

# These have nothing to do with the report that was asked: the next one would meet the same.
RESTS_AT_ONCE = frozenset(
    {
        WaitingReason.PROVIDER_RATE_LIMITED,
        WaitingReason.PROVIDER_QUOTA,
        WaitingReason.PROVIDER_CREDENTIALS,
        WaitingReason.UNKNOWN_MODEL,
        WaitingReason.WRONG_MODEL,
    }
)
# These may be the report's own doing; in a row they are the provider's.
RESTS_IN_A_ROW = frozenset(
    {
        WaitingReason.PROVIDER_UNAVAILABLE,
        WaitingReason.PROVIDER_TIMEOUT,
        WaitingReason.PROVIDER_REJECTED,
    }
)


@dataclass(frozen=True)
class Turn:
    """May the model be asked now? `holds`: as the one call that finds out. Else `wait` seconds."""

    granted: bool
    holds: bool = False
    wait: float = 0.0


def take_turn(model: ProviderModel) -> Turn:
    """Leave to ask the model; `model` is a fresh row. Writes only where the model is not at ease."""
    if model.mode and model.rests_until is None:
        return Turn(granted=True)
    calls = 1 if model.mode else CALLS_A_PROBE
    with connection.cursor() as cursor:
        # Longer than the calls take, so that it ends by itself with a worker that died.
        cursor.execute(
            _TAKE, {"model": model.pk, "lease": settings.MODEL_DEADLINE_SECONDS * calls + 2}
        )
        if cursor.rowcount == 1:
            return Turn(granted=True, holds=True)
        cursor.execute(_LEFT, [model.pk])
        (left,) = cursor.fetchone()
    # As long as the rest and no longer: when it ends the most urgent report is to be due.
    return Turn(granted=False, wait=left or LOOK_AGAIN_SECONDS)


def note_fault(
    *, model: ProviderModel, turn: Turn, reason: WaitingReason, retry_after: float | None
) -> float | None:
    """A call failed. Returns the seconds until the model may be asked again; None: at any time.

    What a server asks for is a floor, and of several such times the latest counts.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _FAULT,
            {
                "model": model.pk,
                "holds": turn.holds,
                "reason": reason,
                "at_once": reason in RESTS_AT_ONCE or retry_after is not None,
                "in_a_row": FAULTS_UNTIL_REST,
                "first": FIRST_REST_SECONDS,
                "longest": LONGEST_REST_SECONDS,
                "asked": retry_after,
                # Only upward: what was asked for stays a floor.
                "jitter": random.uniform(1.0, 1.2),  # noqa: S311 - not a secret
            },
        )
        (left,) = cursor.fetchone()
    return left if left is not None and left > 0 else None


def note_answer(*, model: ProviderModel, turn: Turn) -> None:
    """The provider answered, whatever it said: a rest that this call was to find out about ends."""
    if turn.holds:
        ProviderModel.objects.filter(pk=model.pk).update(**_AT_EASE)
    elif model.faults:
        ProviderModel.objects.filter(pk=model.pk, rests_until=None).update(faults=0)


def give_back(*, model: ProviderModel, turn: Turn) -> None:
    """The turn's call never came about; another may find out."""
    if turn.holds:
        ProviderModel.objects.filter(pk=model.pk).update(turn_until=None)


def ask_again_now(*, model: ProviderModel, actor: User | None = None, actor_name: str = "") -> bool:
    """A person ends a rest, say after topping up the account; False when it had ended."""
    with transaction.atomic():
        changed = ProviderModel.objects.filter(pk=model.pk, rests_until__isnull=False).update(
            **_AT_EASE
        )
        if changed:
            write_audit(action="rest_ended", of=model, actor=actor, actor_name=actor_name)
    return bool(changed)


def nudges_allowed(policy: PolicyVersion) -> int | None:
    """How many reports the sweep may hand out: none during a rest, one to find out, None: any."""
    model = ProviderModel.objects.of_policy(policy)
    if model.rests_until is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(_LEFT, [model.pk])
        (left,) = cursor.fetchone()
    return 0 if left > 0 else 1


_AT_EASE = {
    "faults": 0,
    "rests": 0,
    "rest_reason": "",
    "rests_since": None,
    "rests_until": None,
    "turn_until": None,
}

_TAKE = """
UPDATE classifier_providermodel
SET turn_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE id = %(model)s
    AND (rests_until IS NULL OR rests_until <= clock_timestamp())
    AND (turn_until IS NULL OR turn_until <= clock_timestamp())
"""

_LEFT = """
SELECT greatest(0, coalesce(extract(epoch FROM rests_until - clock_timestamp()), 0))::float
FROM classifier_providermodel WHERE id = %s
"""

# Eight calls that fail at the same moment are one rest: it grows only with what was found out.
_FAULT = """
UPDATE classifier_providermodel AS model SET
    faults = model.faults + 1,
    turn_until = CASE WHEN %(holds)s THEN NULL ELSE turn_until END,
    rests = CASE WHEN new.opens THEN new.rests ELSE model.rests END,
    rest_reason = CASE WHEN new.opens THEN %(reason)s ELSE rest_reason END,
    rests_since = CASE WHEN new.opens THEN coalesce(rests_since, clock_timestamp()) END,
    rests_until = CASE WHEN new.opens THEN greatest(rests_until,
        clock_timestamp() + make_interval(secs => coalesce(%(asked)s,
            %(jitter)s * least(%(longest)s, %(first)s * 2.0 ^ least(new.rests - 1, 20)))))
        END
FROM (
    SELECT
        id,
        rests + (%(holds)s OR rests_until IS NULL)::int AS rests,
        %(at_once)s OR %(holds)s OR rests_until IS NOT NULL OR faults + 1 >= %(in_a_row)s AS opens
    FROM classifier_providermodel WHERE id = %(model)s FOR UPDATE
) AS new
WHERE model.id = new.id
RETURNING extract(epoch FROM model.rests_until - clock_timestamp())::float
"""
