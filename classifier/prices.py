"""What a model's tokens cost, as an operator recorded it with evidence. No price stands in code."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from django.db import transaction

from classifier.catalogue import RecordRefusedError, check_evidence
from classifier.models import ProviderModel
from reports.audit import write_audit

MOST = Decimal(10_000)
"""A bound of what is believed at all: more is a slip of the unit, which is a million tokens."""


@dataclass(frozen=True)
class PriceRecord:
    """Money a million tokens, in the currency of whoever recorded it, up to and with `until`."""

    read: Decimal
    written: Decimal
    batch_share: Decimal
    """How much of it a token costs in the provider's batches, 0 to 1."""
    evidence: str
    until: date


def recorded_price(model: ProviderModel) -> PriceRecord | None:
    """What stands in the row, expired or not."""
    if (
        model.price_prompt is None
        or model.price_completion is None
        or model.price_batch_share is None
        or model.price_until is None
    ):
        return None
    return PriceRecord(
        read=model.price_prompt,
        written=model.price_completion,
        batch_share=model.price_batch_share,
        evidence=model.price_evidence,
        until=model.price_until,
    )


def record_price(
    *, model: ProviderModel, price: PriceRecord, today: date, actor_name: str
) -> PriceRecord | None:
    """State the price that its evidence (a URL) gives; the one that stood before.

    The same again changes nothing. Raises `RecordRefusedError`.
    """
    for each in (price.read, price.written):
        if not (each.is_finite() and 0 <= each <= MOST) or each != round(each, 4):
            raise RecordRefusedError(
                f"A price is of a million tokens, between 0 and {MOST:,}, to four decimals."
            )
    share = price.batch_share
    if not (share.is_finite() and 0 <= share <= 1) or share != round(share, 3):
        raise RecordRefusedError("The share in a batch is between 0 and 1, to three decimals.")
    check_evidence(evidence=price.evidence, until=price.until, today=today)
    return _write(model, price, actor_name)


def drop_price(*, model: ProviderModel, actor_name: str) -> PriceRecord | None:
    """Take the price back; the one that stood before."""
    return _write(model, None, actor_name)


def _write(model: ProviderModel, price: PriceRecord | None, actor_name: str) -> PriceRecord | None:
    with transaction.atomic():
        row = ProviderModel.objects.select_for_update().get(pk=model.pk)
        before = recorded_price(row)
        if before != price:
            row.price_prompt = price.read if price else None
            row.price_completion = price.written if price else None
            row.price_batch_share = price.batch_share if price else None
            row.price_evidence = price.evidence if price else ""
            row.price_until = price.until if price else None
            row.save(update_fields=_FIELDS)
            write_audit(
                action="price_recorded" if price else "price_record_dropped",
                of=row,
                actor_name=actor_name,
                detail={"before": before and plain(before), "after": price and plain(price)},
            )
    model.refresh_from_db()
    return before


_FIELDS = (
    "price_prompt",
    "price_completion",
    "price_batch_share",
    "price_evidence",
    "price_until",
)


def price_in_words(price: PriceRecord | None) -> str:
    """One line of it, for a terminal."""
    if price is None:
        return "no price"
    told = plain(price)
    return (
        f"{told['read']} read, {told['written']} written, {told['batch_share']} of it in a batch, "
        f"until {told['until']}, by {told['evidence']}"
    )


def plain(price: PriceRecord) -> dict[str, str]:
    """Its fields as JSON has them, without trailing zeros."""
    return {
        "read": f"{price.read.normalize():f}",
        "written": f"{price.written.normalize():f}",
        "batch_share": f"{price.batch_share.normalize():f}",
        "evidence": price.evidence,
        "until": price.until.isoformat(),
    }
