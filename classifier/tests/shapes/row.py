"""A row of the table: what a server sends, and what must come of it. The steps are the stand-in's.

The catalogue's letters mean here: A is `Recorded`. R is put off at the cost of an attempt, and after
three of them parked for a person. H is parked at once, and raised. C is a rest of the model for all.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from classifier.models import WaitingReason

Step = Mapping[str, Any]

# Never in a log: the first stands in every reported text, the second in what servers make up.
CONTENT_MARK = "wombat"
REPLY_MARK = "narwhal"
KEY = "sk-quokka-key"

HARMLESS = f"The {CONTENT_MARK} festival opens at noon."
THREAT = f"Tell the {CONTENT_MARK}: I will kill you tomorrow"


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A verdict, the same as the stand-in's undressed one but for `changes` of its row."""

    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PutOff:
    """No verdict: the report waits for this reason."""

    reason: WaitingReason
    attempts: int = 0
    parked: bool = False
    floor: int = 0
    rests: bool = False
    """All reports leave the model alone for a while."""
    learns: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the model afterwards."""
    held_back: bool = False
    """Another question was wrong; this report is asked again at once, at no cost."""


Outcome = Recorded | PutOff


@dataclass(frozen=True, kw_only=True)
class Shape:
    """`source` is a number of the project's catalogue (3.3 #…, 7.…) or "own"."""

    source: str
    step: Step
    outcome: Outcome
    model: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the model before."""
    manners: Mapping[str, Any] = field(default_factory=dict)
    text: str = HARMLESS
    deadline: float = 10.0
    calls: int = 1
    """How many calls it takes."""
    differs: str = ""
    """Where the catalogue would have it otherwise: why it is so here."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A public bug report played again: several answers in a row, each with its outcome."""

    source: str
    steps: tuple[Step | None, ...]
    """One a question; None: the normal answer."""
    outcomes: tuple[Outcome, ...]
    one_report: bool = True
    """The same report is asked about again; else each question is about a new one."""
    model: Mapping[str, Any] = field(default_factory=dict)
    manners: Mapping[str, Any] = field(default_factory=dict)
    text: str = HARMLESS
    deadline: float = 10.0
    waits: tuple[float, ...] = ()
    """After each question, the least seconds until the next one."""
    formats: tuple[str | None, ...] = ()
    """The response format of each question."""
    rooms: tuple[int, ...] = ()
    """The output limit of each question."""
    calls_each: int = 1
    differs: str = ""


def shapes(
    *rows: "tuple[str, Step, Outcome]",
    **fields: Any,
) -> list[Shape]:
    """Rows that share the other fields."""
    return [
        Shape(source=source, step=step, outcome=outcome, **fields) for source, step, outcome in rows
    ]


# --- Outcomes

Reason = WaitingReason
RECORDED = Recorded()
INVALID = PutOff(reason=Reason.ANSWER_INVALID, attempts=1)
MISPLACED = PutOff(reason=Reason.ANSWER_MISPLACED, attempts=1)
CUT = PutOff(reason=Reason.ANSWER_CUT, attempts=1)
TRUNCATED = PutOff(reason=Reason.INPUT_TRUNCATED, attempts=1)
REFUSED = PutOff(reason=Reason.MODEL_REFUSED, attempts=1, parked=True, floor=3)
FILTERED = PutOff(reason=Reason.CONTENT_FILTERED, attempts=1, parked=True, floor=3)
TOO_LONG = PutOff(reason=Reason.TOO_LONG, attempts=1, parked=True)
UNAVAILABLE = PutOff(reason=Reason.PROVIDER_UNAVAILABLE)
TIMEOUT = PutOff(reason=Reason.PROVIDER_TIMEOUT)
REJECTED = PutOff(reason=Reason.PROVIDER_REJECTED)
RATE_LIMITED = PutOff(reason=Reason.PROVIDER_RATE_LIMITED, rests=True)
QUOTA = PutOff(reason=Reason.PROVIDER_QUOTA, rests=True)
CREDENTIALS = PutOff(reason=Reason.PROVIDER_CREDENTIALS, rests=True)
UNKNOWN_MODEL = PutOff(reason=Reason.UNKNOWN_MODEL, rests=True)
WRONG_MODEL = PutOff(reason=Reason.WRONG_MODEL, rests=True)
RESTING = PutOff(reason=Reason.PROVIDER_UNAVAILABLE, rests=True)


# --- Steps


def content(value: Any) -> Step:
    return {"kind": "content", "content": value}


def verdict(**changes: Any) -> Step:
    return {"kind": "verdict", **changes}


def edit(*replace: list[str], **more: Any) -> Step:
    return {"kind": "edit", "replace": list(replace), **more}


def number(written: str) -> Step:
    """A confidence that no JSON writer would write."""
    return edit(['"$number"', written], add={"confidence": "$number"})


def dress(before: str = "", after: str = "", **more: Any) -> Step:
    return {"kind": "dress", "before": before, "after": after, **more}


def message(**fields: Any) -> Step:
    return {"kind": "message", "fields": fields}


def choice(**fields: Any) -> Step:
    return {"kind": "choice", "fields": fields}


def envelope(*without: str, **fields: Any) -> Step:
    return {"kind": "envelope", "fields": fields, "without": list(without)}


def finish(reason: Any, **more: Any) -> Step:
    return {"kind": "finish", "finish_reason": reason, **more}


def error(status: int, **fields: Any) -> Step:
    """An error; servers quote the text and the key in their messages."""
    if "body" not in fields:
        fields = {"message": f"{REPLY_MARK}: {HARMLESS} Bearer {KEY}", **fields}
    return {"kind": "error", "status": status, **fields}


def body(value: Any, *, status: int = 200, **headers: str) -> Step:
    """A whole HTTP body: text as it is, bytes, or a JSON value; headers are written with _."""
    step: dict[str, Any] = {"kind": "body", "status": status}
    if isinstance(value, bytes):
        step["body_base64"] = base64.b64encode(value).decode()
    else:
        step["body"] = value if isinstance(value, str) else json.dumps(value)
    return {**step, "headers": {name.replace("_", "-"): each for name, each in headers.items()}}


def html(status: int, **headers: str) -> Step:
    page = f"<html><head><title>{REPLY_MARK}</title></head><body>{HARMLESS} {KEY}</body></html>"
    return body(page, status=status, **{"Content_Type": "text/html; charset=UTF-8", **headers})


def raw(*lines: str, then: bytes = b"") -> Step:
    """These header lines and this body, byte for byte."""
    return {"kind": "raw", "base64": base64.b64encode(_head(lines) + then).decode()}


def headed(*lines: str, then: bytes = b"") -> Step:
    """These header lines, these bytes and the normal answer, until the connection closes."""
    return {**raw(*lines, then=then), "answer": True}


def _head(lines: tuple[str, ...]) -> bytes:
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1") if lines else b""


# A whole envelope around a verdict that a lenient reader would take for safe.
SAFE = '{"ref": "r", "summary": "Fine.", "category": "none", "confidence": 0.99, "quotes": []}'


def completion(text: Any = SAFE, **changes: Any) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "stand-in-not-a-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940},
        **changes,
    }
