"""Which kinds of step there are and which fields each takes; the table is in `script`."""

import base64
import binascii
import math
from collections.abc import Callable
from typing import Any, NamedTuple

MAX_SECONDS = 24 * 3600
MAX_MEGABYTES = 1024


class ScriptError(ValueError):
    """The script or the manners cannot be read; the text is a sentence for whoever wrote it."""


class _Kind(NamedTuple):
    """`optional` None: fields beyond the required ones are not looked at."""

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] | None = None


_KINDS = {
    "verdict": _Kind(),
    "content": _Kind(("content",)),
    "body": _Kind(),
    "error": _Kind(("status",)),
    "redirect": _Kind(("location",), ("status", "headers")),
    "delay": _Kind(("seconds",)),
    "hang": _Kind(("seconds",)),
    "drip": _Kind(("seconds", "interval")),
    "drip_headers": _Kind(("seconds", "interval"), ()),
    "cut": _Kind(),
    "drop_after_answer": _Kind(),
    "close": _Kind((), ()),
    "reset": _Kind((), ()),
    "raw": _Kind(("base64",), ("answer",)),
    "gzip": _Kind(("megabytes",), ()),
    "flood": _Kind(("megabytes",), ()),
    "swap": _Kind(("seconds",), ()),
    "finish": _Kind(("finish_reason",)),
    "refusal": _Kind(("refusal",)),
    "wrong_ref": _Kind(),
    "wrong_model": _Kind(("model",)),
    "usage": _Kind(),
    "dress": _Kind((), ("before", "after", "parts")),
    "edit": _Kind((), ("replace", "drop", "add")),
    "message": _Kind(("fields",), ()),
    "choice": _Kind(("fields",), ()),
    "envelope": _Kind((), ("fields", "without")),
}
KINDS = frozenset(_KINDS)


def is_number(value: Any, *, most: float = math.inf) -> bool:
    """A finite number from 0 to `most`; true and false are none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    # NaN is not within any range.
    return 0 <= value <= most and value != math.inf


def is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_seconds(value: Any) -> bool:
    return is_number(value, most=MAX_SECONDS)


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and 100 <= value <= 999


def _is_headers(value: Any) -> bool:
    return isinstance(value, dict) and not any(
        mark in f"{name}{text}" for name, text in value.items() for mark in "\r\n"
    )


def _is_base64(value: Any) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return False
    return True


def _is_replacements(value: Any) -> bool:
    return isinstance(value, list) and all(
        is_texts(pair) and len(pair) == len(("old", "new")) and pair[0] for pair in value
    )


_Check = tuple[Callable[[Any], bool], str]

_SECONDS: _Check = (_is_seconds, f"a number of seconds from 0 to {MAX_SECONDS}")
_TEXT: _Check = (lambda value: isinstance(value, str), "a text")
_OBJECT: _Check = (lambda value: isinstance(value, dict), "an object")
_BOOLEAN: _Check = (lambda value: isinstance(value, bool), "true or false")
_BASE64: _Check = (_is_base64, "a text in base64")
_TEXTS: _Check = (is_texts, "a list of texts")

_FIELDS: dict[str, _Check] = {
    "seconds": _SECONDS,
    "interval": _SECONDS,
    "after_seconds": _SECONDS,
    "megabytes": (
        lambda value: is_number(value, most=MAX_MEGABYTES),
        f"a number from 0 to {MAX_MEGABYTES}",
    ),
    "status": (_is_status, "an HTTP status"),
    "headers": (_is_headers, "an object of headers, each on one line"),
    "location": (lambda value: _is_headers({"Location": value}), "a text on one line"),
    "body": _TEXT,
    "body_base64": _BASE64,
    "base64": _BASE64,
    "before": _TEXT,
    "after": _TEXT,
    "answer": _BOOLEAN,
    "parts": _BOOLEAN,
    "replace": (_is_replacements, "a list of pairs of texts, the first of each not empty"),
    "drop": _TEXTS,
    "without": _TEXTS,
    "add": _OBJECT,
    "fields": _OBJECT,
}


def check_step(step: Any) -> None:
    """Raise ScriptError where this is no step of the table."""
    if not isinstance(step, dict) or step.get("kind") not in list(_KINDS):
        raise ScriptError(f"A step is an object whose kind is one of: {', '.join(_KINDS)}.")
    kind = step["kind"]
    required, optional = _KINDS[kind]
    for field in required:
        if field not in step:
            raise ScriptError(f"A step of kind {kind} needs {field}.")
    if kind == "body" and not step.keys() & {"body", "body_base64"}:
        raise ScriptError("A step of kind body needs body or body_base64.")
    if optional is not None:
        known = {"kind", "after_seconds", *required, *optional}
        if unknown := step.keys() - known:
            raise ScriptError(f"A step of kind {kind} has no field {min(unknown)!r}.")
    for field, value in step.items():
        # Every other field of a verdict is the verdict's own, of whatever type.
        if field in _FIELDS and (kind != "verdict" or field == "after_seconds"):
            _check_field(kind, field, value)


def _check_field(kind: str, field: str, value: Any) -> None:
    fits, what = _OBJECT if (kind, field) == ("error", "body") else _FIELDS[field]
    if not fits(value):
        raise ScriptError(f"{field} is {what} in a step of kind {kind}.")
