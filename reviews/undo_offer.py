"""What the page after a decision offers: to take it back, for as long as that is possible."""

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from reviews.models import Decision, DoubleReview


@dataclass(frozen=True)
class UndoOffer:
    """Where a decision, or a second review, is taken back, and for how many seconds more it may be."""

    address: str
    seconds: int


_ADDRESS = {"undo": "review-undo", "undo-second": "review-undo-second"}


def undo_tag(decided: Decision | DoubleReview) -> str:
    """The offer as a tag of the message that says what was decided: the page comes later."""
    lasts = timedelta(seconds=settings.UNDO_SECONDS)
    if isinstance(decided, DoubleReview):
        assert decided.answered_at is not None  # noqa: S101 - of an answer
        return _tag("undo-second", decided.pk, decided.answered_at + lasts)
    return _tag("undo", decided.pk, decided.effective_at or decided.created_at + lasts)


def _tag(kind: str, pk: int, until: datetime) -> str:
    return f"{kind}-{pk}-{int(until.timestamp() * 1000)}"


def offer_of(decision: Decision) -> UndoOffer | None:
    """The offer on the very page that answers."""
    return undo_offer(undo_tag(decision))


def undo_offer(tags: str) -> UndoOffer | None:
    """The offer that a message's tags carry; None without one, and once its time is over."""
    found = re.search(r"\b(undo|undo-second)-(\d+)-(\d+)\b", tags)
    if found is None:
        return None
    left = int(found[3]) / 1000 - timezone.now().timestamp()
    address = reverse(_ADDRESS[found[1]], args=[found[2]])
    return UndoOffer(address, math.ceil(left)) if left > 0 else None
