"""Reading: bytes to a checked verdict, or a named refusal. What this refuses is no answer.

Few repairs are made, all of them lossless: outer white space and a byte order mark, one fence around
the whole reply, one leading `<think>` block, a category's case. Nothing is guessed: prose around the
JSON, numbers as strings, percentages and unknown categories are refused.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from classifier.models import PolicyVersion, WaitingReason
from classifier.verdict import Verdict

MAX_CONTENT_CHARACTERS = 200_000
# No tokenizer in use reads more bytes a token than this on natural text; fewer tokens than this
# allows prove that the server cut the input.
BYTES_A_TOKEN_AT_MOST = 12


class AnswerRefusedError(Exception):
    """The answer is no verdict. `reason` is the job's reason; `detail` names the rule, not the text."""

    def __init__(self, reason: WaitingReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class UnreadableReplyError(Exception):
    """A 200 whose body is not a chat completion: the provider's fault, not the model's."""


@dataclass(frozen=True)
class Answer:
    """A checked verdict and what the server said about the call."""

    verdict: Verdict
    served_model: str
    prompt_tokens: int | None
    completion_tokens: int | None


class _Lax(BaseModel):
    # Servers add fields of their own to the envelope; what we read of it is still strict.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Message(_Lax):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(_Lax):
    index: int = 0
    finish_reason: str | None = None
    message: _Message


# Within the columns' range: a count that cannot be stored would lose the verdict beside it.
_Count = Annotated[int, Field(ge=0, le=2**31 - 1)]


class _Usage(_Lax):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None


class _Envelope(_Lax):
    model: str | None = None
    choices: list[_Choice]
    usage: _Usage | None = None


def read_answer(
    body: bytes, *, policy: PolicyVersion, ref: str, prompt_bytes: int, texts: Sequence[str]
) -> Answer:
    """A 200 body to an `Answer`; raises `AnswerRefusedError` or `UnreadableReplyError`.

    `texts` are the reported texts: quotes are kept only where they stand in one verbatim.
    """
    envelope = _read_envelope(body)
    choice = envelope.choices[0]
    if choice.message.refusal or choice.finish_reason == "refusal":
        raise AnswerRefusedError(WaitingReason.MODEL_REFUSED, "refusal")
    if choice.finish_reason == "content_filter":
        raise AnswerRefusedError(WaitingReason.CONTENT_FILTERED, "finish_reason")
    if choice.finish_reason == "length":
        raise AnswerRefusedError(WaitingReason.ANSWER_CUT, "finish_reason")
    if choice.finish_reason != "stop":
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "finish_reason")
    served = envelope.model or ""
    if served != policy.model:
        raise AnswerRefusedError(WaitingReason.WRONG_MODEL, "model")
    usage = envelope.usage or _Usage()
    if (
        usage.prompt_tokens is not None
        and usage.prompt_tokens < prompt_bytes / BYTES_A_TOKEN_AT_MOST
    ):
        raise AnswerRefusedError(WaitingReason.INPUT_TRUNCATED, "prompt_tokens")
    verdict = _read_verdict(_text(choice.message.content), policy)
    if verdict.ref != ref:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "ref")
    summary = _without_controls(verdict.summary)
    if not summary.strip():
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "schema_summary")
    return Answer(
        verdict=verdict.model_copy(
            update={
                "summary": summary,
                "quotes": [
                    quote
                    for quote in verdict.quotes
                    if quote.strip() and any(quote in text for text in texts)
                ],
            }
        ),
        served_model=served,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def _read_envelope(body: bytes) -> _Envelope:
    try:
        envelope = _Envelope.model_validate(json.loads(body))
    except (ValueError, RecursionError) as error:  # pydantic's and json's errors are ValueErrors
        raise UnreadableReplyError(type(error).__name__) from None
    if len(envelope.choices) != 1 or envelope.choices[0].index != 0:
        raise UnreadableReplyError("choices")
    return envelope


def _text(content: str | list[dict[str, Any]] | None) -> str:
    """The reply's text: a string, or the text parts of a list (thinking parts are left out)."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if part.get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str))
    text = (content or "").strip().removeprefix("\ufeff").strip()
    if not text:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "empty")
    if len(text) > MAX_CONTENT_CHARACTERS:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "too_large")
    if text.startswith("<think>"):
        thought, closed, text = text.rpartition("</think>")
        if not closed or not thought:
            raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "unclosed_thought")
        text = text.strip()
    if fenced := re.fullmatch(r"```(?:json)?[ \t]*\n(.*)\n```", text, re.DOTALL):
        text = fenced[1].strip()
    return text


def _read_verdict(text: str, policy: PolicyVersion) -> Verdict:
    try:
        parsed = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
        )
    except AnswerRefusedError:
        raise
    except (ValueError, RecursionError):
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "not_json") from None
    if isinstance(parsed, dict) and isinstance(parsed.get("category"), str):
        wanted = parsed["category"].strip().casefold()
        matches = [each["id"] for each in policy.categories if each["id"].casefold() == wanted]
        if len(matches) != 1:
            raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "unknown_category")
        parsed["category"] = matches[0]
    try:
        verdict = Verdict.model_validate(parsed)
    except ValidationError as error:
        # Which key was wrong first. Only our own names: the answer's would carry its text.
        where = error.errors(include_input=False, include_url=False)[0]["loc"]
        key = where[0] if where and where[0] in Verdict.model_fields else "other"
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, f"schema_{key}") from None
    if any(_UNSTORABLE.search(text) for text in (verdict.summary, *verdict.quotes)):
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "control_characters")
    return verdict


_UNSTORABLE = re.compile("[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ud800-\\udfff]")
_JOINERS = "\u200c\u200d"  # Persian and Indic spelling, and emoji families, need them


def _without_controls(text: str) -> str:
    """Without invisible and direction-changing characters; they have no business in a summary."""
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) != "Cf")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "duplicate_key")
    return found


def _refuse_constant(_name: str) -> NoReturn:
    raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "not_finite")
