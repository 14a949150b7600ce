"""What a reviewer has typed and not submitted: kept as they type, theirs alone, gone once they decide.

Saving one is no change of state, and so leaves no audit row.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from reports import lifecycle
from reviews.blind import read_blindness, second_review_by
from reviews.models import Decision, Draft


@dataclass(frozen=True)
class Typed:
    """The form as it stands, unchecked; the choices may be blank or not offered any more."""

    action: str = ""
    category: str = ""
    note: str = ""
    reason: str = ""


class DecidedSinceError(Exception):
    """The reviewer has decided about the item after the page was shown. Nothing was written."""


def save_draft(
    *, item_id: int, reviewer: User, typed: Typed, last_decision_id: int | None
) -> datetime | None:
    """Keep what is typed in place of what was, and say when; where nothing is, keep nothing.

    `last_decision_id` is the item's newest decision as the page showed it; a page of blind work shows
    none. What comes in after the reviewer's own decision, or their second review, as the page is
    left, is not kept: raises `DecidedSinceError`. Raises `Item.DoesNotExist` as well.
    """
    with transaction.atomic():
        # Under the item's lock, as deciding: no draft slips in behind the decision that ends it.
        lifecycle.lock_item(item_id)
        if last_decision_id is None and (blind := read_blindness(item_id=item_id, reader=reviewer)):
            if blind.answered:
                raise DecidedSinceError
            last_decision_id = blind.stood
        own = Decision.objects.filter(item=item_id, reviewer=reviewer)
        if own.filter(pk__gt=last_decision_id or 0).exists():
            raise DecidedSinceError
        # Any other page about such an item names a decision: this one was blind, and is over.
        if last_decision_id is None and second_review_by(reviewer, item_id=item_id):
            raise DecidedSinceError
        if typed == Typed():
            forget_draft(item_id=item_id, reviewer=reviewer)
            return None
        draft, _made = Draft.objects.update_or_create(
            item_id=item_id, reviewer=reviewer, defaults={**asdict(typed), "saved_at": Now()}
        )
        draft.refresh_from_db(fields=["saved_at"])
        return draft.saved_at


def forget_draft(*, item_id: int, reviewer: User) -> None:
    """What this person typed about the item is of no use any more; what others typed stays theirs."""
    Draft.objects.filter(item=item_id, reviewer=reviewer).delete()
