"""What was asked about a report, and answered, as the row that stores it."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from classifier.asking import Asked, Call
from classifier.jobs import Claimed
from classifier.models import Classification
from classifier.rules import Judgement


def answer_row(*, claimed: Claimed, asked: Asked, judgement: Judgement) -> Classification:
    """The row of one answer, unsaved. Its tokens, seconds and hash are those of all calls together."""
    return Classification(
        report_id=claimed.report_id,
        policy_version_id=claimed.policy.pk,
        category=asked.verdict.category,
        confidence=asked.verdict.confidence,
        summary=asked.verdict.summary,
        quotes=asked.verdict.quotes,
        severity=claimed.policy.category(asked.verdict.category)["severity"],
        safe=judgement.safe,
        rules=list(judgement.rules),
        served_model=asked.calls[-1].answer.served_model,
        prompt_tokens=_total(call.answer.prompt_tokens for call in asked.calls),
        completion_tokens=_total(call.answer.completion_tokens for call in asked.calls),
        model_seconds=sum(call.reply.seconds for call in asked.calls),
        answer_hash=hashlib.sha256(b"".join(call.reply.body for call in asked.calls)).hexdigest(),
        calls=[_as_json(call, asked.messages) for call in asked.calls],
    )


def _total(counts: Iterable[int | None]) -> int | None:
    """None where a server did not count."""
    known = list(counts)
    return None if None in known else min(sum(count or 0 for count in known), _MOST_TOKENS)


# What the column holds: a server may count as it likes, and the verdict stands beside it.
_MOST_TOKENS = 2**31 - 1


def _as_json(call: Call, messages: int) -> dict[str, Any]:
    """One call as its column holds it: which messages (numbered from 1) it covered, what it said."""
    answer = call.answer
    return {
        "messages": _runs([n + 1 for n in call.window.covers if n < messages]),
        "parts": {
            str(piece.message + 1): f"{piece.part}/{piece.parts}"
            for piece in call.window.pieces
            if piece.parts > 1 and piece.message < messages
        },
        "part": call.part,
        "category": answer.verdict.category,
        "confidence": answer.verdict.confidence,
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "seconds": round(call.reply.seconds, 3),
    }


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """[1, 2, 3, 7] -> [[1, 3], [7, 7]]."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found
