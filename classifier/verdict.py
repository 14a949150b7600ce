"""The verdict: what the model must answer. Untrusted until this schema has accepted it."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from classifier.models import PolicyVersion

SUMMARY_CHARACTERS = 1_000
QUOTE_CHARACTERS = 500
QUOTES = 8


class Verdict(BaseModel):
    """Strict: no coercion, no extra key, finite numbers. `confidence` is a probability (0..1)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    summary: Annotated[str, StringConstraints(min_length=1, max_length=SUMMARY_CHARACTERS)]
    category: Annotated[str, StringConstraints(max_length=64)]
    confidence: Annotated[float, Field(ge=0, le=1)]
    quotes: Annotated[
        list[Annotated[str, StringConstraints(max_length=QUOTE_CHARACTERS)]],
        Field(max_length=QUOTES),
    ]


class ReferredVerdict(Verdict):
    """With the reference of the evidence that it is about: no answer lands on another report."""

    ref: Annotated[str, StringConstraints(max_length=64)]


def answer_schema(policy: PolicyVersion, *, with_ref: bool) -> dict[str, Any]:
    """The JSON schema that a server is asked to hold the answer to; `Verdict` checks it anyway.

    Lengths stay out of it: some servers refuse them, and none is trusted to keep them.
    """
    properties: dict[str, Any] = {
        **({"ref": {"type": "string"}} if with_ref else {}),
        "summary": {"type": "string"},
        "category": {"type": "string", "enum": [each["id"] for each in policy.categories]},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        "quotes": {"type": "array", "items": {"type": "string"}},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
