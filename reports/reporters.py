"""Reporters whose word has weight: trusted by operations, each change with its audit row."""

from collections.abc import Collection

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from reports.audit import write_audit
from reports.fingerprint import pseudonym
from reports.models import Sender, TrustedFlagger


class AlreadyTrustedError(Exception):
    """The sender's reporter is trusted already."""


def trust_reporter(
    *, sender: Sender, reporter_id: str, name: str, reasons: Collection[str], actor_name: str
) -> TrustedFlagger:
    """From now on reports of this reporter rise, for these reasons or (none) for all.

    Raises `AlreadyTrustedError`; end the trust first to change its reasons.
    """
    flagger = TrustedFlagger(
        sender=sender,
        pseudonym=pseudonym(sender_id=sender.pk, reporter_id=reporter_id),
        name=name,
        reasons=sorted(reasons),
    )
    try:
        with transaction.atomic():
            flagger.save(force_insert=True)
            write_audit(
                action="reporter_trusted",
                of=flagger,
                actor_name=actor_name,
                detail={"sender": sender.name, "reasons": flagger.reasons},
            )
    except IntegrityError:
        raise AlreadyTrustedError(name) from None
    return flagger


def end_trust(*, sender: Sender, reporter_id: str, actor_name: str) -> bool:
    """False when nobody trusted this reporter."""
    hidden = pseudonym(sender_id=sender.pk, reporter_id=reporter_id)
    with transaction.atomic():
        trusted = TrustedFlagger.objects.filter(sender=sender, pseudonym=hidden, ended_at=None)
        flagger = trusted.select_for_update().first()
        if flagger is None:
            return False
        trusted.update(ended_at=Now())
        write_audit(action="reporter_trust_ended", of=flagger, actor_name=actor_name)
    return True
