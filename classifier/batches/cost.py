"""What tokens cost, by the price that an operator recorded; None where nobody has."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from classifier.models import Job, ProviderModel

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Price:
    """Of a million tokens, in whatever money the operator counts."""

    prompt: Decimal
    completion: Decimal
    batch_share: Decimal
    """Which part of it the provider's Batch API costs."""

    def of(self, *, prompt: int, completion: int, through: str) -> Decimal:
        """So many tokens read and written, to four places."""
        whole = (self.prompt * prompt + self.completion * completion) / _MILLION
        batch = through == Job.Through.PROVIDER_BATCH
        return (whole * self.batch_share if batch else whole).quantize(Decimal("0.0001"))


def price_of(model: ProviderModel | None, *, today: date) -> Price | None:
    """The recorded price, while it is not out of date."""
    if model is None or model.price_until is None or model.price_until < today:
        return None
    if model.price_prompt is None or model.price_completion is None:
        return None
    share = Decimal(1) if model.price_batch_share is None else model.price_batch_share
    return Price(prompt=model.price_prompt, completion=model.price_completion, batch_share=share)
