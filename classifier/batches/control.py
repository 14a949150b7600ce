"""What people tell a batch: cancel, go on. `reconcile` carries it out."""

from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from classifier.batches.cost import may_cost, price_of
from classifier.models import Batch, PolicyVersion, ProviderModel
from reports.audit import write_audit

State = Batch.State


class BatchStateError(Exception):
    """The batch stands where this cannot be done; the text is the sentence to show."""


def cancel_batch(*, batch_id: int, actor_name: str) -> bool:
    """Ask nothing more and call in what is out; False when that was said before.

    What is answered by then is recorded all the same. Raises `BatchStateError` for a batch that is
    done, `Batch.DoesNotExist`.
    """
    with transaction.atomic():
        batch = _lock(batch_id)
        if batch.state in {State.CANCELLING, State.CANCELLED}:
            return False
        if batch.state == State.DONE:
            raise BatchStateError(
                _("Batch %(number)s is done: there is nothing to cancel.") % {"number": batch.pk}
            )
        _move(batch, to=State.CANCELLING, action="batch_cancelled", actor_name=actor_name)
    return True


def resume_batch(*, batch_id: int, actor_name: str, max_cost: Decimal | None = None) -> bool:
    """Let a batch go on that its cost limit stopped; False when it goes on already.

    `max_cost` is the new limit of the whole batch, in the currency of the price; None: no limit. It is
    higher than the last one, or above what the batch may cost so far.
    Raises `BatchStateError`, `Batch.DoesNotExist`.
    """
    with transaction.atomic():
        batch = _lock(batch_id)
        number = {"number": batch.pk}
        if batch.state in {State.PLANNING, State.RUNNING} and max_cost == batch.max_cost:
            return False
        if batch.state != State.STOPPED:
            raise BatchStateError(
                _("Batch %(number)s is not stopped, but: %(state)s.")
                % {**number, "state": batch.get_state_display()}
            )
        if batch.policy_version.state != PolicyVersion.State.ACTIVE:
            raise BatchStateError(
                _("Batch %(number)s asks under policy version %(version)s, which is not active.")
                % {**number, "version": batch.policy_version_id}
            )
        if max_cost is not None and batch.max_cost is not None and max_cost <= batch.max_cost:
            _check_limit(batch, max_cost)
        batch.max_cost = max_cost
        planned = batch.planned_up_to >= batch.last_report
        _move(
            batch,
            to=State.RUNNING if planned else State.PLANNING,
            action="batch_resumed",
            actor_name=actor_name,
        )
    return True


def _check_limit(batch: Batch, max_cost: Decimal) -> None:
    """That a limit which is no higher does not stop it again: its price may have run out."""
    model = ProviderModel.objects.of_policy(batch.policy_version)
    price = price_of(model, today=timezone.now().date())
    if price is None:
        raise BatchStateError(
            _("No price of %(model)s is recorded, or it is out of date: record one first.")
            % {"model": model.name}
        )
    if may_cost(batch, price) >= max_cost:
        raise BatchStateError(
            _("Batch %(number)s was stopped at %(limit)s: the new limit has to be higher.")
            % {"number": batch.pk, "limit": batch.max_cost}
        )


def _lock(batch_id: int) -> Batch:
    return Batch.objects.select_for_update(no_key=True).get(pk=batch_id)


def _move(batch: Batch, *, to: State, action: str, actor_name: str) -> None:
    before, batch.state, batch.note = batch.state, to, ""
    batch.save(update_fields=["state", "note", "max_cost"])
    limit = None if batch.max_cost is None else str(batch.max_cost)
    write_audit(
        action=action,
        of=batch,
        actor_name=actor_name,
        detail={"before": before, "after": to, "max_cost": limit},
    )
