"""A server that is not well: a share of its calls gets a step nobody scripted.

`{"seed": 0, "share": 1, "slow": 1, "kinds": [] }`: the n-th call since these manners were set gets
the same step for the same seed. `slow` bounds every wait in seconds, and every Retry-After that is
a number; `kinds` narrows the choice, empty: every kind of `script`. No step gives a valid verdict
other than the normal one: what a lenient reader finds in it is the normal verdict or none.
"""

import base64
import itertools
import random
from collections.abc import Iterable
from typing import Any

Step = dict[str, Any]

_MEGABYTES = 4
# The discard port: nothing listens there.
_NOWHERE = "http://127.0.0.1:9/v1/chat/completions"


class Misbehaviour:
    """The fields as in the module's docstring. Safe among threads."""

    def __init__(
        self, *, seed: int = 0, share: float = 1, slow: float = 1, kinds: Iterable[str] = ()
    ) -> None:
        self._seed = seed
        self._share = share
        self._slow = slow
        self._kinds = sorted(kinds) or sorted(_STEPS)
        self._numbers = itertools.count()

    def next_step(self) -> Step | None:
        """The step of the next call; None: it is answered as if nothing were wrong."""
        # By number, not from one stream: threads may take their numbers in any order.
        chance = random.Random(f"{self._seed}:{next(self._numbers)}")  # noqa: S311
        if chance.random() >= self._share:
            return None
        kind = chance.choice(self._kinds)
        step: Step = {"kind": kind} | chance.choice(_STEPS[kind])
        if kind in _TIMED:
            step["seconds"] = round(chance.uniform(0, self._slow), 3)
        if kind in _DRIPPING:
            step["interval"] = round(max(step["seconds"] / 10, 0.01), 3)
        if "retry-after" in step.get("headers", {}):
            value = chance.choice(("0", "-1", "soon", "", "nan", f"{self._slow:g}"))
            step["headers"] = {"retry-after": value}
        return step


def _written(value: str) -> Step:
    """A confidence that only a text can hold."""
    return {"add": {"confidence": "$number"}, "replace": [['"$number"', value]]}


def _bytes(value: bytes) -> Step:
    return {"base64": base64.b64encode(value).decode()}


_CHOICE = {
    "index": 0,
    "message": {"role": "assistant", "content": "$verdict"},
    "finish_reason": "stop",
}
_CALLED = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "verdict", "arguments": "$verdict"},
}

