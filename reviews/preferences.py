"""How a person works, and how they change it."""

from django.contrib.auth.models import User
from django.db import transaction

from reports.audit import write_audit
from reviews.models import Preferences


def preferences_of(user: User) -> Preferences:
    """What the person chose, else the defaults."""
    try:
        return user.review_preferences
    except Preferences.DoesNotExist:
        return Preferences(user=user)


def set_single_keys(*, user: User, on: bool) -> None:
    """Whether single letters are commands for this person (WCAG 2.1.4)."""
    with transaction.atomic():
        Preferences.objects.get_or_create(user=user)
        changed = Preferences.objects.filter(user=user, single_keys=not on).update(single_keys=on)
        if changed:
            write_audit(
                action="preferences_changed",
                of=user,
                actor=user,
                detail={"fields": ["single_keys"]},
            )
