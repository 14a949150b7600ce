"""What is known of a model's limit: read from the provider, lowered by its errors, recorded by people.

No limit stands in code. A model without one is not asked. The network is used outside any
transaction; what was read is written in one statement, unless the row has changed meanwhile.
"""

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from classifier import provider
from classifier.limits import (
    BESIDE,
    LEAST_TOKENS,
    MOST_TOKENS,
    Limit,
    find_entry,
    hash_entry,
    read_beside,
    read_limit,
    read_list,
    read_shutdown,
    smallest,
)
from classifier.models import ProviderModel
from classifier.provider import Fault, ProviderError
from classifier.strict_json import StrictJSONError
from reports.audit import write_audit

log = logging.getLogger(__name__)

# The nightly reading, with some hours to spare before anybody is alarmed, is within a day.
CATALOGUE_MAX_AGE = timedelta(days=1)
# Time to try another model, load a policy with it and compare.
SHUTDOWN_NOTICE = timedelta(days=30)

# Sources of a limit that no server's field is.
ERROR, RECORD = "error", "record"


class RecordRefusedError(ValueError):
    """Not a record that anybody could rely on; the text is the sentence to show."""


# --- Reading the provider's list


@dataclass(frozen=True)
class Synced:
    """What one reading came to."""

    model: ProviderModel
    """The row as it is now."""
    before: Limit | None
    """Its limit before, of list or error."""
    failure: ProviderError | None = None
    """Why nothing could be read; then nothing has changed."""


def sync_model(
    model: ProviderModel,
    *,
    forget_errors: bool = False,
    actor: User | None = None,
    actor_name: str = "",
) -> Synced:
    """Read what the configured provider says of its model, and store it with source, time and hash.

    Call it outside any transaction. `forget_errors`: the server may read more than when an error
    lowered the limit, so that the list counts again. Another sync, or an error, in between wins.
    A worker that reads it before it asks names nobody, and leaves no audit row.
    """
    if model.base_url != settings.OPENAI_BASE_URL:
        raise ValueError(f"{model} is not at the configured provider")
    before = _stored(model)
    try:
        entry = find_entry(read_list(provider.fetch("models")), model.name)
    except ProviderError as error:
        return Synced(model, before, failure=error)
    except StrictJSONError as error:
        failure = ProviderError(Fault.UNAVAILABLE, status=200, code=error.rule)
        return Synced(model, before, failure=failure)
    values: dict[str, object] = {"listed_at": Now(), "listed_hash": ""}
    found = None
    if entry is not None:
        found = read_limit(entry)
        if found is None or found.is_trained:
            found = _beside(model.name) or found
        values |= {"listed_hash": hash_entry(entry), "shutdown_on": read_shutdown(entry)}
        if before and values["listed_hash"] == model.listed_hash:
            found = _against(before, found, forget_errors=forget_errors)
    values |= {
        "context_limit": found.tokens if found else None,
        "context_source": found.source if found else "",
        "counts_answer": found.counts_answer if found else True,
    }
    as_read = Q(**{name: getattr(model, name) for name in ("listed_at", *_LIMIT_FIELDS)})
    with transaction.atomic():
        changed = ProviderModel.objects.filter(as_read, pk=model.pk).update(**values)
        if changed and (actor or actor_name):
            write_audit(
                action="list_read",
                of=model,
                actor=actor,
                actor_name=actor_name,
                detail={"limit": values["context_limit"], "forget_errors": forget_errors},
            )
    model.refresh_from_db()
    if changed and _stored(model) != before:
        log.info("model %s: limit %s by %s", model.name, model.context_limit, model.context_source)
    return Synced(model, before)


_LIMIT_FIELDS = ("context_limit", "context_source", "counts_answer", "listed_hash")


def _beside(name: str) -> Limit | None:
    """What the first side endpoint that knows the model says; most servers have none of them."""
    trained = None
    for place in BESIDE:
        try:
            body = provider.fetch(place.path.format(name=quote(name, safe="")))
        except ProviderError as error:
            if error.fault is Fault.TIMEOUT:
                break  # it would keep us as long at each
            continue
        found = read_beside(place, body, name)
        if found and not found.is_trained:
            return found
        trained = trained or found
    return trained


