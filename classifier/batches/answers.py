"""What a slice of a provider's answers says, read and judged: rows to be, and lines that are lost."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection

from classifier import rules
from classifier.answer_rows import answer_row
from classifier.asking import Asked, Call
from classifier.batches.lines import marks_of
from classifier.batches.lost import Lost, OpenLine
from classifier.batches.told import Told
from classifier.jobs import RAISES_FLOOR, Claimed
from classifier.models import (
    BatchLine,
    Classification,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
    WaitingReason,
)
from classifier.prompt import free_texts
from classifier.provider import Reply
from classifier.questions import expected, quotable
from classifier.reader import AnswerRefusedError, UnreadableReplyError, read_document
from classifier.windows import Piece, Window
from reports.models import Severity
from reports.submission import Submission

Outcome = BatchLine.Outcome


@dataclass(frozen=True)
class _Question:
    """What a line asked, as far as its answer needs it. `body` is the content, None once purged."""

    line: OpenLine
    least_tokens: int
    floor: int
    body: str | None


@dataclass
class ReadSlice:
    """Outcomes of some lines, before they are written. `unknown` lines are of no open question."""

    rows: dict[int, Classification] = field(default_factory=dict)
    """By the job's id."""
    lines: dict[int, OpenLine] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unknown: int = 0


def read_slice(
    *,
    provider_batch: ProviderBatch,
    told: Mapping[UUID, Told],
    policy: PolicyVersion,
    model: ProviderModel,
) -> ReadSlice:
    """Read what was told of the lines that are still open; writes nothing."""
    found = ReadSlice()
    questions = _questions(provider_batch, list(told))
    for question in questions:
        _read_line(question, told[question.line.custom_id], policy, model, found)
    found.unknown = len(told) - len(questions)
    return found


def _questions(provider_batch: ProviderBatch, custom_ids: list[UUID]) -> list[_Question]:
    """Those of the lines that are still open."""
    with connection.cursor() as cursor:
        cursor.execute(_QUESTIONS, [provider_batch.pk, custom_ids])
        return [_Question(OpenLine(*row[:3]), *row[3:]) for row in cursor.fetchall()]


_QUESTIONS = """
SELECT line.custom_id, line.job_id, job.report_id, line.least_tokens, report.floor, content.body::text
FROM classifier_batchline AS line
JOIN classifier_job AS job ON job.id = line.job_id
JOIN reports_report AS report ON report.id = job.report_id
LEFT JOIN reports_content AS content ON content.report_id = report.id
WHERE line.provider_batch_id = %s AND line.custom_id = ANY(%s) AND line.outcome = ''
"""


def _read_line(
    question: _Question,
    told: Told,
    policy: PolicyVersion,
    model: ProviderModel,
    found: ReadSlice,
) -> None:
    line = question.line
    if told.reason is not None:
        found.lost.append((line, _outcome_of(told.reason), told.reason))
        return
    try:
        submission = Submission.model_validate(json.loads(question.body or ""))
    except ValueError:  # purged meanwhile, or gone wrong
        found.lost.append((line, Outcome.REFUSED, WaitingReason.INTERNAL_ERROR))
        return
    try:
        answer = read_document(
            told.body,
            expected(
                policy=policy,
                model=model,
                ref=marks_of(line.custom_id).ref,
                least_tokens=question.least_tokens,
                texts=quotable(submission),
            ),
        )
    except AnswerRefusedError as error:
        found.prompt_tokens += error.prompt_tokens or 0
        found.completion_tokens += error.completion_tokens or 0
        found.lost.append((line, Outcome.REFUSED, error.reason))
        return
    except UnreadableReplyError:
        found.lost.append((line, Outcome.FAILED, WaitingReason.PROVIDER_UNAVAILABLE))
        return
    window = Window(tuple(Piece(n, "") for n in range(len(submission.messages))))
    # A batch tells no time of a single call; the line's hash stands for the answer's.
    asked = Asked(
        answer.verdict,
        [Call(window, answer, Reply(told.digest.encode(), 0.0))],
        len(submission.messages),
    )
    judgement = rules.judge(
        verdict=answer.verdict,
        policy=policy,
        floor=Severity(question.floor),
        texts=free_texts(submission),
    )
    claimed = Claimed(
        job_id=line.job_id,
        report_id=line.report_id,
        policy=policy,
        number=0,
        reason="",
        expires=math.inf,
    )
    found.rows[line.job_id] = answer_row(claimed=claimed, asked=asked, judgement=judgement)
    found.lines[line.job_id] = line


def _outcome_of(reason: WaitingReason) -> str:
    if reason == WaitingReason.BATCH_EXPIRED:
        return Outcome.EXPIRED
    return Outcome.REFUSED if reason in RAISES_FLOOR else Outcome.FAILED
