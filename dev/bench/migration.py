"""A policy migration through the Batch API while live reports arrive, and what it does to them."""

from __future__ import annotations

import http.client
import json
import statistics
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from dev import programs
from dev.accounts import read_accounts
from dev.bench.history import write_history
from dev.bench.memory import Watched
from dev.bench.prepared import say
from dev.errors import DevError
from dev.processes import Program, free_port, wait_until
from dev.product import answers_ok, says_ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dev.processes import Interruption, Supervisor
    from dev.services import Services

LIVE_THREADS = 24
"""Twenty a second of half a second each keep ten busy; the rest is for what comes in a bunch."""
ARRIVALS_A_SECOND = 20
MODEL_SECONDS = 0.5
IDLE_SECONDS = 60
SENDERS_OF_LOAD = 4
SETTLED_SECONDS = 30
SECONDS_BETWEEN_LINES = 15.0


def bench_migration(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """p99 of live time-to-verdict before and during a migration of so many reports, and its outcome."""
    env = write_history(services, supervisor, interruption, rows=rows)
    model, web = free_port(), free_port()
    env |= programs.standin_environment(model) | {
        "BATCH_DIRECTORY": str(services.home.directory / "batches"),
        "SWEEP_INTERVAL_SECONDS": "1",
    }
    supervisor.start(_standin(model, env))
    accounts_file = services.home.directory / "accounts.json"
    supervisor.run_step(programs.accounts(accounts_file, env=env), check=interruption.check)
    accounts = read_accounts(accounts_file)
    if accounts is None:
        raise DevError("no accounts were made")
    for program in (
        _worker(env),
        programs.sweep(env=env),
        programs.web(web, env=env),
    ):
        supervisor.start(program)
    log = services.home.logs / "worker-live.log"
    for holds in (
        lambda: answers_ok(f"http://127.0.0.1:{model}/v1/models"),
        lambda: answers_ok(f"http://127.0.0.1:{web}/readyz"),
        lambda: says_ready(log),
    ):
        wait_until(holds, seconds=60, what="a process did not start", check=interruption.check)
    with (
        psycopg.connect(services.database_url, autocommit=True) as database,
        arrivals(web, accounts["key"], interruption) as sent,
    ):
        say("warming up")
        _wait(10, interruption)
        idle = _measure(database, lambda: _wait(IDLE_SECONDS, interruption))
        say(f"idle: {idle}")
        _activate(supervisor, interruption, env)
        reconcile = Reconciling(env)
        busy = _measure(database, lambda: reconcile.run(database, interruption))
        say(f"during the migration: {busy}")
        sent.stop()
        _wait_settled(database, interruption)
        outcome = _outcome(database)
    return {
        "rows": rows,
        "idle": idle,
        "during": busy,
        "p99_ratio": round(busy["p99"] / idle["p99"], 2),
        "arrivals_refused": sent.refused,
        **reconcile.figures(),
        **outcome,
    }


def _standin(port: int, env: dict[str, str]) -> Program:
    options = ("--port", str(port), "--delay", str(MODEL_SECONDS))
    return Program("model", (sys.executable, "-m", "dev.standin", *options), env)


def _worker(env: dict[str, str]) -> Program:
    worker = programs.worker("live", env=env)
    threads = str(LIVE_THREADS)
    argv = list(worker.argv)
    argv[argv.index("-c") + 1] = threads
    return Program(worker.name, tuple(argv), {**worker.env, "DATABASE_POOL_SIZE": threads})


def _activate(supervisor: Supervisor, interruption: Interruption, env: dict[str, str]) -> None:
    """A policy that differs by a word, and the batch that migrates everything to it."""
    text = (programs.ROOT / "classifier" / "policy_files" / "0001.toml").read_text("utf-8")
    changed = Path(env["BATCH_DIRECTORY"]).parent / "next.toml"
    changed.write_text(text.replace('prompt = """', 'prompt = """Judge it anew. ', 1), "utf-8")
    for name, *arguments in (
        ("load_policy", str(changed), "--activate"),
        ("reclassify", "--execute"),
    ):
        supervisor.run_step(
            programs.step(name, name, *arguments, env=env), check=interruption.check
        )


# --- Load


@dataclass
class Sent:
    """What arrived: `refused` counts answers other than 2xx."""

    stopping: threading.Event = field(default_factory=threading.Event)
    refused: int = 0

    def stop(self) -> None:
        self.stopping.set()


@contextmanager
def arrivals(port: int, key: str, interruption: Interruption) -> Iterator[Sent]:
    """Reports at a steady rate until the block ends."""
    sent = Sent()
    threads = [
        threading.Thread(target=_send, args=(port, key, number, sent), daemon=True)
        for number in range(SENDERS_OF_LOAD)
    ]
    for thread in threads:
        thread.start()
    try:
        yield sent
    finally:
        interruption.check()
        sent.stop()
        for thread in threads:
            thread.join(timeout=10)


def _send(port: int, key: str, number: int, sent: Sent) -> None:
    """Every fourth report, each at its own time whatever the last one took."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    step = SENDERS_OF_LOAD / ARRIVALS_A_SECOND
    due = time.monotonic() + number / ARRIVALS_A_SECOND
    while not sent.stopping.wait(max(0.0, due - time.monotonic())):
        due += step
        name = uuid.uuid4().hex
        body = {"item": {"type": "post", "id": name}, "messages": [{"text": "Lunch at noon?"}]}
        headers = {
            "Authorization": f"Bearer {key}",
            "Idempotency-Key": name,
            "Content-Type": "application/json",
        }
        try:
            connection.request("POST", "/api/v1/reports/", json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            sent.refused += answer.status != http.client.ACCEPTED
        except (OSError, http.client.HTTPException):
            sent.refused += 1
            connection.close()


def _wait(
    seconds: float, interruption: Interruption, *, unless: Callable[[], object] = lambda: None
) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and unless() is None:
        interruption.check()
        time.sleep(0.1)


# --- Measuring


def _measure(database: psycopg.Connection[Any], during: Any) -> dict[str, Any]:
    """Seconds from arrival to verdict of the live reports that arrived meanwhile."""
    began = _now(database)
    during()
    ended = _now(database)
    _settle(database, ended)
    rows = database.execute(
        "SELECT extract(epoch FROM verdict.created_at - report.received_at)::float"
        " FROM reports_report AS report JOIN classifier_classification AS verdict"
        " ON verdict.report_id = report.id AND verdict.carried_from_id IS NULL"
        " JOIN reports_sender AS sender ON sender.id = report.sender_id"
        " WHERE report.received_at BETWEEN %s AND %s AND sender.name NOT LIKE 'sender-%%'",
        [began, ended],
    ).fetchall()
    seconds = sorted(row[0] for row in rows)
    cuts = statistics.quantiles(seconds, n=100)
    return {
        "reports": len(seconds),
        "p50": round(cuts[49], 3),
        "p99": round(cuts[98], 3),
        "max": round(seconds[-1], 3),
    }


def _now(database: psycopg.Connection[Any]) -> Any:
    row = database.execute("SELECT clock_timestamp()").fetchone()
    return row and row[0]


def _settle(database: psycopg.Connection[Any], until: Any) -> None:
    """Wait for the verdicts of what had arrived by then."""
    for _second in range(SETTLED_SECONDS * 10):
        row = database.execute(
            "SELECT count(*) FROM reports_report WHERE status = 'pending' AND received_at <= %s",
            [until],
        ).fetchone()
        if row and row[0] == 0:
            return
        time.sleep(0.1)
    raise DevError("live reports were left without a verdict")


def _wait_settled(database: psycopg.Connection[Any], interruption: Interruption) -> None:
    interruption.check()
    _settle(database, _now(database))


class Reconciling:
    """`manage.py reconcile` as a process, its memory watched."""

    def __init__(self, env: dict[str, str]) -> None:
        self._env = env
        self._memory = Watched()
        self._seconds = 0.0
        self._migrated = 0

    def run(self, database: psycopg.Connection[Any], interruption: Interruption) -> None:
        began = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, programs.MANAGE, "reconcile", "--until-done"],
            env=self._env,
            stdout=sys.stderr,
        )
        self._memory = Watched(process.pid)
        with self._memory:
            while process.poll() is None:
                _wait(SECONDS_BETWEEN_LINES, interruption, unless=process.poll)
                row = database.execute(
                    "SELECT count(*) FILTER (WHERE done), count(*) FROM classifier_job"
                    " WHERE batch_id IS NOT NULL"
                ).fetchone()
                self._migrated, wanted = row or (0, 0)
                say(f"{self._migrated:,} of {wanted:,}")
        self._seconds = time.monotonic() - began
        if process.returncode:
            raise DevError(f"reconcile ended with {process.returncode}")

    def figures(self) -> dict[str, Any]:
        return {
            "migrated": self._migrated,
            "migration_seconds": round(self._seconds, 1),
            "migrated_a_second": round(self._migrated / self._seconds),
            **{f"reconcile_{name}": value for name, value in self._memory.figures().items()},
        }


def _outcome(database: psycopg.Connection[Any]) -> dict[str, Any]:
    """Whether every report has exactly one current verdict, of the newest version."""
    row = database.execute(
        "SELECT count(*) FILTER (WHERE current = 1), count(*) FILTER (WHERE current <> 1),"
        " count(*) FILTER (WHERE newest) FROM ("
        "  SELECT count(verdict.id) AS current, bool_and(verdict.policy_version_id = ("
        "   SELECT max(number) FROM classifier_policyversion)) AS newest"
        "  FROM reports_report AS report LEFT JOIN classifier_classification AS verdict"
        "   ON verdict.report_id = report.id AND NOT verdict.superseded"
        "  JOIN reports_sender AS sender ON sender.id = report.sender_id"
        "  WHERE sender.name LIKE 'sender-%' GROUP BY report.id) AS counted"
    ).fetchone()
    one, other, newest = row or (0, 0, 0)
    return {"with_one_current": one, "with_none_or_two": other, "under_the_new_version": newest}
