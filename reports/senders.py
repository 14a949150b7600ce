"""Senders and their keys: made by operations, each change with its audit row."""

import hashlib
import secrets
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from reports.audit import write_audit
from reports.models import ApiKey, Sender


class NewKey(NamedTuple):
    """A stored key and its one readable form, which nothing can bring back."""

    api_key: ApiKey
    key: str


def create_sender(*, name: str, latency_budget: timedelta, actor_name: str) -> NewKey:
    """A sender and its first key. Raises `ValidationError` for a bad or taken name."""
    sender = Sender(name=name, latency_budget=latency_budget)
    sender.full_clean()
    with transaction.atomic():
        sender.save(force_insert=True)
        write_audit(action="sender_created", of=sender, actor_name=actor_name)
        return issue_key(sender=sender, actor_name=actor_name)


def issue_key(*, sender: Sender, actor: User | None = None, actor_name: str = "") -> NewKey:
    """A new key beside the sender's other ones. Either `actor` or `actor_name` says who."""
    prefix, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    with transaction.atomic():
        api_key = ApiKey.objects.create(sender=sender, prefix=prefix, digest=digest_secret(secret))
        write_audit(action="key_issued", of=api_key, actor=actor, actor_name=actor_name)
    return NewKey(api_key, f"{prefix}.{secret}")


def revoke_key(*, api_key: ApiKey, actor: User) -> bool:
    """Refuse the key from now on; False when it was revoked before."""
    with transaction.atomic():
        changed = ApiKey.objects.filter(pk=api_key.pk, revoked_at=None).update(revoked_at=Now())
        if changed:
            write_audit(action="key_revoked", of=api_key, actor=actor)
    return bool(changed)


def digest_secret(secret: str) -> str:
    """64 hex digits. 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()
