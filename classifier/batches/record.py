"""What came back for a provider's batch, recorded slice by slice: each question gets one outcome.

Whoever begins anew passes over the lines that have theirs. The reader and the recording step are the
live lane's.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from uuid import UUID

from django.db import transaction

from classifier.batches.answers import ReadSlice, read_slice
from classifier.batches.forked import run_parts
from classifier.batches.lost import lose, refuse
from classifier.batches.tally import add_tokens
from classifier.batches.told import Told, each_told
from classifier.jobs import RAISES_FLOOR
from classifier.models import BatchLine, PolicyVersion, ProviderBatch, ProviderModel
from classifier.recording import Recorded, record_rows
from reports.failpoints import Point, hit

MOST_PARTS = 4
# A smaller file is recorded in less time than it takes to fork.
BYTES_ALONE = 4_000_000
# So much of a file is in memory at once, read: hostile lines take two dozen times as much there.
MOST_SLICE_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Split:
    """How a file is recorded: by so many processes, so many lines a transaction at most."""

    parts: int = 1
    lines: int = 500

    @classmethod
    def of(cls, path: Path) -> "Split":
        """A large file by as many processes as there are cores, up to `MOST_PARTS`."""
        if path.stat().st_size < BYTES_ALONE:
            return cls()
        return cls(parts=min(MOST_PARTS, len(os.sched_getaffinity(0))))

    def is_of(self, part: int, *, number: int) -> bool:
        """Whether a line, by its number from 0, is the part's."""
        return number // self.lines % self.parts == part


@dataclass
class Counted:
    """What stood in the files. `unknown` lines are about questions nobody asked, or asked twice."""

    read: int = 0
    recorded: int = 0
    unknown: int = 0
    broken: int = 0


def record_file(  # noqa: PLR0913 - keywords, two of them for special uses
    *,
    provider_batch: ProviderBatch,
    path: Path,
    policy: PolicyVersion,
    model: ProviderModel,
    between: Callable[[], object] = lambda: None,
    split: Split | None = None,
) -> Counted:
    """Record a file of the provider, a slice a transaction; `between` is called after each.

    Raises `PartDiedError`.
    """
    if not path.exists():
        return Counted()
    split = split or Split.of(path)

    def record_part(part: int) -> dict[str, int]:
        counted = Counted()
        for told in _slices(path, counted, split=split, part=part):
            found = read_slice(provider_batch=provider_batch, told=told, policy=policy, model=model)
            counted.unknown += found.unknown
            counted.recorded += _write_slice(found, batch_id=provider_batch.batch_id)
            hit(Point.BATCH_AFTER_SLICE)
            between()
        return asdict(counted)

    alone = split.parts == 1
    every = [record_part(0)] if alone else run_parts(record_part, parts=split.parts)
    return Counted(**{name: sum(each[name] for each in every) for name in asdict(Counted())})


def _slices(path: Path, counted: Counted, *, split: Split, part: int) -> Iterator[dict[UUID, Told]]:
    """Readable lines by their question, of each slice that is this part's.

    Of two about the same one the first counts; where they stand in two slices, whichever is recorded
    first.
    """
    lines = each_told(path, wanted=lambda number: split.is_of(part, number=number))
    while some := list(_slice_of(lines, at_most=split.lines)):
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


def _slice_of(lines: Iterator[Told | None], *, at_most: int) -> Iterator[Told | None]:
    """So many of them, or fewer of much content."""
    size = 0
    for told in islice(lines, at_most):
        yield told
        size += told.size if told else 0
        if size >= MOST_SLICE_BYTES:
            return


def _write_slice(found: ReadSlice, *, batch_id: int) -> int:
    """How many verdicts were recorded."""
    with transaction.atomic():
        recorded = record_rows(found.rows, batch_id=batch_id) if found.rows else []
        _note(found, recorded)
    # By itself: recording ends with the batch's row, and that comes after every job's.
    with transaction.atomic():
        lose([each for each in found.lost if each[2] not in RAISES_FLOOR])
        add_tokens(
            batch_id=batch_id, prompt=found.prompt_tokens, completion=found.completion_tokens
        )
    for each in found.lost:
        if each[2] in RAISES_FLOOR:
            refuse(*each)
    return len(recorded)


def _note(found: ReadSlice, recorded: Sequence[Recorded]) -> None:
    """The outcome of the lines whose answers were recorded."""
    for outcome, second in (
        (BatchLine.Outcome.RECORDED, False),
        (BatchLine.Outcome.DUPLICATE, True),
    ):
        chosen = [
            found.lines[job].custom_id
            for job, became in zip(found.rows, recorded, strict=True)
            if (became is Recorded.DUPLICATE) is second
        ]
        if chosen:
            BatchLine.objects.filter(pk__any=chosen, outcome="").update(outcome=outcome)
