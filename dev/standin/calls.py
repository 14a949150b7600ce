"""What the stand-in has been asked. Safe among threads; keeps digests, never a prompt."""

import hashlib
import sys
import threading
import time
from collections import deque
from typing import Any

from dev.standin.evidence import judged_messages, last_user_text, message_text

KEPT_CALLS = 50_000
_LOGGED_TEXT = 200
_BOUNDARY = "-----BEGIN EVIDENCE "


class Calls:
    """The last 50,000 requests for a completion, oldest first.

    One call: `{"time": seconds since 1970, "ref", "item_type", "message_ids", "text": first 200
    characters of the judged text, "model", "step": kind (scripted or misbehaved) or null,
    "parameters": sorted names of the request, "response_format": its type or null, "temperature",
    "max_tokens": the value of either name, "prefix": see `prefix_digest`, "status": HTTP status
    or null, "answered": seconds since 1970 or null, "retry_after": the header answered or null}`.
    A call stands here from its arrival on; the last three are null until an answer is sent, and
    for good where the client went away or was left without one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: deque[dict[str, Any]] = deque(maxlen=KEPT_CALLS)

    def add(self, call: dict[str, Any]) -> dict[str, Any]:
        """Log an arriving call; the returned one is for the setters below."""
        kept = {"time": time.time(), **call, "status": None, "answered": None, "retry_after": None}
        with self._lock:
            self._calls.append(kept)
        return kept

    def set_status(self, call: dict[str, Any], status: int, retry_after: str | None) -> None:
        with self._lock:
            call |= {"status": status, "retry_after": retry_after}

    def set_answered(self, call: dict[str, Any]) -> None:
        with self._lock:
            call["answered"] = time.time()

    def set_unanswered(self, call: dict[str, Any]) -> None:
        with self._lock:
            call |= {"status": None, "answered": None, "retry_after": None}

    def all(self) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(call) for call in self._calls]

    def clear(self) -> None:
        with self._lock:
            self._calls.clear()


def call_of(
    request: dict[str, Any], evidence: dict[str, Any] | None, step: dict[str, Any] | None
) -> dict[str, Any]:
    """The log's entry for one request, without the prompt."""
    judged = judged_messages(evidence) if evidence is not None else []
    wished = request.get("response_format")
    limit = request.get("max_tokens", request.get("max_completion_tokens"))
    return {
        "ref": evidence["ref"] if evidence is not None else None,
        "item_type": evidence.get("item_type") if evidence is not None else None,
        "message_ids": [message.get("id") for message in judged],
        "text": "\n".join(message["text"] for message in judged)[:_LOGGED_TEXT],
        "model": request["model"],
        "step": step["kind"] if step is not None else None,
        # Interned: thousands of calls share these few texts.
        "parameters": sorted(sys.intern(name) for name in request),
        "response_format": response_format_type(wished),
        "temperature": _number(request.get("temperature")),
        "max_tokens": _number(limit),
        "prefix": prefix_digest(request["messages"]),
    }


def response_format_type(wished: Any) -> str | None:
    """The type that a `response_format` names."""
    found = wished.get("type") if isinstance(wished, dict) else None
    return found if isinstance(found, str) else None


def prefix_digest(messages: list[Any]) -> str | None:
    """SHA-256 in hex of what a provider can cache; null where there is no boundary.

    That is, in UTF-8, every system message followed by the last user message up to where
    "-----BEGIN EVIDENCE " begins, for the first time.
    """
    before, boundary, _ = last_user_text(messages).partition(_BOUNDARY)
    if not boundary:
        return None
    systems = [one for one in messages if isinstance(one, dict) and one.get("role") == "system"]
    text = "".join(message_text(one) for one in systems) + before
    return sys.intern(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) else None
