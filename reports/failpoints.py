"""Named places where a test can make a process die, stop, fail or dawdle.

`FAILPOINTS=task.after_claim=kill` in the environment of a process arms them; several stand with `;`
between. Refused unless the settings say `FAILPOINTS_ALLOWED`, which only ENVIRONMENT=test does.
Unarmed, a place costs one look into an empty dictionary.

| action | what happens |
|---|---|
| kill | SIGKILL to this process |
| stop | SIGSTOP to this process; whoever armed it wakes it |
| term-group | SIGTERM to the whole process group, as a service manager may |
| raise | `FailpointError` |
| memory | `MemoryError` |
| sleep:SECONDS | the thread sleeps |

An action fires once for each `*N` (default 1) over all processes that share `FAILPOINTS_DIR`, so
that the process which is started again does not die again.
"""

import os
import signal
import time
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


class Point(StrEnum):
    """The places, in the order in which a report passes them."""

    INTAKE_AFTER_INSERT = "intake.after_insert"
    INTAKE_AFTER_COMMIT = "intake.after_commit"
    NUDGE_AFTER_PUBLISH = "nudge.after_publish"
    TASK_START = "task.start"
    TASK_AFTER_CLAIM = "task.after_claim"
    TASK_BEFORE_MODEL = "task.before_model"
    TASK_AFTER_MODEL = "task.after_model"
    TASK_AFTER_READ = "task.after_read"
    RECORD_AFTER_SUPERSEDE = "record.after_supersede"
    RECORD_AFTER_INSERT = "record.after_insert"
    RECORD_AFTER_COMMIT = "record.after_commit"
    TASK_BEFORE_ACK = "task.before_ack"
    SWEEP_AFTER_CHOOSE = "sweep.after_choose"
    SWEEP_AFTER_PUBLISH = "sweep.after_publish"
    # And those that a batch passes, as far as they are not the same.
    BATCH_AFTER_JOBS = "batch.after_jobs"
    BATCH_AFTER_LINES = "batch.after_lines"
    BATCH_AFTER_FILE = "batch.after_file"
    BATCH_AFTER_UPLOAD = "batch.after_upload"
    BATCH_UPLOAD_NOTED = "batch.upload_noted"
    BATCH_AFTER_CREATE = "batch.after_create"
    BATCH_CREATE_NOTED = "batch.create_noted"
    BATCH_AFTER_POLL = "batch.after_poll"
    BATCH_AFTER_DOWNLOAD = "batch.after_download"
    BATCH_AFTER_SLICE = "batch.after_slice"
    BATCH_AFTER_RECORDED = "batch.after_recorded"
    BATCH_AFTER_DELETE = "batch.after_delete"


class FailpointError(Exception):
    """What the action `raise` raises."""


def hit(point: Point) -> None:
    """Do what is armed here, if anything is."""
    armed = _armed.get(point)
    if armed is not None and _may_fire(point, armed[1]):
        armed[0]()


def _raise() -> None:
    raise FailpointError


def _memory() -> None:
    raise MemoryError


_ACTIONS: dict[str, Callable[[], None]] = {
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "term-group": lambda: os.killpg(os.getpgrp(), signal.SIGTERM),
    "raise": _raise,
    "memory": _memory,
}


def read_failpoints(text: str, *, allowed: bool) -> dict[str, tuple[Callable[[], None], int]]:
    """`point=action*times;…` to what each place does; raises `ImproperlyConfigured`."""
    armed: dict[str, tuple[Callable[[], None], int]] = {}
    if text and not allowed:
        raise ImproperlyConfigured("FAILPOINTS is set outside tests; unset it.")
    for each in filter(None, text.split(";")):
        point, _, rest = each.partition("=")
        action, _, times = rest.partition("*")
        name, _, seconds = action.partition(":")
        try:
            wanted = partial(time.sleep, float(seconds)) if name == "sleep" else _ACTIONS[name]
            armed[Point(point)] = (wanted, int(times or 1))
        except (KeyError, ValueError):
            raise ImproperlyConfigured(f"FAILPOINTS: {each!r} is not point=action*times") from None
    return armed


def _may_fire(point: Point, times: int) -> bool:
    """Take one of the point's shots, among all processes: each is a file that only one can make."""
    directory = Path(os.environ["FAILPOINTS_DIR"])
    for number in range(times):
        try:
            (directory / f"{point}.{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        return True
    return False


_armed = read_failpoints(os.environ.get("FAILPOINTS", ""), allowed=settings.FAILPOINTS_ALLOWED)
