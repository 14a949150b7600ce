"""What tests tell the stand-in to answer instead, and what it has been asked. Safe among threads.

A script is `{"match": str or null, "times": int or null, "answers": [step, ...]}`. A request whose
evidence contains `match` (null: every request) takes the next step of the first script that has
one left. The list of answers is gone through `times` times (default 1; null: without end);
afterwards answers are normal again.

| kind | fields | what the client gets |
|---|---|---|
| verdict | any field of the verdict | the normal verdict with these fields instead |
| content | content: str or null | this as the assistant's content |
| body | body, status=200, headers={} | this as the whole HTTP body |
| error | status, code, message, type, headers={} | an OpenAI-style error |
| delay | seconds | the normal answer, later |
| hang | seconds | nothing; the connection closes after that time |
| drip | seconds, interval | blank lines for that time, then the normal answer |
| cut | | half of the normal body, then the connection closes |
| drop_after_answer | | the normal answer, then the connection closes without notice |
| finish | finish_reason, content (default: normal) | that finish reason |
| refusal | refusal | content null and this refusal |
| wrong_ref | | the normal verdict with another ref |
| wrong_model | model | the normal answer in the name of another model |
| usage | prompt_tokens, completion_tokens | the normal answer with these counts |
"""

import threading
import time
from collections import deque
from typing import Any

KEPT_CALLS = 50_000

_REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "verdict": (),
    "content": ("content",),
    "body": ("body",),
    "error": ("status",),
    "delay": ("seconds",),
    "hang": ("seconds",),
    "drip": ("seconds", "interval"),
    "cut": (),
    "drop_after_answer": (),
    "finish": ("finish_reason",),
    "refusal": ("refusal",),
    "wrong_ref": (),
    "wrong_model": ("model",),
    "usage": (),
}
_FIELD_TYPES: dict[str, type | tuple[type, ...]] = {
    "seconds": (int, float),
    "interval": (int, float),
    "status": int,
    "headers": dict,
    "body": str,
}


class ScriptError(ValueError):
    """The script cannot be read; the text is a sentence for whoever wrote it."""


class Script:
    """The steps that are still to be answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []

    def add(self, script: Any) -> None:
        """Append one script; raises ScriptError and appends nothing when it is malformed."""
        entry = _checked(script)
        with self._lock:
            self._entries.append(entry)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()

    def next_step(self, searchable: str) -> dict[str, Any] | None:
        """The step for a request whose evidence reads like this; None for a normal answer."""
        with self._lock:
            for entry in self._entries:
                if entry["match"] is not None and entry["match"] not in searchable:
                    continue
                step: dict[str, Any] = entry["answers"][entry["position"]]
                self._advance(entry)
                return step
        return None

    def _advance(self, entry: dict[str, Any]) -> None:
        entry["position"] += 1
        if entry["position"] < len(entry["answers"]):
            return
        entry["position"] = 0
        if entry["times"] is not None:
            entry["times"] -= 1
            if entry["times"] == 0:
                # By identity: another script may read the same.
                self._entries = [other for other in self._entries if other is not entry]


class Calls:
    """The last 50,000 requests for a completion, oldest first.

    One call: `{"time": seconds since 1970, "ref", "item_type", "message_ids", "text": first 200
    characters of the judged text, "model", "step": kind or null, "status": HTTP status or null}`.
    A call stands here from its arrival on; its status is null until an answer is sent.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: deque[dict[str, Any]] = deque(maxlen=KEPT_CALLS)

    def add(self, call: dict[str, Any]) -> dict[str, Any]:
        """Log an arriving call; the returned one is for `set_status`."""
        kept = {"time": time.time(), **call, "status": None}
        with self._lock:
            self._calls.append(kept)
        return kept

    def set_status(self, call: dict[str, Any], status: int | None) -> None:
        with self._lock:
            call["status"] = status

    def all(self) -> list[dict[str, Any]]:
        with self._lock:
            return [dict(call) for call in self._calls]

    def clear(self) -> None:
        with self._lock:
            self._calls.clear()


def _checked(script: Any) -> dict[str, Any]:
    if not isinstance(script, dict):
        raise ScriptError("A script is a JSON object.")
    if unknown := script.keys() - {"match", "times", "answers"}:
        raise ScriptError(f"A script has no field {min(unknown)!r}.")
    match, times, answers = script.get("match"), script.get("times", 1), script.get("answers")
    if match is not None and not isinstance(match, str):
        raise ScriptError("match is a text or null.")
    if times is not None and (isinstance(times, bool) or not isinstance(times, int) or times < 1):
        raise ScriptError("times is a positive whole number or null.")
    if not isinstance(answers, list) or not answers:
        raise ScriptError("answers is a list of at least one step.")
    for step in answers:
        _check_step(step)
    return {"match": match, "times": times, "answers": answers, "position": 0}


def _check_step(step: Any) -> None:
    if not isinstance(step, dict) or step.get("kind") not in _REQUIRED_FIELDS:
        kinds = ", ".join(_REQUIRED_FIELDS)
        raise ScriptError(f"A step is an object whose kind is one of: {kinds}.")
    for field in _REQUIRED_FIELDS[step["kind"]]:
        if field not in step:
            raise ScriptError(f"A step of kind {step['kind']} needs {field}.")
    for field, expected in _FIELD_TYPES.items():
        if step["kind"] != "verdict" and field in step and not isinstance(step[field], expected):
            raise ScriptError(f"{field} has the wrong type in a step of kind {step['kind']}.")
