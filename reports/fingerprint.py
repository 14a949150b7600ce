"""One value for one body: an HMAC over canonical JSON, and the reporter's pseudonym.

Both are keyed with `EVIDENCE_KEY`, so neither can be guessed back from a list of likely inputs.
"""

import hashlib
import hmac
import json
from decimal import Context, Decimal
from typing import Any

from django.conf import settings

FINGERPRINT_VERSION = 1
_EXACT = Context(prec=400)  # longer than any number that a body may hold


def fingerprint(document: Any) -> bytes:
    """32 bytes; equal for equal JSON values, whatever the order of keys, white space or escapes.

    Over the body as it was sent, before defaults: a field added to the contract later changes no
    fingerprint. 1, 1.0 and 1e0 are one number, as PostgreSQL's jsonb has it.
    """
    canonical = json.dumps(
        _canonical(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return _keyed(b"fingerprint", canonical.encode()).digest()


def pseudonym(*, sender_id: int, reporter_id: str) -> str:
    """32 hex digits that stand for one reporter at one sender."""
    return _keyed(b"reporter", f"{sender_id}\0{reporter_id}".encode()).hexdigest()[:32]


def author_pseudonym(*, sender_id: int, author_id: str) -> str:
    """32 hex digits that stand for one author at one sender; other ones than as a reporter."""
    return _keyed(b"author", f"{sender_id}\0{author_id}".encode()).hexdigest()[:32]


def _keyed(purpose: bytes, message: bytes) -> "hmac.HMAC":
    # The purpose parts the uses of one key.
    return hmac.new(settings.EVIDENCE_KEY.encode(), purpose + b"\0" + message, hashlib.sha256)


def _canonical(value: Any) -> Any:
    """Numbers by value and apart from strings, so that no two documents share a canonical form."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return "#" + ("0" if value == 0 else str(Decimal(repr(value)).normalize(_EXACT)))
    if isinstance(value, str):
        return "=" + value
    if isinstance(value, dict):
        return {key: _canonical(each) for key, each in value.items()}
    return [_canonical(each) for each in value]
