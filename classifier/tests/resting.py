"""How tests put a model to rest, and look at its row."""

from classifier.cooldown import FREE, Turn, note_fault
from classifier.models import ProviderModel, WaitingReason

Reason = WaitingReason
# Jitter goes upward by a fifth; the rest is the time that a test takes.
MOST = 1.2


def fresh(model: ProviderModel) -> ProviderModel:
    return ProviderModel.objects.get(pk=model.pk)


def fail(
    model: ProviderModel,
    reason: WaitingReason = Reason.PROVIDER_UNAVAILABLE,
    *,
    turn: Turn = FREE,
    retry_after: float | None = None,
) -> float | None:
    return note_fault(model=fresh(model), turn=turn, reason=reason, retry_after=retry_after)


def put_to_rest(model: ProviderModel) -> None:
    assert fail(model, Reason.PROVIDER_QUOTA) is not None
