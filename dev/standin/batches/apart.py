"""Who answers lines: this process, or one of its own where there are many.

A thread that answers lines one after the other keeps the interpreter from the calls that come
meanwhile. Measured with 20 of them a second that take 0.5 s: beside two batches their p99 was
0.74 s, and with a process of the lowest priority for the lines 0.54 s.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

from dev.standin.answering import Answering
from dev.standin.batches import lines
from dev.standin.batches.lines import Complaints, Made

MANY_BYTES = 2**22
_REPOSITORY = Path(__file__).resolve().parents[3]


class Answerer:
    """For a file of so many bytes; to be closed."""

    def __init__(self, model: Answering, *, size: int) -> None:
        self._model = model
        self._process: subprocess.Popen[bytes] | None = None
        if size > MANY_BYTES:
            self._process = subprocess.Popen(
                (sys.executable, "-m", "dev.standin.batches.apart"),
                cwd=_REPOSITORY,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the stand-in, which closes this one
            )

    def check(self, file: BinaryIO) -> tuple[int, Complaints]:
        """See `lines.check_lines`."""
        if self._process is None:
            return lines.check_lines(file)
        found: tuple[int, Complaints] = self._told("check", file.name)
        return found

    def answer(self, asked: Sequence[bytes]) -> list[Made]:
        """What each line becomes, by the manners and the script at this moment."""
        manners = self._model.manners
        # A step is for whoever comes next, here or as a call.
        if self._process is None or self._model.script or manners.misbehave is not None:
            return [lines.made_of(line, self._model.answer_line) for line in asked]
        found: list[Made] = self._told("answer", (manners, asked))
        return found

    def _told(self, what: str, value: Any) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("closed")
        pickle.dump((what, value), process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)  # noqa: S301  our own process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None


def main() -> None:
    """Do what comes on standard input until it ends."""
    os.nice(19)
    model = Answering(delay=0)
    answers = sys.stdout.buffer
    while True:
        try:
            what, value = pickle.load(sys.stdin.buffer)  # noqa: S301  our own process
        except EOFError:
            return
        result: object
        if what == "check":
            with Path(value).open("rb") as file:
                result = lines.check_lines(file)
        else:
            model.manners, asked = value
            result = [lines.made_of(line, model.answer_line) for line in asked]
        pickle.dump(result, answers)
        answers.flush()


if __name__ == "__main__":
    main()
