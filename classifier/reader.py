"""Reading: bytes to a checked verdict, or a named refusal. What this refuses is no answer.

Few repairs are made, all of them lossless: outer white space and a byte order mark, one fence around
the whole reply, one leading thought, a category's case. Nothing is guessed: prose around the JSON,
numbers as strings, percentages and unknown categories are refused.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import regex
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from classifier import strict_json
from classifier.models import PolicyVersion, WaitingReason
from classifier.server_errors import ends_filtered, error_object, filtered
from classifier.strict_json import StrictJSONError
from classifier.verdict import ReferredVerdict, Verdict
from reports.foreign_text import unname_controls

MAX_CONTENT_CHARACTERS = 200_000
# Details of a refusal that tell that the answer's form was wrong, whatever it said.
FORMLESS = frozenset({"not_json", "empty", "blanks"})


class AnswerRefusedError(Exception):
    """The answer is no verdict. `reason` is the job's reason; `detail` names the rule, not the text."""

    def __init__(self, reason: WaitingReason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.thought = False
        """The model thought aloud before it answered: its thoughts need room."""
        self.prompt_tokens: int | None = None
        """How many tokens the server says that it read."""
        self.completion_tokens: int | None = None


class UnreadableReplyError(Exception):
    """A 200 whose body is not a chat completion: the provider's fault, not the model's."""


@dataclass(frozen=True)
class Expected:
    """What the answer must fit. `texts` are the reported ones; quotes must stand in one verbatim."""

    policy: PolicyVersion
    names: Collection[str]
    """Under which the asked model may answer."""
    ref: str | None
    """The reference to be echoed; None for a model that cannot."""
    least_tokens: int
    """Fewer tokens read than this prove that the server cut the input."""
    texts: Sequence[str]
    thinks: bool = False
    """A known thinker: the tag that opens its thought may be missing."""


@dataclass(frozen=True)
class Answer:
    """A checked verdict and what the server said about the call."""

    verdict: Verdict
    served_model: str
    prompt_tokens: int | None
    completion_tokens: int | None
    thought: bool = False


@dataclass(frozen=True)
class Form:
    """How a model answers, whatever it says. `value` is its JSON, None where that is none."""

    value: object
    thought: bool
    cut: bool
    served_model: str


class _Lax(BaseModel):
    # Servers add fields of their own to the envelope; what we read of it is still strict.
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Message(_Lax):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    # Where servers put thoughts. Never judged from; that they are there says something.
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(_Lax):
    index: int = 0
    finish_reason: str | None = None
    message: _Message


# Within the columns' range: a count that cannot be stored would lose the verdict beside it.
_MOST_COUNT = 2**31 - 1
_Count = Annotated[int, Field(ge=0, le=_MOST_COUNT)]


class _Usage(_Lax):
    prompt_tokens: _Count | None = None
    completion_tokens: _Count | None = None
    prompt_tokens_details: Any = None

    def read(self) -> int | None:
        """Tokens of the prompt; with those from a cache, which some servers leave out."""
        if self.prompt_tokens is None:
            return None
        details = self.prompt_tokens_details
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        if type(cached) is not int or not 0 <= cached <= _MOST_COUNT:
            return self.prompt_tokens
        return self.prompt_tokens + cached


class _Envelope(_Lax):
    model: str | None = None
    choices: list[_Choice]
    usage: _Usage | None = None


def read_answer(body: bytes, expected: Expected) -> Answer:
    """A 200 body to an `Answer`; raises `AnswerRefusedError` or `UnreadableReplyError`."""
    return read_document(_parse(body), expected)


def read_document(document: object, expected: Expected) -> Answer:
    """The same for a body that is parsed already: as a line of a batch's file holds it."""
    envelope = _read_envelope(document)
    message = envelope.choices[0].message
    thought = _thought(message)
    usage = envelope.usage or _Usage()
    try:
        _check_envelope(envelope, expected)
        verdict = _read_verdict(_text(message.content, thinks=expected.thinks), expected)
    except AnswerRefusedError as error:
        error.thought = thought
        error.prompt_tokens, error.completion_tokens = usage.read(), usage.completion_tokens
        raise
    return Answer(
        verdict=verdict,
        served_model=envelope.model or "",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        thought=thought,
    )


def read_form(body: bytes) -> Form:
    """The form of an answer to a harmless text.

    Raises `UnreadableReplyError`, and `AnswerRefusedError` for the error of a filter. Not for
    reports: it takes a thought whose opening tag is missing from anybody.
    """
    envelope = _read_envelope(_parse(body))
    choice = envelope.choices[0]
    try:
        value = strict_json.loads(_text(choice.message.content, thinks=True))
    except (StrictJSONError, AnswerRefusedError):
        value = None
    return Form(
        value=value,
        thought=_thought(choice.message) or "</think>" in str(choice.message.content),
        cut=choice.finish_reason == "length",
        served_model=envelope.model or "",
    )


def read_prompt_tokens(body: bytes) -> int | None:
    """How many tokens the server says that it read; raises `UnreadableReplyError`."""
    usage = _read_envelope(_parse(body)).usage
    return usage.prompt_tokens if usage else None


def least_tokens(text: str) -> int:
    """Fewer tokens than any tokenizer makes of it, whatever the length of its words.

    Half a token a word, a whole one of Arabic letters, and one for four signs of the scripts that
    put no blanks between words. Bytes would prove nothing: one token may stand for a hundred blanks
    or dashes. A word is letters with their marks, which `re` would take for borders.
    """
    halves = sum(
        2 if found["arabic"] else (found.end() - found.start()) / 2 if found["dense"] else 1
        for found in _WORDS.finditer(text)
    )
    return int(halves / 2)


_WORDS = regex.compile(
    r"(?V1)(?P<arabic>\p{Arabic}[\p{Arabic}\p{M}]+)"
    r"|(?P<dense>[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+)"
    r"|[[\w]--[_\p{Arabic}]]+"
)


def _parse(body: bytes) -> object:
    try:
        document: object = strict_json.loads(body.decode("utf-8").removeprefix("\ufeff"))
    except StrictJSONError as error:
        raise UnreadableReplyError(error.rule) from None
    except UnicodeDecodeError as error:  # its words may quote the reply
        raise UnreadableReplyError(type(error).__name__) from None
    return document


def _read_envelope(document: object) -> _Envelope:
    if isinstance(document, dict) and "choices" not in document:
        # Some servers send their errors with a status of 200.
        if filtered(error_object(document)):
            raise AnswerRefusedError(WaitingReason.CONTENT_FILTERED, "error_object")
        raise UnreadableReplyError("no_choices")
    try:
        envelope = _Envelope.model_validate(document)
    except ValidationError as error:  # its words may quote the reply
        raise UnreadableReplyError(type(error).__name__) from None
    if len(envelope.choices) != 1 or envelope.choices[0].index != 0:
        raise UnreadableReplyError("choices")
    return envelope


def _check_envelope(envelope: _Envelope, expected: Expected) -> None:
    """What the server says about the answer may void it, before a word of it is read."""
    choice = envelope.choices[0]
    if choice.message.refusal or choice.finish_reason == "refusal":
        raise AnswerRefusedError(WaitingReason.MODEL_REFUSED, "refusal")
    if ends_filtered(choice.finish_reason or ""):
        raise AnswerRefusedError(WaitingReason.CONTENT_FILTERED, "finish_reason")
    if envelope.model not in expected.names:
        # Named for whoever configures an alias; a model's name is no content.
        served = envelope.model if re.fullmatch(r"[\w./:@-]{1,120}", envelope.model or "") else "?"
        raise AnswerRefusedError(WaitingReason.WRONG_MODEL, f"{served} answered")
    if choice.finish_reason == "length":
        detail = "blanks" if _runs_blank(choice.message.content) else "finish_reason"
        raise AnswerRefusedError(WaitingReason.ANSWER_CUT, detail)
    if choice.finish_reason not in _ENDED:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "finish_reason")
    tokens = envelope.usage.read() if envelope.usage else None
    if tokens is not None and tokens < expected.least_tokens:
        raise AnswerRefusedError(WaitingReason.INPUT_TRUNCATED, "prompt_tokens")


