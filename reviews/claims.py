"""Who has an item in hand: a courtesy among reviewers, and what keeps a machine from moving it away."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now

from reviews.models import Claim

HOLDS = timedelta(minutes=10)


def hold_item(*, item_id: int, reviewer: User) -> None:
    """Hold an item for as long as `HOLDS`, or for as long again.

    Does nothing where another holds it, for an item that is not there, and for a resolved one.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _HOLD, {"item": item_id, "reviewer": reviewer.pk, "seconds": HOLDS.total_seconds()}
        )


# Under the item's lock, for recording reads claims under it: a verdict sees the claim, or came before.
# One row an item until it is released: whose time has run out gives way to the next.
_HOLD = """
WITH item AS (
    SELECT id FROM reports_item WHERE id = %(item)s AND list <> 'resolved' FOR NO KEY UPDATE
)
INSERT INTO reviews_claim AS claim (item_id, reviewer_id, claimed_at, expires_at)
SELECT id, %(reviewer)s, clock_timestamp(), clock_timestamp() + make_interval(secs => %(seconds)s)
FROM item
ON CONFLICT (item_id) WHERE released_at IS NULL DO UPDATE SET
    reviewer_id = excluded.reviewer_id, claimed_at = excluded.claimed_at,
    expires_at = excluded.expires_at
WHERE claim.reviewer_id = excluded.reviewer_id OR claim.expires_at <= clock_timestamp()
"""


def release_item(item_id: int) -> None:
    """Nobody holds the item any more; inside the caller's transaction, under the item's lock."""
    Claim.objects.filter(item=item_id, released_at=None).update(released_at=Now())
