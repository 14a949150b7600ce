"""A slice of a batch for the provider: its lines are chosen, then its file is written."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from django.db import connection, transaction
from django.db.models.functions import Now

from classifier.batches import files
from classifier.batches.lines import Line, NoLineError, build_line
from classifier.batches.lost import Lost, OpenLine, note_outcomes
from classifier.batches.sizes import MOST_LINES, most_lines_now
from classifier.models import (
    Batch,
    BatchLine,
    Job,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
)
from reports.failpoints import Point, hit
from reports.models import Report

# The provider's limit, a little below; source: the reference on the model contract, section 5.
MOST_BYTES = 195_000_000
PIECE = 500


def choose_lines(*, batch_id: int, at_most: int = MOST_LINES) -> ProviderBatch | None:
    """Put the batch's next jobs into a file to be; None where none is left to ask this way, or now."""
    with transaction.atomic():
        batch = Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
        most = min(at_most, most_lines_now(batch))
        if batch.state != Batch.State.RUNNING or not most:
            return None
        provider_batch = ProviderBatch.objects.create(batch=batch)
        with connection.cursor() as cursor:
            cursor.execute(
                _CHOOSE,
                {
                    "provider_batch": provider_batch.pk,
                    "batch": batch_id,
                    "at_most": most,
                },
            )
            lines: int = cursor.rowcount
        if not lines:
            provider_batch.delete()
            return None
        ProviderBatch.objects.filter(pk=provider_batch.pk).update(lines=lines)
    hit(Point.BATCH_AFTER_LINES)
    return provider_batch


_CHOOSE = """
INSERT INTO classifier_batchline (custom_id, provider_batch_id, job_id, least_tokens, outcome, reason)
SELECT gen_random_uuid(), %(provider_batch)s, job.id, 0, '', ''
FROM classifier_job AS job
WHERE job.batch_id = %(batch)s AND job.through = 'provider_batch' AND NOT job.done AND NOT job.parked
    AND NOT EXISTS (SELECT FROM classifier_batchline AS line WHERE line.job_id = job.id
        AND line.outcome = '')
ORDER BY job.id
LIMIT %(at_most)s
"""


@dataclass
class _Written:
    """What stands in the file."""

    lines: int = 0
    size: int = 0
    tokens: int = 0
    hash: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def add(self, line: Line, to: IO[bytes]) -> None:
        to.write(line.text)
        self.hash.update(line.text)
        self.lines += 1
        self.size += len(line.text)
        self.tokens += line.tokens


def write_file(
    *,
    provider_batch: ProviderBatch,
    policy: PolicyVersion,
    model: ProviderModel,
    most_bytes: int = MOST_BYTES,
    between: Callable[[], object] = lambda: None,
) -> None:
    """Write the file of its lines, piece by piece; what one line cannot ask goes through calls.

    Written anew it has the same lines. Those beyond the limit in bytes are given back.

    Raises `UnknownLimitError`, `PolicyTooLongError`, and OSError where the disk is full.
    """
    written = _Written()
    path = files.path_of(provider_batch, files.INPUT)
    files.begin(path)
    with path.open("wb") as file:
        for piece in _pieces(provider_batch):
            if not _write_piece(piece, file, written, asked_by=(policy, model), most=most_bytes):
                break
            between()
    _close_file(provider_batch, written)
    if not written.lines:
        files.remove(provider_batch, files.INPUT)
    hit(Point.BATCH_AFTER_FILE)


def _pieces(provider_batch: ProviderBatch) -> Iterator[Sequence[BatchLine]]:
    after = 0
    while piece := list(
        provider_batch.all_lines.filter(outcome="", job__gt=after)
        .select_related("job")
        .order_by("job")[:PIECE]
    ):
        yield piece
        after = piece[-1].job_id


def _write_piece(
    piece: Sequence[BatchLine],
    file: IO[bytes],
    written: _Written,
    *,
    asked_by: tuple[PolicyVersion, ProviderModel],
    most: int,
) -> bool:
    """Whether there is room for more."""
    policy, model = asked_by
    reports = Report.objects.select_related("content").in_bulk(
        [line.job.report_id for line in piece]
    )
    asked: dict[BatchLine, int] = {}
    not_sent: list[Lost] = []
    room = True
    for line in piece:
        try:
            built = build_line(
                line=line, report=reports[line.job.report_id], policy=policy, model=model
            )
        except NoLineError as error:
            asked_of = OpenLine(line.custom_id, line.job_id, line.job.report_id)
            not_sent.append((asked_of, BatchLine.Outcome.NOT_SENT, error.reason))
            continue
        if written.size + len(built.text) > most:
            room = False
            break
        written.add(built, file)
        asked[line] = built.least_tokens
    with transaction.atomic():
        _note_sent(asked)
        _go_through_calls(not_sent)
    return room


def _note_sent(asked: dict[BatchLine, int]) -> None:
    """What each line must at the least have read; it also marks the line as standing in the file."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE classifier_batchline AS line SET least_tokens = sent.least_tokens"
            " FROM unnest(%s::uuid[], %s::int[]) AS sent (custom_id, least_tokens)"
            " WHERE line.custom_id = sent.custom_id",
            [[line.custom_id for line in asked], list(asked.values())],
        )


def _go_through_calls(not_sent: Sequence[Lost]) -> None:
    note_outcomes(not_sent)
    Job.objects.filter(pk__any=[line.job_id for line, _outcome, _reason in not_sent]).update(
        through=Job.Through.CALLS
    )


def _close_file(provider_batch: ProviderBatch, written: _Written) -> None:
    """The file is what will be sent: lines that found no room in it are free for the next."""
    with transaction.atomic():
        provider_batch.all_lines.filter(outcome="", least_tokens=0).delete()
        state = ProviderBatch.State
        ProviderBatch.objects.filter(pk=provider_batch.pk).update(
            lines=written.lines,
            input_bytes=written.size,
            input_sha256=written.hash.hexdigest(),
            estimated_tokens=written.tokens,
            state=state.PLANNED if written.lines else state.DONE,
            next_step_at=Now(),
        )
