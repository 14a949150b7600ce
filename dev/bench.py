"""Figures that a claim rests on, measured on this machine; never part of the tests.

    python -m dev.bench intake [--seconds 8]       POST latency with Redis up, down, paused, half-open
    python -m dev.bench sweep [--rows 1000000]     one round of the sweep's choice over a backlog

Both start their own PostgreSQL and Valkey and end by themselves. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import statistics
import sys
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import redis

from dev import programs
from dev.accounts import read_accounts
from dev.errors import DevError
from dev.processes import Interrupted, Interruption, Supervisor, free_port, wait_until
from dev.product import answers_ok, throwaway_services

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.services import Services

CLIENTS = 4
BODY = json.dumps(
    {"item": {"type": "post", "id": "bench"}, "messages": [{"text": "A text.", "reported": True}]}
)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    intake = commands.add_parser("intake")
    intake.add_argument("--seconds", type=float, default=8.0, help="for each state of Redis")
    intake.set_defaults(run=lambda options, *given: bench_intake(*given, seconds=options.seconds))
    sweep = commands.add_parser("sweep")
    sweep.add_argument("--rows", type=int, default=1_000_000)
    sweep.set_defaults(run=lambda options, *given: bench_sweep(*given, rows=options.rows))
    options = parser.parse_args()
    interruption = Interruption()
    try:
        with throwaway_services(say=say) as (services, supervisor):
            found = options.run(options, services, supervisor, interruption)
    except DevError as error:
        say(f"bench: {error}")
        return 1
    except Interrupted:
        return 130
    print(json.dumps(found))
    return 0


def bench_intake(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, seconds: float
) -> dict[str, Any]:
    """POST latency in milliseconds for each state of Redis, side by side."""
    env = _prepared(services, supervisor, interruption)
    accounts_file = services.home.directory / "accounts.json"
    supervisor.run_step(programs.accounts(accounts_file, env=env), check=interruption.check)
    accounts = read_accounts(accounts_file)
    valkey = services.valkey
    if accounts is None or valkey is None:
        raise DevError("the bench stops and starts Redis: unset REDIS_URL")
    port = free_port()
    supervisor.start(programs.web(port, env=env))
    url = f"http://127.0.0.1:{port}/healthz"
    wait_until(lambda: answers_ok(url), seconds=30, what="no web process", check=interruption.check)
    client = redis.Redis(unix_socket_path=services.redis_url.removeprefix("redis+socket://"))

    def restart() -> None:
        valkey.kill()
        valkey.start()

    states: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        ("up", lambda: None, lambda: None),
        (
            "paused",
            lambda: client.client_pause(3_600_000),
            restart,
        ),
        (
            "half-open",
            lambda: os.kill(valkey.pid, signal.SIGSTOP),
            lambda: os.kill(valkey.pid, signal.SIGCONT),
        ),
        ("down", valkey.kill, valkey.start),
    ]
    found: dict[str, Any] = {}
    _load(port, accounts["key"], seconds=2.0)  # warm
    say(f"{'Redis':>10} {'POST/s':>8} {'p50 ms':>8} {'p99 ms':>8} {'max ms':>8} {'not 2xx':>8}")
    for name, begin, end in states:
        begin()
        try:
            figures = _load(port, accounts["key"], seconds=seconds)
        finally:
            end()
        found[name] = figures
        say(f"{name:>10} " + " ".join(f"{value:>8}" for value in figures.values()))
    return found


def _load(port: int, key: str, *, seconds: float) -> dict[str, float]:
    """Clients that post one after another for so long."""
    deadline = time.monotonic() + seconds
    times: list[float] = []
    refused = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal refused
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        mine: list[float] = []
        wrong = 0
        while time.monotonic() < deadline:
            headers = {
                "Authorization": f"Bearer {key}",
                "Idempotency-Key": uuid.uuid4().hex,
                "Content-Type": "application/json",
            }
            body = BODY.replace('"bench"', f'"{uuid.uuid4().hex}"')
            began = time.perf_counter()
            connection.request("POST", "/api/v1/reports/", body, headers)
            answer = connection.getresponse()
            answer.read()
            mine.append(time.perf_counter() - began)
            wrong += answer.status not in {200, 202}
        connection.close()
        with lock:
            times.extend(mine)
            refused += wrong

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    cuts = statistics.quantiles(times, n=100)
    return {
        "per_second": round(len(times) / seconds),
        "p50_ms": round(cuts[49] * 1000, 1),
        "p99_ms": round(cuts[98] * 1000, 1),
        "max_ms": round(max(times) * 1000, 1),
        "not_2xx": refused,
    }


def bench_sweep(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """Seconds that the sweep's choice of 1,000 takes over so many pending reports of 20 senders."""
    _prepared(services, supervisor, interruption)
    os.environ.update(
        programs.environment(database_url=services.database_url, redis_url=services.redis_url)
    )
    with psycopg.connect(services.database_url, autocommit=True) as database:
        say(f"writing {rows:,} pending reports")
        for statement in BACKLOG:
            database.execute(statement, {"rows": rows})
            interruption.check()
    import django  # noqa: PLC0415  after the environment is set

    django.setup()
    from classifier.models import PolicyVersion  # noqa: PLC0415
    from classifier.sweep import choose  # noqa: PLC0415
    from reports.nudge import Lane  # noqa: PLC0415

    policy = PolicyVersion.objects.active()
    if policy is None:
        raise DevError("no policy version is active")
    taken: list[float] = []
    for _ in range(7):
        began = time.perf_counter()
        chosen = choose(policy=policy, lane=Lane.LIVE, at_most=1_000, nudged_too=False)
        taken.append(time.perf_counter() - began)
        say(f"{len(chosen)} chosen in {taken[-1] * 1000:.1f} ms")
    return {
        "rows": rows,
        "median_ms": round(statistics.median(taken) * 1000, 1),
        "max_ms": round(max(taken) * 1000, 1),
    }


BACKLOG = (
    """INSERT INTO reports_sender (name, is_active, latency_budget)
    SELECT 'sender-' || n, true, interval '5 minutes' FROM generate_series(1, 20) AS n""",
    """INSERT INTO reports_item (sender_id, type, external_id, list, rank, since)
    SELECT 1 + n %% 20, 'post', 'p-' || n, 'pending', 0, now() - n * interval '10 ms'
    FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), sender_id, id, external_id, '\\x00', 1, false, 'pending',
        CASE WHEN id %% 1000 = 0 THEN 4 ELSE 0 END, '[]',
        CASE WHEN id %% 1000 = 0 THEN 4 ELSE 0 END, '', '', 'en', since - interval '1 hour',
        since
    FROM reports_item""",
    "ANALYZE",
)


def _prepared(
    services: Services, supervisor: Supervisor, interruption: Interruption
) -> dict[str, str]:
    """Tables and the policy are there; returns the environment of the product's processes."""
    env = programs.environment(database_url=services.database_url, redis_url=services.redis_url) | {
        "INTAKE_RATE": "100000000/min"
    }
    for name, *arguments in (("migrate", "--noinput"), ("load_policy", "--activate")):
        supervisor.run_step(
            programs.step(name, name, *arguments, env=env), check=interruption.check
        )
    return env


def say(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
