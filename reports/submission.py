"""What a sender may send: the shape, the limits, and errors that name the field.

A body is read in three steps: bytes to JSON (`parse_json`, stricter than the standard library),
every string checked for what PostgreSQL cannot hold, then the shape (`read_submission`).
Limits count code points. Source of the limits: the HTTP contract in the OpenAPI document.
"""

import json
import math
import re
import unicodedata
from datetime import UTC, datetime
from typing import Annotated, Any, NoReturn

from django.db import models
from django.utils.translation import gettext_lazy as _
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    WithJsonSchema,
    field_validator,
)

MAX_BODY_BYTES = 1024 * 1024
MAX_METADATA_BYTES = 8 * 1024
MAX_NUMBER_CHARACTERS = 100
MAX_DEPTH = 32
UNDETERMINED = "und"

_DATE_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class Reason(models.TextChoices):
    """Why the reporter complained, in the sender's form. Blank where it was not said."""

    THREAT = "threat", _("threat")
    SELF_HARM = "self_harm", _("self-harm")
    CHILD_SAFETY = "child_safety", _("child safety")
    HATE = "hate", _("hate")
    HARASSMENT = "harassment", _("harassment")
    VIOLENCE = "violence", _("violence")
    SEXUAL = "sexual", _("sexual content")
    SCAM = "scam", _("scam")
    SPAM = "spam", _("spam")
    OTHER = "other", _("other")


class FieldError(Exception):
    """The body cannot be accepted. `errors` is a list of (field path, what is wrong with it)."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        sentences = [f"{field}: {reason}" if field else f"it {reason}" for field, reason in errors]
        super().__init__("; ".join(sentences))
        self.errors = errors


Identifier = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Url = Annotated[str, StringConstraints(max_length=2048, pattern=r"^https?://[^\s]+$")]
LanguageTag = Annotated[
    str, StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")
]


class Part(BaseModel):
    """Strict: no coercion, no unknown field."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


EXAMPLE: dict[str, Any] = {
    "item": {"type": "message", "id": "m-81", "author_id": "u-7"},
    "reporter": {"id": "u-9"},
    "reason": "threat",
    "comment": "he knows where I live",
    "language": "en",
    "messages": [
        {
            "id": "m-81",
            "author_id": "u-7",
            "sent_at": "2026-11-01T10:00:00Z",
            "text": "I will wait for you at the school gate tomorrow.",
            "reported": True,
        }
    ],
    "metadata": {"app": "ios"},
}


class SubmittedItem(Part):
    """The reported thing."""

    type: Identifier = Field(description="What kind of thing it is: message, post, profile, …")
    id: Identifier = Field(description="Your id of it; with the type it names the item.")
    author_id: Identifier | None = Field(None, description="Your id of who made it.")
    url: Url | None = Field(None, description="Where it stands (http or https). Never fetched.")


class SubmittedReporter(Part):
    """Who complained. Stored apart; the report itself carries a pseudonym."""

    id: Identifier | None = None


class SubmittedMessage(Part):
    """One message of the conversation, as it stood when it was reported."""

    id: Identifier | None = None
    author_id: Identifier | None = None
    sent_at: str | None = Field(
        None,
        description="RFC 3339 with a zone.",
        json_schema_extra={"format": "date-time"},
    )
    text: Annotated[str, StringConstraints(max_length=20_000)]
    reported: bool | None = Field(
        None, description="Is this what the report is about? Where none is marked, all are."
    )

    @field_validator("sent_at")
    @classmethod
    def _is_a_moment(cls, value: str | None) -> str | None:
        if value is not None:
            read_moment(value)
        return value


class Submission(Part):
    """The body of `POST /api/v1/reports/`."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    item: SubmittedItem
    reporter: SubmittedReporter | None = None
    # A plain Literal would hide the field case that "" is refused by name.
    reason: Annotated[
        str | None, WithJsonSchema({"type": ["string", "null"], "enum": [*Reason.values, None]})
    ] = Field(None, description="Your form's reason.")
    comment: Annotated[str, StringConstraints(max_length=5_000)] | None = Field(
        None, description="What the reporter wrote."
    )
    language: LanguageTag | None = Field(None, description="BCP 47 tag of the content.")
    messages: Annotated[list[SubmittedMessage], Field(min_length=1, max_length=500)]
    metadata: dict[str, Any] | None = Field(None, description="Any small JSON, 8 KiB at most.")

    @field_validator("reason")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        if value is not None and value not in Reason.values:
            raise ValueError(f"must be one of {', '.join(Reason.values)}")
        return value

    @field_validator("metadata")
    @classmethod
    def _is_small(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if value is not None:
            size = len(json.dumps(value, ensure_ascii=False).encode())
            if size > MAX_METADATA_BYTES:
                raise ValueError(f"has {size} bytes as JSON; the limit is {MAX_METADATA_BYTES}")
        return value

    @field_validator("messages")
    @classmethod
    def _have_text(cls, value: list[SubmittedMessage]) -> list[SubmittedMessage]:
        if not any(message.text.strip() for message in value):
            raise ValueError("at least one needs text")
        return value

    def reported_messages(self) -> list[SubmittedMessage]:
        """What the report is about: the marked messages, or all where none is marked."""
        return [message for message in self.messages if message.reported] or self.messages

    def language_tag(self) -> str:
        """The sender's tag, or `und` with the script that most letters are written in."""
        return self.language or f"{UNDETERMINED}{_script_suffix(self.messages)}"