def _against(before: Limit, found: Limit | None, *, forget_errors: bool) -> Limit | None:
    """What counts of the row's limit and what was found now, while the list's entry is the same."""
    if before.source == ERROR:
        # The entry said more already when the error came: what happened outweighs what is said,
        # until the provider says something else.
        higher = found is None or found.tokens >= before.tokens
        return before if higher and not forget_errors else found
    if before.source.startswith("/") and not before.is_trained and (not found or found.is_trained):
        # It was loaded when the side endpoint told its limit and is not now (Ollama unloads after
        # five minutes). Nobody would ask it, and so load it again, without a limit.
        return before
    return found


def lower_limit(model: ProviderModel, tokens: int) -> bool:
    """An error said that the model takes no more than `tokens`. False: that is nothing new.

    Only downward: a number misread costs some more pieces then, and never what a server cuts off.
    """
    if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        return False
    higher = Q(context_limit=None) | Q(context_limit__gt=tokens)
    # Errors mostly mean prompt and answer together, and where not, room for an answer harms nobody.
    lowered = ProviderModel.objects.filter(higher, pk=model.pk).update(
        context_limit=tokens, context_source=ERROR, counts_answer=True
    )
    if lowered:
        log.warning("model %s: takes %d tokens only, says its error", model.name, tokens)
        model.refresh_from_db(fields=["context_limit", "context_source", "counts_answer"])
    return bool(lowered)


# --- What counts


def _stored(model: ProviderModel) -> Limit | None:
    if model.context_limit is None:
        return None
    return Limit(model.context_limit, model.context_source, model.counts_answer)


def effective_limit(model: ProviderModel, *, today: date) -> Limit | None:
    """The smaller of what the provider said and an unexpired record; None: not to be asked."""
    limits = [_stored(model)]
    if model.recorded_limit is not None and not is_expired(model, today=today):
        limits.append(Limit(model.recorded_limit, RECORD))
    return smallest(limit for limit in limits if limit)


def is_expired(model: ProviderModel, *, today: date) -> bool:
    """True where there is a record and its last day is over."""
    return model.recorded_until is not None and model.recorded_until < today


def is_stale(model: ProviderModel, now: datetime) -> bool:
    """True where the list was read too long ago, or never. It shows; the limit counts all the same."""
    return model.listed_at is None or now - model.listed_at > CATALOGUE_MAX_AGE


def is_unlisted(model: ProviderModel) -> bool:
    """True where the list was read and held no model of this name."""
    return model.listed_at is not None and not model.listed_hash


# --- Records


def record_limit(  # noqa: PLR0913 - a record, and who made it
    *,
    model: ProviderModel,
    tokens: int,
    evidence: str,
    until: date,
    today: date,
    actor: User | None = None,
    actor_name: str = "",
) -> None:
    """State the limit that `evidence` (a URL) gives, up to and with the day `until`.

    It replaces an earlier record, and lowers but never raises what the provider itself says.
    Raises `RecordRefusedError`.
    """
    if not LEAST_TOKENS <= tokens <= MOST_TOKENS:
        raise RecordRefusedError(f"A limit is between {LEAST_TOKENS:,} and {MOST_TOKENS:,} tokens.")
    check_evidence(evidence=evidence, until=until, today=today)
    with transaction.atomic():
        ProviderModel.objects.filter(pk=model.pk).update(
            recorded_limit=tokens, recorded_evidence=evidence, recorded_until=until
        )
        write_audit(
            action="limit_recorded",
            of=model,
            actor=actor,
            actor_name=actor_name,
            detail={"tokens": tokens, "evidence": evidence, "until": until.isoformat()},
        )
    model.refresh_from_db()


def check_evidence(*, evidence: str, until: date, today: date) -> None:
    """Raises `RecordRefusedError` unless `evidence` is a URL and `until` still to come."""
    try:
        URLValidator(schemes=["http", "https"])(evidence)
    except ValidationError:
        evidence = ""
    if not evidence or len(evidence) > 500:
        raise RecordRefusedError("The evidence is the address of a page that states it.")
    if until < today:
        raise RecordRefusedError("The last day of the record is over already.")


def drop_record(*, model: ProviderModel, actor: User | None = None, actor_name: str = "") -> bool:
    """Take the record back; False when there is none."""
    with transaction.atomic():
        dropped = ProviderModel.objects.filter(pk=model.pk, recorded_limit__isnull=False).update(
            recorded_limit=None, recorded_evidence="", recorded_until=None
        )
        if dropped:
            write_audit(action="limit_record_dropped", of=model, actor=actor, actor_name=actor_name)
    model.refresh_from_db()
    return bool(dropped)
