"""The product's processes of one stack, armed with fail points; found dead, they start again.

A process is started with one action at every one of its fail points. A point fires while there is
a shot left for it, and a shot is a file that does not exist yet: so a case arms one point by
deleting files, and the process need not be started anew for it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from dev import programs
from dev.faults.timing import SHOTS
from dev.guardian import identity
from dev.processes import Program, Supervisor, wait_until
from dev.product import answers_ok

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from dev.home import Home

WORKER_POINTS = (
    "task.start",
    "task.after_claim",
    "task.before_model",
    "task.after_model",
    "task.after_read",
    "record.after_supersede",
    "record.after_insert",
    "record.after_commit",
    "task.before_ack",
)
WEB_POINTS = ("intake.after_insert", "intake.after_commit", "nudge.after_publish")
SWEEP_POINTS = ("sweep.after_choose", "nudge.after_publish", "sweep.after_publish")
POINTS = {"worker": WORKER_POINTS, "web": WEB_POINTS, "sweep": SWEEP_POINTS}
ACTIONS = ("kill", "term-group", "stop", "raise", "memory")

WORKER_THREADS = 4
PREFORK_CHILDREN = 2
READY_SECONDS = 60.0


class Layout(NamedTuple):
    """Which processes run, and which one does what at its fail points ("" for none)."""

    pool: str = "threads"
    workers: int = 1
    sweeps: int = 1
    armed: str = ""
    """`worker`, `web` or `sweep`: of several the first."""
    action: str = ""


class Processes:
    """Starts, watches and ends them; every one by its own pid and process group."""

    def __init__(self, home: Home, env: Mapping[str, str], port: int) -> None:
        self.port = port
        self.shots = home.directory / "shots"
        self.shots.mkdir(exist_ok=True)
        self._home = home
        self._env = env
        self._supervisor = Supervisor(home, say=lambda _line: None)
        self._programs: dict[str, Program] = {}
        self._logged: dict[str, int] = {}

    def bring_into(self, layout: Layout) -> None:
        """Start what is wanted and end what is not; return when all of it is at work."""
        self.revive()
        wanted = {program.name: program for program in self._wanted(layout)}
        for name in [name for name, old in self._programs.items() if wanted.get(name) != old]:
            self.end(name)
        for name, program in wanted.items():
            if name not in self._programs:
                self._start(program)
        for name in wanted:
            wait_until(
                lambda name=name: self._is_ready(name),  # type: ignore[misc]
                seconds=READY_SECONDS,
                what=f"{name} did not become ready",
                check=self.revive,
            )

    def revive(self) -> None:
        """Start again what is dead, at once."""
        for name, program in list(self._programs.items()):
            if self.is_dead(name):
                self._supervisor.stop_one(name)
                self._start(program)

    def is_dead(self, name: str) -> bool:
        pid = self._supervisor.pid(name)
        return pid is None or identity(pid) is None

    def pid(self, name: str) -> int:
        pid = self._supervisor.pid(name)
        if pid is None:
            raise ProcessLookupError(name)
        return pid

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send it to the process and its children; a dead one is no error."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid(name), number)

    def end(self, name: str) -> None:
        """Kill it with its group. What it held is lost, as the bench is about."""
        self.signal(name, signal.SIGKILL)
        self._supervisor.stop_one(name)
        del self._programs[name]

    def end_all(self) -> None:
        for name in list(self._programs):
            self.end(name)

    def log_of(self, name: str) -> Path:
        return self._home.logs / f"{name}.log"

    # --- fail points

    def disarm(self) -> None:
        """No point has a shot left."""
        for points in POINTS.values():
            for point in points:
                for number in range(SHOTS):
                    (self.shots / f"{point}.{number}").touch()

    def arm(self, point: str, times: int = 1) -> None:
        for number in range(times):
            (self.shots / f"{point}.{number}").unlink(missing_ok=True)

    def fired(self, point: str, times: int) -> list[float]:
        """When the armed shots were fired, in seconds since 1970, oldest first."""
        moments = []
        for number in range(times):
            with contextlib.suppress(FileNotFoundError):
                moments.append((self.shots / f"{point}.{number}").stat().st_mtime)
        return sorted(moments)

    # --- starting

    def _start(self, program: Program) -> None:
        log = self.log_of(program.name)
        self._logged[program.name] = log.stat().st_size if log.exists() else 0
        self._programs[program.name] = program
        self._supervisor.start(program)

    def _is_ready(self, name: str) -> bool:
        if name == "web":
            return answers_ok(f"http://127.0.0.1:{self.port}/healthz")
        if name.startswith("sweep"):
            # It has said nothing yet; that its handlers are in place is enough to be ended well.
            return not self.is_dead(name)
        with self.log_of(name).open("rb") as log:
            log.seek(self._logged[name])
            return b" ready.\n" in log.read()

    def _wanted(self, layout: Layout) -> list[Program]:
        wanted = [_web(self.port, self._armed_env("web", layout))]
        armed, plain = self._armed_env("worker", layout), dict(self._env)
        wanted += [
            _worker(name, layout.pool, armed if name == "worker-a" else plain)
            for name in ("worker-a", "worker-b")[: layout.workers]
        ]
        armed = self._armed_env("sweep", layout)
        wanted += [
            Program(
                name,
                (sys.executable, programs.MANAGE, "sweep"),
                armed if name == "sweep-a" else plain,
            )
            for name in ("sweep-a", "sweep-b")[: layout.sweeps]
        ]
        return wanted

    def _armed_env(self, kind: str, layout: Layout) -> dict[str, str]:
        env = dict(self._env)
        if layout.armed == kind:
            env["FAILPOINTS"] = ";".join(
                f"{point}={layout.action}*{SHOTS}" for point in POINTS[kind]
            )
            env["FAILPOINTS_DIR"] = str(self.shots)
        return env


def _web(port: int, env: Mapping[str, str]) -> Program:
    return programs.web(port, env=env)


def _worker(name: str, pool: str, env: Mapping[str, str]) -> Program:
    size = WORKER_THREADS if pool == "threads" else PREFORK_CHILDREN
    # Children of a fork must not share their parent's pool of connections.
    database_pool = str(size) if pool == "threads" else "0"
    return Program(
        name,
        (
            *(sys.executable, "-m", "celery", "-A", "moderation_site", "worker"),
            *("-Q", "live", "-P", pool, "-c", str(size), "-n", f"{name}@%h"),
            *("--without-gossip", "--without-mingle", "-l", "INFO"),
        ),
        {**env, "DATABASE_POOL_SIZE": database_pool},
    )


def poll(condition: Callable[[], bool], *, seconds: float) -> bool:
    """Wait for the condition; False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