# How servers call an answer that came to its end.
_ENDED = frozenset({"stop", "eos", "end_turn"})
# Blanks to the limit: a grammar that lets white space through does that to some models.
_BLANKS = 200


def _runs_blank(content: object) -> bool:
    return isinstance(content, str) and (
        not content.strip() or len(content) - len(content.rstrip()) >= _BLANKS
    )


def _thought(message: _Message) -> bool:
    parts = message.content if isinstance(message.content, list) else []
    return bool(
        message.reasoning_content
        or message.reasoning
        # A tuple: what a server calls a type may be anything, a list too.
        or any(part.get("type") in ("thinking", "reasoning") for part in parts)
        or (isinstance(message.content, str) and message.content.lstrip().startswith("<think>"))
    )


def _text(content: str | list[dict[str, Any]] | None, *, thinks: bool) -> str:
    """The reply's text: a string, or the text parts of a list (thinking parts are left out)."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if part.get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str))
    text = (content or "").strip().removeprefix("\ufeff").strip()
    if len(text) > MAX_CONTENT_CHARACTERS:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "too_large")
    if text.startswith("<think>") or (thinks and "</think>" in text and text[0] not in "{`"):
        text = _after_thought(text)
    if not text:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "empty")
    if fenced := re.fullmatch(r"```(?:json|JSON)?[ \t]*\r?\n(.*)\r?\n```", text, re.DOTALL):
        text = fenced[1].strip()
    return text


def _after_thought(text: str) -> str:
    """What follows the thought: from the first closing tag behind which an object may begin.

    The last one may stand in the answer itself, as a quote.
    """
    rest = text
    while "</think>" in rest:
        rest = rest.partition("</think>")[2].strip()
        if rest.startswith(("{", "```")):
            return rest
    if rest is text:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "unclosed_thought")
    return rest


def _read_verdict(text: str, expected: Expected) -> Verdict:
    if _REFUSES.match(text.replace("’", "'")):
        raise AnswerRefusedError(WaitingReason.MODEL_REFUSED, "prose")
    try:
        parsed = strict_json.loads(text)
    except StrictJSONError as error:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, error.rule) from None
    if isinstance(parsed, dict) and isinstance(parsed.get("category"), str):
        parsed["category"] = _known_category(parsed["category"], expected.policy)
    shape: type[Verdict] = ReferredVerdict
    if expected.ref is None:
        shape = Verdict
        if isinstance(parsed, dict):
            parsed.pop("ref", None)  # asked for in words, by a policy's unchanging text
    try:
        verdict = shape.model_validate(parsed)
    except ValidationError as error:
        # Which key was wrong first. Only our own names: the answer's would carry its text.
        where = error.errors(include_input=False, include_url=False)[0]["loc"]
        key = where[0] if where and where[0] in shape.model_fields else "other"
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, f"schema_{key}") from None
    if isinstance(verdict, ReferredVerdict) and verdict.ref != expected.ref:
        raise AnswerRefusedError(WaitingReason.ANSWER_MISPLACED, "ref")
    if any(_UNSTORABLE.search(each) for each in (verdict.summary, *verdict.quotes)):
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "control_characters")
    summary = _without_controls(verdict.summary)
    if not summary.strip():
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "schema_summary")
    # Checked above; what is changed here are only signs taken away and quotes left out.
    return Verdict.model_construct(
        summary=summary,
        category=verdict.category,
        confidence=verdict.confidence,
        quotes=_verbatim(verdict.quotes, expected.texts),
    )


def _known_category(said: str, policy: PolicyVersion) -> str:
    """The one id that equals it but for case and outer white space."""
    wanted = said.strip().casefold()
    matches = [each["id"] for each in policy.categories if each["id"].casefold() == wanted]
    if len(matches) != 1:
        raise AnswerRefusedError(WaitingReason.ANSWER_INVALID, "unknown_category")
    return matches[0]


def _verbatim(quotes: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The quotes that stand in one of the texts, as they stand there.

    The model saw hidden signs by their number; where it copied one, the sign itself is put back.
    """
    kept: list[str] = []
    for quote in quotes:
        for as_written in (quote, unname_controls(quote)):
            if as_written.strip() and any(as_written in text for text in texts):
                kept.append(as_written)
                break
    return kept


# A whole reply in prose that says no. Only without a brace: with one it might be an answer.
_REFUSES = re.compile(
    r"(?i)(?:i(?:'m| am) (?:very )?sorry|sorry|i can(?:no|')?t|i(?:'m| am) (?:un|not )able|as an ai"
    r"|عذرا|آسف|أعتذر|لا أستطيع|لا يمكنني)[^{]*\Z"
)
_UNSTORABLE = re.compile("[\\0-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f\\ud800-\\udfff]")
_JOINERS = "\u200c\u200d"  # Persian and Indic spelling, and emoji families, need them


def _without_controls(text: str) -> str:
    """Without invisible and direction-changing characters; they have no business in a summary."""
    if text.isascii():
        return text
    return "".join(c for c in text if c in _JOINERS or unicodedata.category(c) != "Cf")
