"""Activate a policy version and start asking history under it, both or neither."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.db import transaction

from classifier.batches.plan import Plan
from classifier.batches.selection import Selection
from classifier.batches.start import start_batch
from classifier.models import Batch
from classifier.policies.versions import activate


def activate_and_migrate(
    *, plan: Plan, max_cost: Decimal | None, reopen_at_most: int | None, actor: User
) -> Batch:
    """The plan is of a policy migration of all history under the candidate.

    Raises `PolicyVersionError` or `BatchNotStartedError`, and then nothing was changed.
    """
    with transaction.atomic():
        policy = activate(number=plan.version, actor=actor)
        return start_batch(
            purpose=Batch.Purpose.POLICY_MIGRATION,
            policy=policy,
            selection=Selection(),
            plan=plan,
            actor_name=actor.get_username(),
            max_cost=max_cost,
            reopen_at_most=reopen_at_most,
        )