def parse_json(raw: bytes) -> Any:
    """Bytes to JSON values.

    Raises `FieldError` for what is not strict JSON in UTF-8 or cannot be stored: duplicate keys,
    NaN and infinities, absurd numbers, NUL, lone surrogates, deep nesting.
    """
    try:
        document = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
            parse_int=_short_int,
        )
    except UnicodeDecodeError as error:
        raise FieldError([("", f"is not UTF-8 at byte {error.start}")]) from None
    except json.JSONDecodeError as error:
        raise FieldError([("", f"is not JSON: {error.msg} at character {error.pos}")]) from None
    except RecursionError:
        raise FieldError([("", f"is nested more than {MAX_DEPTH} levels deep")]) from None
    _check_strings(document, ())
    return document


def read_submission(document: Any) -> Submission:
    """JSON values to a `Submission`; raises `FieldError` with every field that is wrong."""
    if not isinstance(document, dict):
        raise FieldError([("", "must be a JSON object")])
    try:
        return Submission.model_validate(document)
    except ValidationError as error:
        raise FieldError(
            [
                (_field(each["loc"]), _in_words(each["type"], each["msg"]))
                for each in error.errors(include_url=False, include_context=False)
            ]
        ) from None


def read_moment(value: str) -> datetime:
    """An RFC 3339 date and time with a zone, in UTC; `ValueError` with a sentence otherwise."""
    wrong = "must be a date and time with a zone, such as 2026-11-01T10:00:00Z"
    if not _DATE_TIME.fullmatch(value):
        raise ValueError(wrong)
    try:
        # PostgreSQL takes no offset of 16 hours or more; 9999-12-31 may have no moment in UTC.
        return datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(wrong) from None


def _in_words(kind: str, message: str) -> str:
    """Pydantic's message as a sentence about the field."""
    if kind == "extra_forbidden":
        return "is not a known field"
    if kind == "missing":
        return "is required"
    if kind in ("too_short", "too_long"):
        return message.replace("List should have", "must have").partition(" after validation")[0]
    return message.removeprefix("Value error, ")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            # The key itself may be what no answer can hold.
            raise FieldError([(_UNSTORABLE.sub("\ufffd", key), "stands twice in one object")])
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise FieldError([("", f"holds {name}, which is not JSON")])


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value) or len(digits) > MAX_NUMBER_CHARACTERS:
        raise FieldError([("", f"holds a number out of range: {digits[:20]}…")])
    return value


def _short_int(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        raise FieldError([("", f"holds a number of {len(digits)} digits")])
    return int(digits)


def _check_strings(value: Any, path: tuple[str | int, ...]) -> None:
    """Refuse what `jsonb` and `text` cannot hold, naming the field and the position."""
    # The path is joined for an error only: a long key above a long list would cost seconds.
    if len(path) > MAX_DEPTH:
        raise FieldError([(_field(path), f"is nested more than {MAX_DEPTH} levels deep")])
    if isinstance(value, str):
        if found := _UNSTORABLE.search(value):
            name = "NUL" if found[0] == "\0" else "half of a surrogate pair"
            raise FieldError([(_field(path), f"holds {name} at character {found.start()}")])
    elif isinstance(value, dict):
        for key, each in value.items():
            _check_strings(key, (*path, "(key)"))
            _check_strings(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            _check_strings(each, (*path, index))


def _field(path: tuple[str | int, ...]) -> str:
    return ".".join(str(step) for step in path)


_SCRIPTS = {"ARABIC": "Arab", "LATIN": "Latn", "CYRILLIC": "Cyrl", "HEBREW": "Hebr",
            "DEVANAGARI": "Deva", "HANGUL": "Kore", "CJK": "Hani", "GREEK": "Grek"}  # fmt: skip


def _script_suffix(messages: list[SubmittedMessage]) -> str:
    counts: dict[str, int] = {}
    for message in messages[:20]:
        for character in message.text[:1_000]:
            if character.isalpha():
                script = unicodedata.name(character, "").split(" ", 1)[0]
                counts[script] = counts.get(script, 0) + 1
    known = {script: count for script, count in counts.items() if script in _SCRIPTS}
    return f"-{_SCRIPTS[max(known, key=lambda script: known[script])]}" if known else ""
