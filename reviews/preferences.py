"""What a reviewer chooses for themselves. The record says that they chose, never what."""

from collections.abc import Collection
from dataclasses import asdict, dataclass

from django.contrib.auth.models import User
from django.db import transaction

from reports.audit import write_audit
from reviews.models import Preferences


@dataclass(frozen=True)
class Choices:
    """All that the page of preferences asks; as the fields of `Preferences` are named."""

    single_keys: bool
    veil_from: int | None
    greyscale: bool
    opted_out: list[str]
    pause_after: int


def preferences_of(user: User) -> Preferences:
    """What the person chose, else the defaults."""
    try:
        return user.review_preferences
    except Preferences.DoesNotExist:
        return Preferences(user=user)


def save_preferences(*, user: User, choices: Choices, offered: Collection[str]) -> None:
    """Remember what the person chose. What stands already writes nothing.

    `offered`: the categories that they could opt out of. One of another policy version stays as
    they chose it, for it may come back.
    """
    with transaction.atomic():
        standing = lock_preferences(user)
        kept = [each for each in standing.opted_out if each not in offered]
        wanted = {**asdict(choices), "opted_out": sorted({*kept, *choices.opted_out})}
        changed = [name for name, value in wanted.items() if getattr(standing, name) != value]
        if not changed:
            return
        for name in changed:
            setattr(standing, name, wanted[name])
        standing.save(update_fields=changed)
        write_audit(action="preferences_changed", of=user, actor=user, detail={"fields": changed})


def set_single_keys(*, user: User, on: bool) -> None:
    """Whether single letters are commands for this person (WCAG 2.1.4)."""
    with transaction.atomic():
        standing = lock_preferences(user)
        if standing.single_keys == on:
            return
        standing.single_keys = on
        standing.save(update_fields=["single_keys"])
        write_audit(
            action="preferences_changed", of=user, actor=user, detail={"fields": ["single_keys"]}
        )


def lock_preferences(user: User) -> Preferences:
    """The person's row, locked; made with the defaults where there was none."""
    Preferences.objects.get_or_create(user=user)
    return Preferences.objects.select_for_update().get(user=user)
