"""Stops what was started, in order, even when the starter is killed with -9.

The owner keeps the write end of a pipe and tells the guardian which processes to watch. When the
pipe ends, for whatever reason, the guardian stops every process still watched: signal, wait, and
SIGKILL at the end of the grace, one stage after the other.

The guardian runs as a plain script (`python -I -S guardian.py`): it starts in 20 ms and does not
depend on the project being importable. So this file imports the standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

POLL_SECONDS = 0.02
KILL_SECONDS = 5.0
"""How long a process may take to vanish after SIGKILL before we stop waiting for it."""


@dataclass(frozen=True)
class Watched:
    """A process and how it wants to be stopped. Stages stop in ascending order."""

    name: str
    pid: int
    identity: str
    signal: int
    grace: float
    stage: int


def identity(pid: int) -> str | None:
    """Name the process behind a pid, so that a reused pid is not mistaken for it.

    None when nothing runs under that pid; a zombie does not run any more.
    """
    if not Path("/proc/self/stat").exists():
        return _identity_by_ps(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name in parentheses may itself hold spaces and parentheses: read from the last one on.
    fields = stat[stat.rindex(")") + 2 :].split()
    if fields[0] in "ZX":
        return None
    return f"{_boot_id()}:{fields[19]}"


def _boot_id() -> str:
    # Start times count from boot: without this a ledger kept over a reboot could match.
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _identity_by_ps(pid: int) -> str | None:
    found = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = found.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def runs(watched: Watched) -> bool:
    return identity(watched.pid) == watched.identity


def stop_in_order(
    everything: Iterable[Watched], *, hurry: Callable[[], bool] = lambda: False
) -> None:
    """Stop all of them, stage by stage; what is gone already is skipped.

    `hurry` is asked while waiting: once true, the grace is over.
    """
    watched = list(everything)
    for stage in sorted({one.stage for one in watched}):
        group = [one for one in watched if one.stage == stage and runs(one)]
        for one in group:
            _send(one, one.signal)
        started = time.monotonic()
        while group:
            for one in group:
                if hurry() or time.monotonic() - started > one.grace:
                    _kill_with_its_group(one)
            longest = max(one.grace for one in group) + KILL_SECONDS
            if time.monotonic() - started > longest:
                break
            time.sleep(POLL_SECONDS)
            group = [one for one in group if runs(one)]


def _send(one: Watched, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        if runs(one):
            os.kill(one.pid, number)


def _kill_with_its_group(one: Watched) -> None:
    # Every watched process leads a group of its own, and while the leader lives the number is its.
    with contextlib.suppress(ProcessLookupError):
        if runs(one) and os.getpgid(one.pid) == one.pid:
            os.killpg(one.pid, signal.SIGKILL)
    _send(one, signal.SIGKILL)


def read_ledger(ledger: Path) -> list[Watched]:
    try:
        return [Watched(**row) for row in json.loads(ledger.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []


class Guardian:
    """The owner's side: `watch` after each start, `forget` after each orderly end.

    `ledger` is a file that names the watched processes, for the case that the guardian dies with
    its owner: the next start reads it. `hold` are file descriptors that the guardian keeps open
    while it lives; a lock held that way is released only when everything has been stopped.
    """

    def __init__(self, *, ledger: Path, hold: Sequence[int] = ()) -> None:
        self._ledger = ledger
        self._watched: dict[int, Watched] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=tuple(hold),
            cwd="/",
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def watched(self) -> list[Watched]:
        return list(self._watched.values())

    def watch(self, *, name: str, pid: int, stop_signal: int, grace: float, stage: int) -> Watched:
        """Watch a process just started; `grace` in seconds."""
        one = Watched(name, pid, identity(pid) or "gone", stop_signal, grace, stage)
        self._tell({"watch": asdict(one)})
        self._watched[pid] = one
        self._write_ledger()
        return one

    def forget(self, pid: int) -> None:
        self._tell({"forget": pid})
        self._watched.pop(pid, None)
        self._write_ledger()

    def remove_at_end(self, directory: Path) -> None:
        """Have the directory deleted when all is stopped."""
        self._tell({"remove": str(directory)})

    def close(self) -> None:
        """Let the guardian go, and wait until it has: it stops what is still watched."""
        # Said in words too: a fork of ours without exec would keep the pipe open.
        self._tell({"end": True})
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        self._process.wait()

    def _tell(self, message: dict[str, Any]) -> None:
        # A guardian that was killed costs the protection, not the work; the ledger remains.
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.flush()

    def _write_ledger(self) -> None:
        draft = self._ledger.with_suffix(".new")
        with contextlib.suppress(FileNotFoundError):  # the directory was deleted under us
            draft.write_text(json.dumps([asdict(one) for one in self.watched]), encoding="utf-8")
            draft.replace(self._ledger)


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    watched: dict[int, Watched] = {}
    directories: list[str] = []
    for line in sys.stdin:
        if not line.endswith("\n"):  # the owner died while writing
            break
        message = json.loads(line)
        if "watch" in message:
            watched[message["watch"]["pid"]] = Watched(**message["watch"])
        elif "forget" in message:
            watched.pop(message["forget"], None)
        elif "remove" in message:
            directories.append(message["remove"])
        else:
            break
    stop_in_order(watched.values())
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
