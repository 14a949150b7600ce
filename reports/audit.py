"""One verb that writes the audit table."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import models

from reports.models import AuditEntry


def write_audit(
    *,
    action: str,
    of: models.Model,
    actor: User | None = None,
    actor_name: str = "",
    detail: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Append one row. Call it inside the transaction of the change that it records.

    `detail` holds JSON without personal text. Either `actor` or `actor_name` says who.
    """
    name = actor_name or (actor.get_username() if actor else "")
    if not name:
        raise ValueError("an audit entry needs an actor or a name")
    return AuditEntry.objects.create(
        actor=actor,
        actor_name=name,
        action=action,
        object_type=of._meta.model_name or "",
        object_id=str(of.pk),
        detail=dict(detail or {}),
    )
