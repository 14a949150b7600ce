"""The veil over severe content: lifted by one person, for themselves, and put on record."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least, Now

from reports import lifecycle
from reports.audit import write_audit
from reports.models import AuditEntry, Item
from reviews.claims import HOLDS
from reviews.models import Claim

REVEALED = "revealed"


def reveal_item(*, item_id: int, user: User) -> None:
    """Show this person what the item's veil hides; once more while it is shown writes nothing.

    Raises `Item.DoesNotExist`.
    """
    with transaction.atomic():
        lifecycle.lock_item(item_id)
        item = Item.objects.get(pk=item_id)
        if not reveals(item_id).filter(actor=user).exists():
            write_audit(action=REVEALED, of=item, actor=user)


def reveals(item_id: int) -> QuerySet[AuditEntry]:
    """Who has lifted the item's veil: it stays lifted while they hold the item, and for `HOLDS`."""
    # The record is the memory as well: there is no second place that could say otherwise.
    theirs = Claim.objects.in_force().filter(item=item_id, reviewer=OuterRef("actor"))
    since = Least(Coalesce(Subquery(theirs.values("claimed_at")), Now()), Now() - HOLDS)
    return AuditEntry.objects.filter(
        object_type="item", object_id=str(item_id), action=REVEALED, at__gte=since
    )
