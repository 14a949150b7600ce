"""Write before acknowledge: one transaction that makes a verdict the report's outcome."""

import hashlib
import logging
import time
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F

from classifier.asking import Asked, Call
from classifier.jobs import Claimed
from classifier.models import Classification, Job
from classifier.rules import Judgement
from reports import lifecycle
from reports.failpoints import Point, hit
from reports.models import Severity

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0


class Recorded(StrEnum):
    """What became of the answer."""

    CURRENT = "current"
    SUPERSEDED = "superseded"  # a newer policy version had answered before
    DUPLICATE = "duplicate"  # another answer under the same version stands


def record_answer(*, claimed: Claimed, asked: Asked, judgement: Judgement) -> Recorded:
    """Store the answer once, whatever the connection does, for as long as the lease lasts.

    A commit whose confirmation was lost is found as a duplicate by the next try, which is right:
    the first recorded answer stands. Raises `OperationalError` when the lease ends first.
    """
    row = Classification(
        report_id=claimed.report_id,
        policy_version=claimed.policy,
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
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            return _record(row, claimed)
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if time.monotonic() + wait > claimed.expires:
                raise
            log.warning(
                "report %s: the verdict is not written yet (%s), trying again",
                claimed.report_id,
                type(error).__name__,
            )
            time.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)


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


def _record(row: Classification, claimed: Claimed) -> Recorded:
    with transaction.atomic():
        report = lifecycle.lock(claimed.report_id)
        mine = Classification.objects.filter(report=report)
        # Every writer holds the report's lock, so what is read here stands until the commit; the
        # unique key would refuse a second row all the same.
        if mine.filter(policy_version=claimed.policy).exists():
            recorded = Recorded.DUPLICATE
        else:
            mine.filter(superseded=False, policy_version__lt=claimed.policy.number).update(
                superseded=True
            )
            hit(Point.RECORD_AFTER_SUPERSEDE)
            row.pk, row.superseded = None, mine.filter(superseded=False).exists()
            if row.safe and report.floor > Severity.NONE:
                # Raised since the verdict was judged, by a refusal under another version.
                row.safe, row.rules = False, [*row.rules, "floor"]
            row.save(force_insert=True)
            hit(Point.RECORD_AFTER_INSERT)
            recorded = Recorded.SUPERSEDED if row.superseded else Recorded.CURRENT
        if recorded is Recorded.CURRENT:
            lifecycle.apply_verdict(report=report, safe=row.safe, severity=Severity(row.severity))
        Job.objects.filter(pk=claimed.job_id).update(
            done=True,
            parked=False,
            reason="",
            lease_until=None,
            not_before=None,
            dropped=F("dropped") + int(recorded is Recorded.DUPLICATE),
        )
    return recorded
