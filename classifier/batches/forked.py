"""Work split among forked processes: Python reads with one core otherwise, however many there are."""

import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection

_ENDING = (signal.SIGINT, signal.SIGTERM)


class PartDiedError(Exception):
    """A process ended before its part was done; what it had committed stands."""


def run_parts(work: Callable[[int], Any], *, parts: int) -> list[Any]:
    """`work(part)` for each part in a process of its own; what they return must be JSON.

    Each has a database connection of its own. Raises `PartDiedError` once all have ended, and lets
    none outlive an interruption of this process.
    """
    children: list[tuple[int, int]] = []
    try:
        for part in range(parts):
            with signals_wait() as before:
                children.append(_fork(work, part, signals=before))
        return _results(children)
    except BaseException:
        for pid, _pipe in children:
            _end(pid)
        raise


@contextmanager
def signals_wait() -> Iterator[set[int]]:
    """Gives what was blocked before. Else one could come while nobody knows of the child yet, or in
    the child, where it would end the parent's work as if it were its own.

    The mask is for the child. In a parent with threads another one is given the signal, and Python
    answers it in the main thread all the same, so there it is kept for afterwards.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    came: list[int] = []
    answers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        answers = {each: signal.getsignal(each) for each in _ENDING}
    try:
        for each in answers:
            signal.signal(each, lambda number, _frame: came.append(number))
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        yield before
    finally:
        # First: an answer that is in force again may raise.
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _answer_with(answers)
        for number in came:
            signal.raise_signal(number)


def _answer_with(answers: Mapping[int, Any]) -> None:
    try:
        for each, answer in answers.items():
            signal.signal(each, answer)
    except BaseException:  # one came, and its answer raised before the other's was in force
        for each, answer in answers.items():
            signal.signal(each, answer)
        raise


def _fork(work: Callable[[int], Any], part: int, *, signals: set[int]) -> tuple[int, int]:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    code = 1
    try:
        os.close(reading)
        # Whatever the parent answers to them.
        for number in _ENDING:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        # The parent's own, with its locks: it is left alone, and psycopg closes none that it inherited.
        connection.connection = None
        # Its pool as well, whose threads are the parent's.
        connection.settings_dict["OPTIONS"].pop("pool", None)
        # Counting references frees what a slice makes; what was imported need not be looked through.
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)
        with open(writing, "w", encoding="utf-8") as out:  # noqa: PTH123 - a descriptor
            json.dump(work(part), out)
        code = 0
    except Exception:  # noqa: BLE001 - told here, for the process ends
        sys.excepthook(*sys.exc_info())
    finally:
        # Nothing of the parent's is flushed or closed twice.
        os._exit(code)
    raise AssertionError("unreachable")


def _results(children: Sequence[tuple[int, int]]) -> list[Any]:
    found: list[Any] = []
    for _pid, pipe in children:
        with open(pipe, encoding="utf-8") as told:  # noqa: PTH123 - a descriptor
            found.append(told.read())
    ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid, _pipe in children]
    if any(ends):
        raise PartDiedError(f"parts ended with {ends}")
    return [json.loads(each) for each in found]


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    except (ProcessLookupError, ChildProcessError):
        pass  # it has ended, and somebody has heard of it
