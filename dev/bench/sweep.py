"""One round of the sweep's choice over a backlog."""

from __future__ import annotations

import os
import statistics
import time
from typing import TYPE_CHECKING, Any

import psycopg

from dev import programs
from dev.bench.prepared import prepared, say
from dev.errors import DevError

if TYPE_CHECKING:
    from dev.processes import Interruption, Supervisor
    from dev.services import Services


def bench_sweep(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """Seconds that the sweep's choice of 1,000 takes over so many pending reports of 20 senders."""
    prepared(services, supervisor, interruption)
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
