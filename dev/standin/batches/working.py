"""What a batch goes through once it is created: its lines are looked at, answered and written."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from dev.standin.batches import lines
from dev.standin.batches.apart import Answerer
from dev.standin.batches.batch import Batch
from dev.standin.batches.files import Files, StoredFile
from dev.standin.batches.manners import BatchManners

SHUFFLED_WITHIN = 1_000
_CHUNK = 50


class Work:
    """`lines_out` says how many lines unfinished batches have, this one's among them."""

    def __init__(
        self, batch: Batch, *, files: Files, answerer: Answerer, lines_out: Callable[[], int]
    ) -> None:
        self._batch = batch
        self._manners = batch.manners
        self._files = files
        self._answerer = answerer
        self._lines_out = lines_out
        self._chance = random.Random(self._manners.seed)  # noqa: S311

    def run(self) -> None:
        try:
            # Opened once: the file may be deleted while its lines are answered.
            with self._answerer, self._batch.file.path.open("rb") as source:
                self._run_on(source)
        except (FileNotFoundError, EOFError, BrokenPipeError):
            gone = lines.complaint("gone", "The input file is gone, or who answered its lines.")
            self._batch.end("failed", errors=[gone])

    def _run_on(self, source: BinaryIO) -> None:
        batch, manners = self._batch, self._manners
        total, complaints = self._answerer.check(source)
        complaints = complaints or self._beyond_limits(total)
        if not complaints:
            batch.move("in_progress")
            if manners.ends != "failed":
                self._answer_all(source, total)
                return
            batch.interrupted.wait(manners.seconds)
            complaints = [lines.complaint(manners.failed_code, "The stand-in was told to fail.")]
        batch.end("failed", errors=complaints)

    def _beyond_limits(self, total: int) -> lines.Complaints:
        if found := too_big(self._batch.file, total, self._manners):
            return [lines.complaint(*found)]
        # Its own lines stand among those that are out, or two batches would not see one another.
        self._batch.set_total(total)
        limit = self._manners.token_limit
        if limit is not None and self._lines_out() > limit:
            message = "Enqueued token limit reached. Please try again once some batches are done."
            return [lines.complaint("token_limit_exceeded", message)]
        return []

    def _answer_all(self, source: BinaryIO, total: int) -> None:
        batch, manners = self._batch, self._manners
        order = self._chance.sample(range(total), total)
        first = set(order[: round(total * manners.answered)])
        failing = set(order[: round(len(first) * manners.fails)])
        with self._files.writing() as output, self._files.writing() as error:
            written = _Written(self._chance, output, manners)
            for some in _chunks(_lines_of(source, first)):
                if batch.interrupted.is_set():
                    break
                self._answer_some(some, written, error, failing)
            batch.interrupted.wait(manners.seconds)
            for some in _chunks(_lines_of(source, set(order) - first)):
                if batch.interrupted.is_set():
                    break
                if manners.ends == "completed":
                    self._answer_some(some, written, error)
                elif manners.ends == "expired":
                    for _number, line in some:
                        error.write(lines.expired_line(json.loads(line)["custom_id"]))
                    batch.count(failed=len(some))
            batch.move("finalizing")
            written.finish()
        empty = manners.empty_file
        batch.end(
            manners.ends,
            output=self._kept(output, "output", wanted=empty == "empty", unwanted=empty == "null"),
            error=self._kept(error, "error"),
        )

    def _answer_some(
        self,
        some: Sequence[tuple[int, bytes]],
        written: "_Written",
        error: BinaryIO,
        failing: AbstractSet[int] = frozenset(),
    ) -> None:
        manners = self._manners
        made = self._answerer.answer([line for number, line in some if number not in failing])
        for number, line in some:
            if number in failing:
                custom_id = json.loads(line)["custom_id"]
                failed = lines.failed_line(
                    custom_id, status=manners.fail_status, code=manners.fail_code
                )
                made.append((False, failed))
        for answered, line in made:
            if answered:
                written.add(line)
            else:
                error.write(line)
        answers = sum(answered for answered, _line in made)
        self._batch.count(completed=answers, failed=len(made) - answers)

    def _kept(
        self, file: BinaryIO, kind: str, *, wanted: bool = False, unwanted: bool = False
    ) -> StoredFile | None:
        """A file with nothing in it is kept only where it is wanted."""
        path = Path(file.name)
        if wanted:
            path.write_bytes(b"")
        elif unwanted or not path.stat().st_size:
            path.unlink()
            return None
        return self._files.keep(
            path,
            name=f"{self._batch.id}_{kind}.jsonl",
            purpose="batch_output",
            odd_id=self._manners.ids == "odd",
        )


def too_big(file: StoredFile, total: int, manners: BatchManners) -> tuple[str, str] | None:
    """Code and sentence where a file has more than it may."""
    if file.size > manners.most_bytes:
        return "file_too_large", f"A file may have {manners.most_bytes} bytes at most."
    if total > manners.most_lines:
        return "too_many_lines", f"A file may have {manners.most_lines} lines at most."
    return None


class _Written:
    """The output, in another order than the input, with what does not belong into it."""

    def __init__(self, chance: random.Random, output: BinaryIO, manners: BatchManners) -> None:
        self._chance = chance
        self._output = output
        self._within = SHUFFLED_WITHIN if manners.order == "shuffled" else 1
        self._held: list[bytes] = []
        self._twice = manners.duplicates
        for _ in range(manners.unknown):
            self._put(lines.foreign_line())
        for number in range(manners.broken):
            self._put(lines.line_of_no_use(number))

    def add(self, line: bytes) -> None:
        self._put(line)
        if self._twice:
            self._twice -= 1
            self._put(line)

    def finish(self) -> None:
        self._chance.shuffle(self._held)
        self._output.writelines(self._held)
        self._held.clear()

    def _put(self, line: bytes) -> None:
        if len(self._held) < self._within:
            self._held.append(line)
            return
        place = self._chance.randrange(len(self._held))
        self._output.write(self._held[place])
        self._held[place] = line


def _chunks(numbered: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    while some := list(islice(numbered, _CHUNK)):
        yield some


def _lines_of(source: BinaryIO, numbers: AbstractSet[int]) -> Iterator[tuple[int, bytes]]:
    """Those lines of the file, in its order."""
    if not numbers:
        return
    source.seek(0)
    for number, line in enumerate(source):
        if number in numbers:
            yield number, line
