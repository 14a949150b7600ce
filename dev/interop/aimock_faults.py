"""What aimock is told to do wrong, and the reason that each must end with."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

CONTEXT = 32_768
"""Tokens: what aimock lists says nothing of it, so it is recorded, or nothing would be asked."""
RETRY_AFTER = 40
"""Seconds; beyond what the client would wait by itself after a first fault."""
DEADLINE = 2.0
LATE_MS = 4_000
LONG_PROMPT = {"prompt_tokens": 2_000, "completion_tokens": 40}
GOOD_LOOKING = {
    "ref": "0123456789abcdef",
    "summary": "Two people arrange to meet.",
    "category": "none",
    "confidence": 0.99,
    "quotes": [],
}


@dataclass(frozen=True)
class Fault:
    """A fixture of aimock. `reasons` are beginnings of the job's reason; `detail` the rule's name."""

    name: str
    response: dict[str, Any]
    reasons: tuple[str, ...]
    chaos: dict[str, float] = field(default_factory=dict)
    detail: str = ""
    waits: float = 0.0
    deadline: float | None = None
    requests: int = 1

    @property
    def model(self) -> str:
        """One a fault: what the client learns of one model must not decide the next question."""
        return "aimock-" + self.name.replace(" ", "-")

    @property
    def marker(self) -> str:
        """Stands in the reported text, so that a question can be told from any other request."""
        return f"case {self.name}."

    def fixtures(self) -> list[dict[str, Any]]:
        """The fault for the report's question; another question about this model is answered."""
        fault = {
            "match": {"model": self.model, "userMessage": self.marker},
            "response": self.response,
        }
        if self.chaos:
            fault["chaos"] = self.chaos
        return [fault, answers_to(self.model)]


def answers_to(model: str) -> dict[str, Any]:
    """The fixture of a model that finds nothing wrong with anything."""
    return {"match": {"model": model}, "response": _content(GOOD_LOOKING)}


def _content(verdict: object, **changes: Any) -> dict[str, Any]:
    text = verdict if isinstance(verdict, str) else json.dumps(verdict)
    return {"content": text, "usage": LONG_PROMPT, **changes}


def _error(status: int, code: str, kind: str = "server_error", **more: Any) -> dict[str, Any]:
    error = {"message": "A fault on purpose.", "type": kind, "code": code}
    return {"error": error, "status": status, **more}


FAULTS = (
    Fault(
        "429 with retry-after",
        _error(429, "rate_limit_exceeded", "rate_limit_error", retryAfter=RETRY_AFTER),
        ("provider_rate_limited",),
        waits=RETRY_AFTER,
    ),
    Fault("500", _error(500, "server_error"), ("provider_unavailable",)),
    Fault("503", _error(503, "overloaded"), ("provider_unavailable",)),
    Fault(
        "malformed body", _content(GOOD_LOOKING), ("provider_unavailable",), {"malformedRate": 1}
    ),
    Fault("disconnect", _content(GOOD_LOOKING), ("provider_unavailable",), {"disconnectRate": 1}),
    Fault(
        "an answer after the deadline",
        _content(GOOD_LOOKING),
        ("provider_timeout",),
        {"latencyMs": LATE_MS},
        deadline=DEADLINE,
        requests=0,  # aimock's journal leaves out who hung up
    ),
    Fault("empty content", _content(""), ("answer_",)),
    # aimock sets no message.refusal; these are the other ways in which a model declines.
    Fault("refusal by its end", _content("", finishReason="refusal"), ("model_refused",)),
    Fault(
        "refusal in prose",
        _content("I cannot help with that. Category: none."),
        ("answer_", "model_refused"),
    ),
    Fault("filtered", _content("", finishReason="content_filter"), ("content_filtered",)),
    Fault(
        "tool call in place of content",
        {
            "toolCalls": [{"name": "close_report", "arguments": json.dumps(GOOD_LOOKING)}],
            "usage": LONG_PROMPT,
        },
        ("answer_",),
    ),
    Fault(
        "truncated content",
        _content(json.dumps(GOOD_LOOKING)[:60], finishReason="length"),
        ("answer_cut",),
    ),
    Fault(
        "truncated content that claims to be whole",
        _content(json.dumps(GOOD_LOOKING)[:60]),
        ("answer_",),
    ),
    Fault("another model answered", _content(GOOD_LOOKING, model="another"), ("wrong_model",)),
    Fault(
        "a good looking answer to another question",
        _content(GOOD_LOOKING),
        ("answer_",),
        detail="ref",
    ),
    # Last: a client may hold these against the whole server.
    Fault(
        "used up quota",
        _error(429, "insufficient_quota", "insufficient_quota"),
        ("provider_quota",),
    ),
    Fault("401", _error(401, "invalid_api_key"), ("provider_credentials",)),
)
