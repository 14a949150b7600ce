"""What came back for a provider's batch, recorded slice by slice: each question gets one outcome.

Whoever begins anew passes over the lines that have theirs. The reader and the recording step are the
live lane's.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.db import connection, transaction

from classifier import rules
from classifier.answer_rows import answer_row
from classifier.asking import Asked, Call
from classifier.batches.lines import marks_of
from classifier.batches.lost import Lost, OpenLine, lose, refuse
from classifier.batches.tally import add_tokens
from classifier.batches.told import Told, each_told
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
from classifier.recording import Recorded, record_rows
from classifier.windows import Piece, Window
from reports.failpoints import Point, hit
from reports.models import Severity
from reports.submission import Submission

SLICE = 250
Outcome = BatchLine.Outcome


@dataclass
class Counted:
    """What stood in the files. `unknown` lines are about questions nobody asked, or asked twice."""

    read: int = 0
    recorded: int = 0
    unknown: int = 0
    broken: int = 0


@dataclass(frozen=True)
class _Question:
    """What a line asked, as far as its answer needs it. `body` is the content, None once purged."""

    line: OpenLine
    least_tokens: int
    floor: int
    body: str | None


@dataclass
class _Slice:
    """Outcomes of some lines, before they are written."""

    rows: dict[int, Classification] = field(default_factory=dict)
    """By the job's id."""
    lines: dict[int, OpenLine] = field(default_factory=dict)
    lost: list[Lost] = field(default_factory=list)
    prompt_tokens: int = 0
    completion_tokens: int = 0


def record_file(
    *,
    provider_batch: ProviderBatch,
    path: Path,
    policy: PolicyVersion,
    model: ProviderModel,
    between: Callable[[], object] = lambda: None,
) -> Counted:
    """Record a file of the provider, a slice a transaction; `between` is called after each."""
    counted = Counted()
    for told in _slices(each_told(path), counted):
        _record_slice(provider_batch, told, policy, model, counted)
        hit(Point.BATCH_AFTER_SLICE)
        between()
    return counted


def _slices(every: Iterable[Told | None], counted: Counted) -> Iterator[dict[UUID, Told]]:
    """Readable lines by their question; of two about the same one the first counts."""
    lines = iter(every)
    while some := list(islice(lines, SLICE)):
        found: dict[UUID, Told] = {}
        for told in some:
            counted.read += 1
            if told is None:
                counted.broken += 1
            elif told.custom_id in found:
                counted.unknown += 1
            else:
                found[told.custom_id] = told
        if found:
            yield found


def _record_slice(
    provider_batch: ProviderBatch,
    told: Mapping[UUID, Told],
    policy: PolicyVersion,
    model: ProviderModel,
    counted: Counted,
) -> None:
    questions = _questions(provider_batch, list(told))
    counted.unknown += len(told) - len(questions)
    if not questions:
        return
    found = _Slice()
    for question in questions:
        _read_line(question, told[question.line.custom_id], policy, model, found)
    with transaction.atomic():
        recorded = record_rows(found.rows, batch_id=provider_batch.batch_id) if found.rows else []
        _note(found, recorded)
        lose([each for each in found.lost if each[2] not in RAISES_FLOOR])
        add_tokens(
            batch_id=provider_batch.batch_id,
            prompt=found.prompt_tokens,
            completion=found.completion_tokens,
        )
    for each in found.lost:
        if each[2] in RAISES_FLOOR:
            refuse(*each)
    counted.recorded += len(recorded)


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
    found: _Slice,
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


def _note(found: _Slice, recorded: Sequence[Recorded]) -> None:
    """The outcome of the lines whose answers were recorded."""
    for outcome, second in ((Outcome.RECORDED, False), (Outcome.DUPLICATE, True)):
        chosen = [
            found.lines[job].custom_id
            for job, became in zip(found.rows, recorded, strict=True)
            if (became is Recorded.DUPLICATE) is second
        ]
        if chosen:
            BatchLine.objects.filter(pk__in=chosen).update(outcome=outcome)
