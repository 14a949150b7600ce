"""A server process that can be started, stopped, killed and started again on the same data."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from dev import unprivileged
from dev.errors import DevError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dev.home import Home

READY_SECONDS = 60.0
STOP_SECONDS = 30.0
LINGER_SECONDS = 10.0


class Server(ABC):
    """One server process with its data below a home. Not for use by several threads at once."""

    title: str
    name: str
    stage: int
    stop_signal: signal.Signals

    def __init__(self, home: Home) -> None:
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None
        self.log = home.logs / f"{self.name}.log"
        self.data = home.directory / self.name
        self.version = ""

    @property
    def pid(self) -> int:
        """The server's pid; DevError when it is not running."""
        if self._process is None:
            raise DevError(f"{self.title} is not running")
        return self._process.pid

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it and return when it answers; DevError with the end of its log when it does not.

        Takes over the data after `stop` and after `kill` alike.
        """
        if self.is_running():
            return
        self._prepare()
        started = time.monotonic()
        self._spawn()
        while not self._answers():
            if not self.is_running():
                self._reap()
                if self._predecessor_lingers() and time.monotonic() < started + LINGER_SECONDS:
                    time.sleep(0.1)
                    self._spawn()
                    continue
                raise DevError(f"{self.title} ended while starting:\n{tail(self.log)}")
            if time.monotonic() > started + READY_SECONDS:
                raise DevError(
                    f"{self.title} did not answer in {READY_SECONDS:.0f} s:\n{tail(self.log)}"
                )
            time.sleep(0.01)

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        if self.is_running():
            self._process.send_signal(number)
            try:
                self._process.wait(timeout=STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._reap()

    def _reap(self) -> None:
        if self._process is not None:
            self._process.wait()
            self._home.guardian.forget(self._process.pid)
            self._process = None

    def _spawn(self) -> None:
        way = self._way()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*way.prefix, *self._command()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._working_directory(),
                # In a session of its own: a Ctrl-C at the terminal must reach the owner alone.
                start_new_session=True,
                **way.options,
            )
        self._home.guardian.watch(
            name=self.name,
            pid=self._process.pid,
            stop_signal=self.stop_signal,
            grace=STOP_SECONDS,
            stage=self.stage,
        )

    def _way(self) -> unprivileged.RunAs:
        return unprivileged.RunAs()

    def _working_directory(self) -> Path:
        return self.data

    def _predecessor_lingers(self) -> bool:
        return False

    @abstractmethod
    def _prepare(self) -> None: ...

    @abstractmethod
    def _command(self) -> Sequence[str]: ...

    @abstractmethod
    def _answers(self) -> bool: ...


def tail(path: Path, *, lines: int = 15) -> str:
    """Return the last lines of a log; a sentence when there is none."""
    with contextlib.suppress(OSError):
        text = path.read_bytes()[-20_000:].decode(errors="replace").strip()
        if text:
            return "\n".join(text.splitlines()[-lines:])
    return f"({path} is empty)"
