"""The veil over severe content: lifted by one person, for themselves, and put on record."""

from django.contrib.auth.models import User
from django.db import connection, transaction

from reports import lifecycle
from reports.audit import write_audit
from reports.models import Item
from reviews.claims import HOLDS

# Whether `user` has lifted the veil of `item`: it stays so while they hold the item, and for
# `holds` seconds. The record is the memory as well: there is no second place that could say otherwise.
IS_REVEALED = """
EXISTS (SELECT FROM reports_auditentry AS entry
    WHERE entry.object_type = 'item' AND entry.object_id = %(item)s::text
        AND entry.action = 'revealed' AND entry.actor_id = %(user)s
        AND entry.at >= least(statement_timestamp() - make_interval(secs => %(holds)s), (
            SELECT claimed_at FROM reviews_claim WHERE item_id = %(item)s AND reviewer_id = %(user)s
                AND released_at IS NULL AND expires_at > statement_timestamp())))
"""


def reveal_item(*, item_id: int, user: User) -> None:
    """Show this person what the item's veil hides; once more while it is shown writes nothing.

    Raises `Item.DoesNotExist`.
    """
    with transaction.atomic():
        lifecycle.lock_item(item_id)
        if not _is_revealed(item_id, user):
            write_audit(action="revealed", of=Item(pk=item_id), actor=user)


def _is_revealed(item_id: int, user: User) -> bool:
    with connection.cursor() as cursor:
        asked = {"item": item_id, "user": user.pk, "holds": HOLDS.total_seconds()}
        cursor.execute(f"SELECT {IS_REVEALED}", asked)
        return bool(cursor.fetchone()[0])
