"""Real processes of workers, sweep and commands on the test's own database and broker."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from classifier.tests.situations import wait_until
from dev import programs
from dev.processes import Program
from dev.pytest_services import services
from reports.nudge import Lane
from reports.tests.sending import database_url

START_SECONDS = 60
STOP_SECONDS = 15


@contextmanager
def workers(
    logs: Path,
    *,
    model_url: str,
    count: int = 1,
    pool: str = "threads",
    concurrency: int = 4,
    sweep_every: float | None = None,
    lane: Lane = Lane.LIVE,
) -> Iterator[list[Path]]:
    """Celery workers of a lane, and a sweep where it has an interval; gives their logs.

    They are ready when the block begins and stopped when it ends.
    """
    env = {
        **programs.environment(database_url=database_url(), redis_url=services().redis_url),
        "ENVIRONMENT": "test",
        "OPENAI_BASE_URL": model_url,
        "SWEEP_INTERVAL_SECONDS": str(sweep_every or 5),
        "DATABASE_POOL_SIZE": str(concurrency) if pool == "threads" else "0",
    }
    started = [_worker(number, lane, pool, concurrency, env) for number in range(count)]
    files = [logs / f"{program.name}.log" for program in started]
    if sweep_every is not None:
        started.append(programs.sweep(env=env))
    running = [_start(program, logs / f"{program.name}.log") for program in started]
    try:
        for file in files:
            wait_until(lambda file=file: " ready." in file.read_text(), seconds=START_SECONDS)  # type: ignore[misc]
        yield files
    finally:
        _stop(running)


@contextmanager
def command(*arguments: str, **options: Any) -> "Iterator[subprocess.Popen[str]]":
    """A management command in a process of its own, on the test's own database; texts are pipes.

    It is killed where a test fails before its end.
    """
    with python(programs.MANAGE, *arguments, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def python(
    *arguments: str, env: Mapping[str, str] | None = None, **options: Any
) -> "subprocess.Popen[str]":
    """A Python program of the same kind."""
    own = programs.environment(database_url=database_url(), redis_url=services().redis_url)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**own, "ENVIRONMENT": "test", **(env or {})},
        text=True,
        **pipes,
    )


def _worker(number: int, lane: Lane, pool: str, concurrency: int, env: dict[str, str]) -> Program:
    options = ("-Q", lane, "-P", pool, "-c", str(concurrency), "-n", f"{lane}-{number}@%h")
    return Program(
        f"worker-{number}",
        (
            *(sys.executable, "-m", "celery", "-A", "moderation_site", "worker", *options),
            *("--without-gossip", "--without-mingle", "-l", "INFO"),
        ),
        env,
    )


def _start(program: Program, log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as output:
        return subprocess.Popen(
            program.argv,
            env=dict(program.env),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def _stop(running: "list[subprocess.Popen[bytes]]") -> None:
    """SIGTERM to all of them at once; SIGKILL, with its children, to whichever takes too long."""
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
