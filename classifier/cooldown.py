"""Leaving a model alone: one rest for all workers, in the row of the model at its provider.

    asked freely --fault--> rests --its time is over--> one call finds out --answer--> asked freely
                              ^--------------------- fault --------------------'

A rest is the model's, not a report's: no report spends an attempt on it or grows a wait of its own,
so when it ends the most urgent one is asked first. Who finds out asks about a harmless text: a
report on which a server fails would find nothing out, for ever. Times are the database's clock.
"""

import random
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from reports.audit import write_audit

FIRST_REST_SECONDS = 5.0
# One call in a rest is cheap, and an outage's end should be noticed within a minute.
LONGEST_REST_SECONDS = 60.0
# Faults in a row, over all workers, after which a server that only fails is left alone too.
FAULTS_UNTIL_REST = 5
# Who came while another call was finding out looks again after this.
LOOK_AGAIN_SECONDS = 2.0

# These have nothing to do with the report that was asked: the next one would meet the same.
RESTS_AT_ONCE = frozenset(
    {
        WaitingReason.PROVIDER_RATE_LIMITED,
        WaitingReason.PROVIDER_QUOTA,
        WaitingReason.PROVIDER_CREDENTIALS,
        WaitingReason.UNKNOWN_MODEL,
        WaitingReason.UNKNOWN_LIMIT,
        WaitingReason.POLICY_TOO_LONG,
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


class TurnLostError(Exception):
    """The turn ran out, or a person ended it; somebody else may be finding out by now."""


@dataclass(frozen=True)
class Turn:
    """May the model be asked now? `until`: as the one call that finds out, until then at the latest.

    Else `wait` seconds; `reason` says what for.
    """

    granted: bool
    until: datetime | None = None
    wait: float = 0.0
    reason: WaitingReason = WaitingReason.PROBING

    @property
    def holds(self) -> bool:
        return self.until is not None


# While the model is asked freely.
FREE = Turn(granted=True)


def take_turn(model: ProviderModel) -> Turn:
    """Leave to ask the model; refreshes the row. Writes only where the model is not at ease."""
    model.refresh_from_db()
    if not model.wants_probe() and model.rests_until is None:
        return FREE
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, {"model": model.pk, "lease": _lease_seconds()})
        row = cursor.fetchone()
        if row is not None:
            return Turn(granted=True, until=row[0])
        cursor.execute(_LEFT, [model.pk])
        (left,) = cursor.fetchone()
    # As long as the rest and no longer: when it ends the most urgent report is to be due.
    reason = WaitingReason(model.rest_reason or WaitingReason.PROBING)
    return Turn(granted=False, wait=left or LOOK_AGAIN_SECONDS, reason=reason)


def keep_turn(model: ProviderModel, turn: Turn) -> Turn:
    """The turn for one call more; raises `TurnLostError` when it has ended meanwhile."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, {"model": model.pk, "until": turn.until, "lease": _lease_seconds()})
        row = cursor.fetchone()
    if row is None:
        raise TurnLostError
    return replace(turn, until=row[0])


def _lease_seconds() -> float:
    """Longer than one call takes, so that a turn ends by itself with a worker that died."""
    return float(settings.MODEL_DEADLINE_SECONDS) + 2


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
                "turn": turn.until,
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
    """The provider answered, whatever it said: a rest that this call was to find out about ends.

    One that began meanwhile does not: an older call was told to wait longer.
    """
    rows = ProviderModel.objects.filter(pk=model.pk)
    if turn.holds:
        rows.filter(turn_until=turn.until, rests_until__lte=Now()).update(**_AT_EASE)
        give_back(model=model, turn=turn)
    elif model.faults:
        rows.filter(rests_until=None).update(faults=0)


def give_back(*, model: ProviderModel, turn: Turn) -> None:
    """The turn is over, another may find out."""
    if turn.holds:
        rows = ProviderModel.objects.filter(pk=model.pk, turn_until=turn.until)
        rows.update(turn_until=None)


def ask_again_now(*, model: ProviderModel, actor: User | None = None, actor_name: str = "") -> bool:
    """A person ends a rest, say after topping up the account; False when it had ended."""
    with transaction.atomic():
        # Also a turn whose holder may have died.
        not_at_ease = Q(rests_until__isnull=False) | Q(turn_until__isnull=False)
        changed = ProviderModel.objects.filter(not_at_ease, pk=model.pk).update(**_AT_EASE)
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
RETURNING turn_until
"""

_KEEP = """
UPDATE classifier_providermodel
SET turn_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE id = %(model)s AND turn_until = %(until)s
RETURNING turn_until
"""

_LEFT = """
SELECT greatest(0, coalesce(extract(epoch FROM rests_until - clock_timestamp()), 0))::float
FROM classifier_providermodel WHERE id = %s
"""

# Eight calls that fail at the same moment are one rest: it grows only with what was found out.
_FAULT = """
UPDATE classifier_providermodel AS model SET
    faults = model.faults + 1,
    turn_until = CASE WHEN turn_until = %(turn)s THEN NULL ELSE turn_until END,
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
