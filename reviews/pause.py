"""A pause, proposed after many severe items and taken or not as the person likes."""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from reports.audit import write_audit
from reports.models import Item
from reviews.models import Claim
from reviews.preferences import lock_preferences
from reviews.wellbeing import read_desk

PAUSE = timedelta(minutes=10)


def answer_proposal(*, user: User, rests: bool) -> None:
    """Count anew from now on; who rests lets go of everything they have in hand.

    Does nothing where no pause is proposed any more: the same answer sent twice counts once.
    """
    with transaction.atomic():
        held = Claim.objects.in_force().filter(reviewer=user).values("item")
        locked = Item.objects.filter(pk__in=held).select_for_update(no_key=True).order_by("id")
        items = list(locked.values_list("pk", flat=True)) if rests else []
        standing = lock_preferences(user)
        if not read_desk(standing.user).proposes_pause:
            return
        Claim.objects.in_force().filter(reviewer=user, item__in=items).update(released_at=Now())
        standing.paused_at = Now()
        standing.save(update_fields=["paused_at"])
        write_audit(
            action="paused" if rests else "went_on", of=user, actor=user, detail={"items": items}
        )
