"""History in bulk: reports that the first policy version judged safe, written by SQL."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import psycopg

from dev import programs
from dev.bench.prepared import prepared, say

if TYPE_CHECKING:
    from dev.processes import Interruption, Supervisor
    from dev.services import Services

TEXTS = [
    "See you at lunch.",
    "Has anybody seen the keys of the van? I left them beside the kettle this morning.",
    "نلتقي غدا في المكتبة بعد الظهر إن شاء الله.",
    "The train is late again, start without me and keep me a seat near the window please.",
]


def write_history(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, str]:
    """Tables, a policy and so many judged reports; gives the environment, set for this process too."""
    env = prepared(services, supervisor, interruption)
    os.environ.update(
        programs.environment(database_url=services.database_url, redis_url=services.redis_url)
    )
    with psycopg.connect(services.database_url, autocommit=True) as database:
        say(f"writing {rows:,} judged reports")
        # In bulk: the rows agree with one another, and a trigger for each would take minutes.
        database.execute("SET session_replication_role = replica")
        bodies = [_body(text) for text in TEXTS]
        for statement in HISTORY:
            database.execute(statement, {"rows": rows, "bodies": bodies})
            interruption.check()
    return env


def _body(text: str) -> str:
    return json.dumps(
        {
            "item": {"type": "post", "id": "bench"},
            "messages": [{"text": text, "reported": True}],
        }
    )


def activate_next_version(prompt: str = "Judge it anew.") -> Any:
    """A newer policy version than the one that judged the history; Django is set up by now."""
    from dataclasses import replace  # noqa: PLC0415

    from django.conf import settings  # noqa: PLC0415

    from classifier.policies import (  # noqa: PLC0415
        FIRST_POLICY,
        load_policy,
        read_policy_file,
    )

    title, content = read_policy_file(FIRST_POLICY, model=settings.MODEL)
    version, _changed = load_policy(
        title=title,
        content=replace(content, prompt=f"{content.prompt}\n\n{prompt}"),
        activate=True,
        actor_name="bench",
    )
    return version


HISTORY = (
    """INSERT INTO reports_sender (name, is_active, latency_budget)
    SELECT 'sender-' || n, true, interval '5 minutes' FROM generate_series(1, 20) AS n""",
    """INSERT INTO reports_item (sender_id, type, external_id, list, rank, since)
    SELECT 1 + n %% 20, 'post', 'p-' || n, 'judged_safe', 0, now() - n * interval '10 ms'
    FROM generate_series(1, %(rows)s) AS n""",
    """INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), sender_id, id, external_id, '\\x00', 1, false, 'judged_safe', 0,
        '[]', 0, '', '', CASE WHEN id %% 4 = 2 THEN 'ar' ELSE 'en' END,
        since - interval '1 hour', since
    FROM reports_item""",
    """INSERT INTO reports_content (report_id, body)
    SELECT id, (%(bodies)s::jsonb[])[1 + id %% 4] FROM reports_report""",
    """INSERT INTO classifier_classification (report_id, policy_version_id, superseded, category,
        confidence, summary, quotes, severity, safe, rules, served_model, prompt_tokens,
        completion_tokens, model_seconds, answer_hash, created_at)
    SELECT id, 1, false, 'none', 0.95, 'Small talk.', '[]', 0, true, '[]',
        'stand-in-not-a-model', 900, 60, 0.5, repeat('0', 64), now()
    FROM reports_report""",
    "VACUUM ANALYZE",
)
