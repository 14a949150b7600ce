"""What tokens cost, by the price that an operator recorded; None where nobody has."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db.models import Case, F, Sum, When
from django.db.models.functions import Coalesce, Least

from classifier.batches.words import RemoteStatus
from classifier.models import Batch, Job, ProviderBatch, ProviderModel
from classifier.prices import recorded_price

# Of an answer before the first has come: a summary, a category, a quote.
UNKNOWN_ANSWER_TOKENS = 200
_MILLION = Decimal(1_000_000)
_RECORDED = (ProviderBatch.State.RECORDED, ProviderBatch.State.DONE)


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
    record = recorded_price(model) if model else None
    if record is None or record.until < today:
        return None
    return Price(prompt=record.read, completion=record.written, batch_share=record.batch_share)


def spent(batch: Batch, price: Price) -> Decimal:
    """What its answers cost so far.

    Tokens are counted for the batch as a whole, so what the provider's batches make cheaper is
    taken by their share of the answers; where they say of none that they answered it, there is none.
    """
    by_calls, by_batches = (
        price.of(prompt=batch.prompt_tokens, completion=batch.completion_tokens, through=through)
        for through in (Job.Through.CALLS, Job.Through.PROVIDER_BATCH)
    )
    recorded = batch.provider_batches.filter(state__in=_RECORDED)
    of_batches: int = recorded.aggregate(lines=Coalesce(Sum(_ANSWERED), 0))["lines"]
    # A line may have come back more than once, without a verdict in the end.
    answers = max(_answers(batch), of_batches)
    share = Decimal(of_batches) / answers if answers else Decimal(0)
    return by_calls + (by_batches - by_calls) * share


# A file that was refused as a whole, or came back without a word of its lines, answered none.
_ANSWERED = Least(
    F("lines"),
    Coalesce(
        "remote_completed",
        Case(When(remote_status=RemoteStatus.COMPLETED, then="lines"), default=0),
    ),
)


def may_cost(batch: Batch, price: Price) -> Decimal:
    """The same with what is at the provider, or has come back and is not recorded."""
    out = batch.provider_batches.exclude(state__in=_RECORDED).aggregate(
        lines=Coalesce(Sum("lines"), 0), tokens=Coalesce(Sum("estimated_tokens"), 0)
    )
    answers = _answers(batch)
    each = batch.completion_tokens // answers if answers else UNKNOWN_ANSWER_TOKENS
    return spent(batch, price) + price.of(
        prompt=out["tokens"], completion=out["lines"] * each, through=Job.Through.PROVIDER_BATCH
    )


def _answers(batch: Batch) -> int:
    """How many verdicts it brought that were not carried over."""
    reports: int = batch.flows.aggregate(reports=Coalesce(Sum("reports"), 0))["reports"]
    return max(reports - batch.carried, 0)
