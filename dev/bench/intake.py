"""POST latency beside each state of Redis."""

from __future__ import annotations

import http.client
import json
import os
import signal
import statistics
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any

import redis

from dev import programs
from dev.accounts import read_accounts
from dev.bench.prepared import prepared, say
from dev.errors import DevError
from dev.processes import Interruption, Supervisor, free_port, wait_until
from dev.product import answers_ok

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.services import Services

CLIENTS = 4
BODY = json.dumps(
    {"item": {"type": "post", "id": "bench"}, "messages": [{"text": "A text.", "reported": True}]}
)


def bench_intake(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, seconds: float
) -> dict[str, Any]:
    """POST latency in milliseconds for each state of Redis, side by side."""
    env = prepared(services, supervisor, interruption)
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
