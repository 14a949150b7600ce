"""Start a batch: one row that says what is to be asked. `manage.py reconcile` does the rest."""

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from classifier.batches.cost import price_of
from classifier.batches.plan import Plan
from classifier.batches.selection import Selection
from classifier.models import Batch, PolicyVersion, ProviderModel
from classifier.policies import lock_the_line
from reports.audit import write_audit


class BatchNotStartedError(Exception):
    """Nothing was started; the message says why and what to do."""


class SameBatchRunsError(BatchNotStartedError):
    """The same is at work already: `batch`."""

    def __init__(self, batch: Batch) -> None:
        super().__init__(f"Batch {batch} asks the same reports already; it is {batch.state}.")
        self.batch = batch


def start_batch(  # noqa: PLR0913 - keywords, and all of them are of the row
    *,
    purpose: Batch.Purpose,
    policy: PolicyVersion,
    selection: Selection,
    plan: Plan,
    actor_name: str,
    max_cost: Decimal | None = None,
    reopen_at_most: int | None = None,
) -> Batch:
    """Write the batch's row, once.

    `max_cost`: it stops before it costs more, and waits for a person. `reopen_at_most`: how many of
    the disagreements may be put before people again; None: the fixed bound for critical ones.

    Raises `BatchNotStartedError`: the version is not active, there is nothing to ask, the cost is
    limited but not known, or would exceed the limit; `SameBatchRunsError`.
    """
    with transaction.atomic():
        lock_the_line()  # no other version becomes active meanwhile
        for batch in Batch.objects.unfinished().filter(policy_version=policy, purpose=purpose):
            if batch.selection == selection.as_json():
                raise SameBatchRunsError(batch)
        _check(policy, plan, max_cost)
        batch = Batch.objects.create(
            purpose=purpose,
            policy_version=policy,
            selection=selection.as_json(),
            words=selection.words(purpose),
            last_report=plan.last_report,
            estimated_tokens=plan.tokens.most if plan.tokens else None,
            estimated_cost=plan.cost_high,
            max_cost=max_cost,
            reopen_at_most=reopen_at_most,
            actor_name=actor_name,
        )
        write_audit(
            action="batch_started",
            of=batch,
            actor_name=actor_name,
            detail={
                "version": policy.number,
                "purpose": purpose,
                "selection": batch.selection,
                "reports": plan.reports,
                "carried": plan.carried,
                "max_cost": None if max_cost is None else str(max_cost),
            },
        )
    return batch


def _check(policy: PolicyVersion, plan: Plan, max_cost: Decimal | None) -> None:
    state = PolicyVersion.objects.values_list("state", flat=True).get(pk=policy.pk)
    if state != PolicyVersion.State.ACTIVE:
        raise BatchNotStartedError(
            f"Policy version {policy} is {state}; history is asked under the active version only."
        )
    if not plan.reports and not plan.carried:
        raise BatchNotStartedError("There is nothing to ask: no report of history is selected.")
    if max_cost is None or not plan.reports:
        return
    model = ProviderModel.objects.of_policy(policy)
    if price_of(model, today=timezone.now().date()) is None:
        raise BatchNotStartedError(
            f"The cost is limited, but no price of {policy.model} is recorded, or it is out of date. "
            "Run `manage.py record_price` first."
        )
    if plan.cost_low is not None and plan.cost_low > max_cost:
        raise BatchNotStartedError(
            f"It would cost {plan.cost_low} at the least, and the limit is {max_cost}. "
            "Select fewer reports, or raise --max-cost."
        )