_TIMED = frozenset({"delay", "hang", "drip", "drip_headers", "swap"})
_DRIPPING = frozenset({"drip", "drip_headers"})
_STEPS: dict[str, tuple[Step, ...]] = {
    "verdict": (
        {"category": "harmless"},
        {"category": "تهديد"},
        {"category": None},
        {"category": ["none"]},
        {"confidence": 95},
        {"confidence": "0.9"},
        {"confidence": True},
        {"confidence": None},
        {"confidence": "high"},
        {"confidence": "90%"},
        {"confidence": -0.1},
        {"confidence": 1e12},
        {"summary": None},
        {"summary": "a" * 50_000},
        {"quotes": "none"},
        {"quotes": ["a"] * 1000},
        {"action": "remove"},
    ),
    "content": (
        {"content": None},
        {"content": ""},
        {"content": "\n" * 900},
        {"content": "I'll evaluate this: ABUSE…"},
        {"content": "unsafe\nS1, S2"},
        {"content": "null"},
        {"content": "[]"},
        {"content": "<think>The author says"},
        {"content": "[" * 5000},
    ),
    "body": (
        {"body": ""},
        {"body": "null"},
        {"body": "[]"},
        {"body": '{"choices": ['},
        {"body": '{"error": {"message": "overloaded"}}'},
        {"body": "<html>", "headers": {"Content-Type": "text/html"}},
        {"body_base64": "/////w=="},
        {"body": "", "status": 204},
    ),
    "error": (
        {"status": 429, "code": "rate_limit_exceeded"},
        {"status": 429, "message": "Try again in 60 seconds"},
        {"status": 429, "headers": {"retry-after": ""}},
        {"status": 500},
        {"status": 502, "body": {"detail": "Bad gateway"}},
        {"status": 503, "headers": {"retry-after": ""}},
        {"status": 504},
        {"status": 529, "type": "overloaded_error"},
    ),
    "redirect": ({"location": _NOWHERE}, {"location": _NOWHERE, "status": 302}),
    "delay": ({},),
    "hang": ({},),
    "drip": ({},),
    "drip_headers": ({},),
    "cut": ({},),
    "drop_after_answer": ({},),
    "close": ({},),
    "reset": ({},),
    "raw": (
        _bytes(b"\x15\x03\x01\x00\x02\x02\x0a"),
        _bytes(b"SSH-2.0-server\r\n"),
        _bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{"),
        _bytes(b"HTTP/1.1 200 OK\r\nContent-Le"),
        _bytes(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    ),
    "gzip": ({"megabytes": _MEGABYTES},),
    "flood": ({"megabytes": _MEGABYTES},),
    "swap": ({},),
    "finish": (
        {"finish_reason": "length"},
        {"finish_reason": "length", "content": '{"category":' + "\n" * 900},
        {"finish_reason": "content_filter"},
        {"finish_reason": "error"},
        {"finish_reason": None},
    ),
    "refusal": ({"refusal": "I cannot help with that."},),
    "wrong_ref": ({},),
    "wrong_model": ({"model": "a-cheaper-one"},),
    "usage": ({"prompt_tokens": 1}, {"prompt_tokens": -1}, {"completion_tokens": 0}),
    "dress": (
        {"before": "```json\n", "after": "\n```"},
        {"before": "\ufeff \n", "after": "\n\n"},
        {"before": "<think>Hm.</think>"},
        {"before": "Hm.</think>"},
        {"before": "<|channel|>final<|message|>"},
        {"before": "Here is the verdict: "},
        {"after": "\nOn reflection, I am not sure."},
        {"after": "\x00"},
        {"parts": True},
    ),
    "edit": (
        {"replace": [['"', "'"]]},
        {"replace": [['"', "“"]]},
        {"replace": [["}", ",}"]]},
        {"replace": [['"summary": "', '"summary": "\n']]},
        {"replace": [['"summary": "', '"summary": "\\u0000']]},
        {"replace": [['"summary": "', '"summary": "\\ud800']]},
        {"replace": [['"category":', '"category": "spam", "category":']]},
        {"replace": [['"category": "', '"category": " ']]},
        {"drop": ["ref"]},
        {"drop": ["category"]},
        {"drop": ["confidence"]},
        _written("NaN"),
        _written("Infinity"),
        _written("-Infinity"),
        _written("1e999"),
        _written("٠٫٥"),
        _written("0,5"),
    ),
    "message": (
        {"fields": {"content": None, "reasoning_content": "$verdict"}},
        {"fields": {"content": None, "reasoning": "$verdict"}},
        {"fields": {"content": None, "tool_calls": [_CALLED]}},
        {"fields": {"content": {"text": "$verdict"}}},
        {"fields": {"content": [{"type": "text", "text": "$verdict"}]}},
        {"fields": {"content": 7}},
        {"fields": {"refusal": "I cannot help with that."}},
        {"fields": {"role": "user"}},
    ),
    "choice": (
        {"fields": {"message": None}},
        {"fields": {"message": "$verdict"}},
        {"fields": {"index": 1}},
        {"fields": {"finish_reason": 0}},
    ),
    "envelope": (
        {"fields": {"choices": None}},
        {"fields": {"choices": []}},
        {"fields": {"choices": [_CHOICE, _CHOICE]}},
        {"fields": {"choices": "$verdict"}},
        {"fields": {"usage": None}},
        {"fields": {"model": None}},
        {"fields": {"error": {"message": "overloaded"}}},
        {"without": ["choices"]},
        {"without": ["usage", "model"]},
    ),
}
