"""Runs the product's processes: starts, watches, restarts and stops them in order.

Every process has a session and a log of its own. The guardian of the home knows each of them, so
that a kill -9 of this process leaves nothing running.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dev.errors import DevError
from dev.guardian import stop_in_order
from dev.servers import tail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from dev.home import Home

GRACE_SECONDS = 20.0
FIRST_DELAY = 0.5
LONGEST_DELAY = 10.0
STEADY_SECONDS = 30.0
"""A process that ran this long starts over with the first delay when it dies."""


class Interrupted(Exception):  # noqa: N818  not an error: somebody asked us to stop
    """Ctrl-C, a signal to end, or the end of the program that started us."""


class Interruption:
    """Turns signals into a question that the waiting loops ask.

    No exception arrives between two statements that belong together, and a second Ctrl-C hurries
    the stop instead of breaking it.
    """

    def __init__(self, *, with_parent: bool = False) -> None:
        self._asked = 0
        self._parent = os.getppid() if with_parent else None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked += 1

    @property
    def asked(self) -> bool:
        orphaned = self._parent is not None and os.getppid() != self._parent
        return self._asked > 0 or orphaned

    @property
    def hurry(self) -> bool:
        return self._asked > 1

    def check(self) -> None:
        if self.asked:
            raise Interrupted


@dataclass(frozen=True)
class Program:
    """What to run. `env` is the whole environment; `grace` in seconds from SIGTERM to SIGKILL."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    restart: bool = True
    grace: float = GRACE_SECONDS


@dataclass
class _Running:
    program: Program
    process: subprocess.Popen[bytes] | None
    started: float
    delay: float = FIRST_DELAY
    again_at: float = field(default=0.0)


class Supervisor:
    """Processes by name. `check` has to be called regularly; it never waits."""

    def __init__(self, home: Home, *, say: Callable[[str], None]) -> None:
        self._home = home
        self._say = say
        self._running: dict[str, _Running] = {}

    def start(self, program: Program) -> int:
        """Start it and return its pid; its output goes to `logs/<name>.log`."""
        process = self._spawn(program)
        self._running[program.name] = _Running(program, process, time.monotonic())
        return process.pid

    def pid(self, name: str) -> int | None:
        process = self._running[name].process
        return process.pid if process is not None else None

    def check(self, *, starting: bool = False) -> None:
        """Restart what died, each with its own growing delay.

        DevError with the end of the log for a process without restart, and for any while starting.
        """
        now = time.monotonic()
        for one in self._running.values():
            if one.process is None:
                if now >= one.again_at:
                    one.process, one.started = self._spawn(one.program), now
                continue
            code = one.process.poll()
            if code is None:
                continue
            self._bury(one.process)
            one.process = None
            if starting or not one.program.restart:
                raise DevError(self._epitaph(one.program.name, code))
            if now - one.started > STEADY_SECONDS:
                one.delay = FIRST_DELAY
            one.again_at = now + one.delay
            self._say(
                f"{one.program.name} ended ({describe_exit(code)}), "
                f"starts again in {one.delay:.1f} s"
            )
            one.delay = min(one.delay * 2, LONGEST_DELAY)

    def run_step(self, program: Program, *, check: Callable[[], None]) -> None:
        """Run a program to its end; DevError with the end of its log when it fails.

        `check` is asked while waiting and may raise; the program is then stopped.
        """
        process = self._spawn(program)
        try:
            while process.poll() is None:
                check()
                time.sleep(0.02)
        finally:
            if process.poll() is None:
                self._stop([process])
            else:
                self._bury(process)
        if process.returncode != 0:
            raise DevError(self._epitaph(program.name, process.returncode))

    def stop(self, *, hurry: Callable[[], bool] = lambda: False) -> None:
        """SIGTERM to all at once, SIGKILL at the end of each grace or when `hurry` says so."""
        processes = [one.process for one in self._running.values() if one.process is not None]
        self._running.clear()
        self._stop(processes, hurry=hurry)

    def stop_one(self, name: str) -> None:
        """The same for one of them; it is not started again."""
        process = self._running.pop(name).process
        if process is not None:
            self._stop([process])

    def _stop(
        self,
        processes: list[subprocess.Popen[bytes]],
        *,
        hurry: Callable[[], bool] = lambda: False,
    ) -> None:
        pids = {one.pid for one in processes}
        stop_in_order([one for one in self._home.guardian.watched if one.pid in pids], hurry=hurry)
        for process in processes:
            self._bury(process)

    def _spawn(self, program: Program) -> subprocess.Popen[bytes]:
        with (self._home.logs / f"{program.name}.log").open("ab") as log:
            process = subprocess.Popen(
                program.argv,
                env=dict(program.env),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # In a session of its own: a Ctrl-C at the terminal must not reach it directly.
                start_new_session=True,
            )
        self._home.guardian.watch(
            name=program.name,
            pid=process.pid,
            stop_signal=signal.SIGTERM,
            grace=program.grace,
            stage=0,
        )
        return process

    def _bury(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        # Its children, when it died without them. Their group keeps the number taken; an empty
        # group's number comes up again only after all others have been used.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        self._home.guardian.forget(process.pid)

    def _epitaph(self, name: str, code: int) -> str:
        log = self._home.logs / f"{name}.log"
        return f"{name} ended ({describe_exit(code)}). The end of {log}:\n{tail(log)}"


def describe_exit(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit {code}"


def check_port(port: int) -> None:
    """Raise DevError when nothing can listen on 127.0.0.1:port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the web server does: connections still closing from the last run do not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise DevError(
                    f"port {port} is taken by another program: choose another one, "
                    f"for example PORT={port + 1}"
                ) from None
            raise DevError(
                f"cannot listen on port {port} ({error.strerror}): choose another PORT"
            ) from None


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(
    condition: Callable[[], bool], *, seconds: float, what: str, check: Callable[[], None]
) -> None:
    """Wait for the condition; `check` may raise meanwhile. DevError when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        check()
        if time.monotonic() > deadline:
            raise DevError(f"{what} in {seconds:.0f} s")
        time.sleep(0.05)
