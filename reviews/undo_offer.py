"""What the page after a decision offers: to take it back, for as long as that is possible."""

import math
import re
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from reviews.models import Decision


@dataclass(frozen=True)
class UndoOffer:
    """A decision that may be taken back, and for how many seconds more."""

    decision: int
    seconds: int


def undo_tag(decision: Decision) -> str:
    """The offer as a tag of the message that says what was decided: the page comes later."""
    until = decision.effective_at or decision.created_at + timedelta(seconds=settings.UNDO_SECONDS)
    return f"undo-{decision.pk}-{int(until.timestamp() * 1000)}"


def offer_of(decision: Decision) -> UndoOffer | None:
    """The offer on the very page that answers."""
    return undo_offer(undo_tag(decision))


def undo_offer(tags: str) -> UndoOffer | None:
    """The offer that a message's tags carry; None without one, and once its time is over."""
    found = re.search(r"\bundo-(\d+)-(\d+)\b", tags)
    if found is None:
        return None
    left = int(found[2]) / 1000 - timezone.now().timestamp()
    return UndoOffer(int(found[1]), math.ceil(left)) if left > 0 else None
