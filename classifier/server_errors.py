"""What servers' error objects mean. Codes differ less from server to server than statuses do."""

import re
from collections.abc import Mapping
from typing import Any

QUOTA = frozenset(
    {
        "insufficient_quota",
        "billing_hard_limit_reached",
        "billing_not_active",
        "insufficient_credits",
    }
)
TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error"})
# vLLM and others say it in words only.
_TOO_LONG_WORDS = re.compile(r"(?:maximum|max) (?:model )?(?:context|input) length|context window")

_FILTERED = frozenset(
    {
        "content_filter",
        "ResponsibleAIPolicyViolation",  # Azure
        "content_policy_violation",
        "invalid_prompt",  # OpenAI: flagged as violating the usage policy
        "data_inspection_failed",  # DashScope
        "1301",  # GLM
    }
)
# Beside `content_filter`, with and without a reason behind it.
_FILTERED_ENDINGS = frozenset({"safety", "sensitive", "prohibited_content", "blocklist"})


def error_object(body: object) -> Mapping[str, Any]:
    """The body's `error` object, or the body itself where a server sends its fields bare."""
    outer = body if isinstance(body, Mapping) else {}
    inner = outer.get("error", outer)
    return inner if isinstance(inner, Mapping) else {}


def codes_of(error: Mapping[str, Any]) -> set[str]:
    """The words in `code`, `type` and the inner error's `code`; the message may quote the text."""
    inner = error.get("innererror")
    values = [error.get("code"), error.get("type")]
    values.append(inner.get("code") if isinstance(inner, Mapping) else None)
    return {word for value in values if (word := one_word(value))}


def filtered(error: Mapping[str, Any]) -> bool:
    """Did a filter block the content? OpenRouter tells by what it attaches."""
    metadata = error.get("metadata")
    attached = isinstance(metadata, Mapping) and "flagged_input" in metadata
    return attached or not _FILTERED.isdisjoint(codes_of(error))


def ends_filtered(finish_reason: str) -> bool:
    """Whether an answer's ending says that a filter cut it."""
    ending = finish_reason.casefold()
    return ending.startswith("content_filter") or ending in _FILTERED_ENDINGS


def says_too_long(error: Mapping[str, Any], user: str) -> bool:
    """In words that are not the evidence's own: servers quote it."""
    found = _TOO_LONG_WORDS.search(str(error.get("message")).lower())
    return found is not None and found[0] not in user.lower()


def stated_limit(error: Mapping[str, Any], user: str) -> int | None:
    """The limit that an error of a too long request names: llama.cpp in a field, others in words.

    Words that stand in the evidence are nobody's statement.
    """
    if isinstance(field := error.get("n_ctx"), int) and not isinstance(field, bool):
        return field
    found = _LIMIT_IN_WORDS.search(str(error.get("message")).lower())
    return int(found[1]) if found and found[0] not in user.lower() else None


_LIMIT_IN_WORDS = re.compile(
    r"(?:maximum|max) (?:model )?context length (?:is|of)[^\d.]{0,12}(\d{3,8})\b"
)


def one_word(value: object) -> str | None:
    """The value where it is one short word: nothing else of a reply is ever logged."""
    found = isinstance(value, str) and re.fullmatch(r"[\w.:-]{1,64}", value, re.ASCII)
    return value if found and isinstance(value, str) else None
