"""A real installation for a test: web, workers and sweep as processes on the test's database."""

import http.client
import json
import os
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.db import connection

from dev import programs
from dev.processes import Program, free_port, wait_until
from dev.pytest_services import services

STOP_SECONDS = 15.0


class Installation:
    """Starts, kills and stops the product's processes; speaks to its web process over HTTP."""

    def __init__(self, logs: Path, model_url: str, **environment: str) -> None:
        self.logs = logs
        self.port = free_port()
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.env = {
            **programs.environment(database_url=_test_database(), redis_url=services().redis_url),
            "ENVIRONMENT": "test",
            "OPENAI_BASE_URL": model_url,
            "SWEEP_INTERVAL_SECONDS": "0.5",
            **environment,
        }

    def start_web(self) -> None:
        self._start(programs.web(self.port, env=self.env))
        until(lambda: self._answers("/healthz"), what="the web process does not answer")

    def start_worker(self) -> None:
        self._start(programs.worker("live", env=self.env))

    def start_sweep(self) -> None:
        self._start(programs.sweep(env=self.env))

    def kill(self, name: str) -> None:
        """Kill -9 a process and its children, and wait until it is gone."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """End what runs: SIGTERM to the main process, SIGKILL when it takes too long."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.running.clear()

    def post(
        self, body: Any, *, api_key: str, idempotency_key: str | None = None
    ) -> tuple[int, Any]:
        """Send a body over HTTP; the status and the JSON of the answer."""
        headers = {
            "Authorization": f"Bearer {api_key}",
            "Idempotency-Key": idempotency_key or uuid.uuid4().hex,
            "Content-Type": "application/json",
        }
        return self._ask("POST", "/api/v1/reports/", json.dumps(body), headers)

    def get(self, path: str, *, api_key: str = "") -> tuple[int, Any]:
        return self._ask("GET", path, None, {"Authorization": f"Bearer {api_key}"})

    def log_of(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text("utf-8", "replace")

    def _start(self, program: Program) -> None:
        with (self.logs / f"{program.name}.log").open("ab") as log:
            self.running[program.name] = subprocess.Popen(
                program.argv,
                env=dict(program.env),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _answers(self, path: str) -> bool:
        try:
            return self.get(path)[0] == 200
        except OSError:
            return False

    def _ask(
        self, method: str, path: str, body: str | None, headers: dict[str, str]
    ) -> tuple[int, Any]:
        connected = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connected.request(method, path, body, headers)
            answer = connected.getresponse()
            text = answer.read().decode()
        finally:
            connected.close()
        return answer.status, json.loads(text) if text.startswith("{") else text


def until(condition: Callable[[], bool], *, what: str, seconds: float = 30) -> None:
    """Wait for the condition; fails with `what` when the time is over."""
    wait_until(condition, seconds=seconds, what=what, check=lambda: None)


@contextmanager
def installation(logs: Path, model_url: str, **environment: str) -> Iterator[Installation]:
    """An installation with nothing started yet; whatever was started is stopped at the end."""
    made = Installation(logs, model_url, **environment)
    try:
        yield made
    finally:
        made.stop()


def _test_database() -> str:
    """The address of the database that the test itself uses."""
    address = urlsplit(services().database_url)
    return urlunsplit(address._replace(path=f"/{connection.settings_dict['NAME']}"))
