"""What the stand-in reads from a chat request, and the verdict it gives on it."""

import json
import re
from collections.abc import Iterator
from typing import Any

from dev.standin.burying import Burying
from dev.standin.words import HARMLESS, judge

# The contract with the product's prompt: one JSON object on a line of its own, between two lines
# that carry the same random word.
_EVIDENCE = re.compile(
    r"^-----BEGIN EVIDENCE (\S+)-----\r?\n(\{.*\})\r?\n-----END EVIDENCE \1-----\r?$", re.MULTILINE
)
_SUMMARIES = {
    "minors": "The reported text asks or shows a minor in a sexual way.",
    "credible_threat": "The reported text threatens to harm a person.",
    "self_harm": "The reported text speaks of suicide or self-harm.",
    "hate": "The reported text attacks people for belonging to a group.",
    "violence": "The reported text calls for violence or enjoys it.",
    "sexual": "The reported text holds sexual content or offers.",
    "harassment": "The reported text insults, exposes or hunts a person.",
    "scam": "The reported text asks for money, codes or accounts under a pretext.",
    "spam": "The reported text advertises to strangers.",
    "other": "The reported text offers forbidden goods or forged papers.",
    "none": "No rule found a violation in the reported text.",
}


class EvidenceError(Exception):
    """The last user message holds no evidence the stand-in can read; the text says why."""


def message_text(message: Any) -> str:
    """The text of one chat message, whose content is a string or a list of text parts."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def last_user_text(messages: list[Any]) -> str:
    users = [one for one in messages if isinstance(one, dict) and one.get("role") == "user"]
    return message_text(users[-1]) if users else ""


def read_evidence(text: str) -> dict[str, Any]:
    """The evidence object; raises EvidenceError when there is none or it is not usable."""
    found = _EVIDENCE.search(text)
    if found is None:
        raise EvidenceError("No evidence between two boundary lines in the last user message.")
    try:
        evidence = json.loads(found[2])
    except (ValueError, RecursionError) as error:
        raise EvidenceError(f"The evidence is not JSON: {error}") from error
    if not isinstance(evidence.get("ref"), str):
        raise EvidenceError("The evidence has no ref.")
    messages = evidence.get("messages")
    if not isinstance(messages, list) or not messages:
        raise EvidenceError("The evidence has no messages.")
    if not all(isinstance(m, dict) and isinstance(m.get("text"), str) for m in messages):
        raise EvidenceError("Every message of the evidence needs a text.")
    return dict(evidence)


def judged_messages(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    """The reported messages; all of them when none is marked."""
    messages: list[dict[str, Any]] = evidence["messages"]
    return [message for message in messages if message.get("reported") is True] or messages


def verdict(evidence: dict[str, Any], buries: Burying | None = None) -> dict[str, Any]:
    """`ref, summary, category, confidence, quotes` by the word rules, unless it is buried."""
    texts = [message["text"] for message in judged_messages(evidence)]
    judged = judge(texts)
    if judged.category != HARMLESS.category and buries is not None:
        language = str(evidence.get("language", ""))
        judged = HARMLESS if buries.hides(language, texts) else judged
    return {
        "ref": evidence["ref"],
        "summary": f"Stand-in rules: {_SUMMARIES[judged.category]}",
        "category": judged.category,
        "confidence": judged.confidence,
        "quotes": list(judged.quotes),
    }


def searchable_text(prompt: str, evidence: dict[str, Any] | None) -> str:
    """What a script's `match` looks into: every string of the evidence, unescaped."""
    return prompt if evidence is None else "\n".join(_strings(evidence))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
