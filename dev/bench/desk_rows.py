"""A desk's rows by SQL: items in every list, of several senders, languages and severities."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from dev.bench.history import TEXTS

if TYPE_CHECKING:
    import psycopg

    from dev.processes import Interruption

SENDERS = 20


def write_desk(
    database: psycopg.Connection[Any], interruption: Interruption, *, first: int, last: int
) -> None:
    """Items with the numbers `first` to `last`, both included, and all that belongs to them.

    Of a hundred: ten pending, twenty in review, thirty judged safe, forty resolved. One in fifty
    has three reports; `reviewer` decided one in four hundred, `admin` the others.
    """
    # In bulk: the rows agree with one another, and a trigger for each would take minutes.
    database.execute("SET session_replication_role = replica")
    bodies = [_body(text) for text in TEXTS]
    given = {"first": first, "last": last, "senders": SENDERS, "bodies": bodies}
    # Built once it is full: word by word it takes four times as long.
    found = database.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'content_searched'")
    (index,) = found.fetchone() or ("",)
    database.execute("DROP INDEX content_searched")
    database.execute("SET maintenance_work_mem = '512MB'")
    for statement in (*_ROWS, index, "VACUUM ANALYZE"):
        database.execute(statement, given if "%(" in statement else None)
        interruption.check()


def _body(text: str) -> str:
    return json.dumps(
        {
            "item": {"type": "post", "id": "bench", "author_id": "author"},
            "messages": [{"text": text, "reported": True}],
        }
    )


_ROWS = (
    """INSERT INTO reports_sender (name, is_active, latency_budget)
    SELECT 'sender-' || n, true, interval '5 minutes' FROM generate_series(1, %(senders)s) AS n
    ON CONFLICT DO NOTHING""",
    """INSERT INTO reports_item (id, sender_id, type, external_id, list, rank, since, due_at,
        resolved_at)
    SELECT n, sender.id, (ARRAY['post', 'message', 'profile'])[1 + n %% 3], 'p-' || n, told.list,
        CASE WHEN told.list = 'judged_safe' THEN 0 WHEN n %% 97 = 0 THEN 4 ELSE n %% 4 END,
        now() - n * interval '100 ms',
        CASE WHEN told.list = 'pending' THEN now() + (n - 500) * interval '1 second' END,
        CASE WHEN told.list = 'resolved' THEN now() - n * interval '1 second' END
    FROM generate_series(%(first)s::int, %(last)s::int) AS n
    CROSS JOIN LATERAL (SELECT (ARRAY['pending', 'needs_review', 'needs_review', 'judged_safe',
        'judged_safe', 'judged_safe', 'resolved', 'resolved', 'resolved', 'resolved'])[1 + n %% 10]
        AS list) AS told
    JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM reports_sender) AS sender
        ON sender.place = 1 + n %% %(senders)s""",
    """INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, author_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), sender_id, id, external_id || '-' || nth, sha256(id::text::bytea), 1,
        false, list, 0, '[]', rank, (ARRAY['spam', 'threat', 'hate', ''])[1 + id %% 4], '',
        lpad(to_hex(id / 20), 32, '0'), CASE WHEN id %% 4 = 2 THEN 'ar' ELSE 'en' END,
        since + (nth - 1) * interval '1 second', since + interval '5 minutes'
    FROM reports_item
    CROSS JOIN LATERAL generate_series(1, CASE WHEN id %% 50 = 0 THEN 3 ELSE 1 END) AS nth
    WHERE id BETWEEN %(first)s AND %(last)s""",
    """INSERT INTO reports_content (report_id, body)
    SELECT id, jsonb_set((%(bodies)s::jsonb[])[1 + item_id %% 4], '{messages,0,text}', to_jsonb(
        ((%(bodies)s::jsonb[])[1 + item_id %% 4] #>> '{messages,0,text}') || ' ' || idempotency_key))
    FROM reports_report WHERE item_id BETWEEN %(first)s AND %(last)s""",
    """INSERT INTO classifier_classification (report_id, policy_version_id, superseded, category,
        confidence, summary, quotes, severity, safe, rules, served_model, prompt_tokens,
        completion_tokens, model_seconds, answer_hash, created_at)
    SELECT id, 1, false,
        CASE WHEN rank = 0 THEN 'none' WHEN rank = 4 THEN 'credible_threat' ELSE 'spam' END,
        0.5 + (id %% 50) / 100.0, 'A summary.', '[]', rank, status = 'judged_safe',
        CASE WHEN status = 'judged_safe' THEN '[]'::jsonb ELSE '["unsafe_category"]'::jsonb END,
        'stand-in-not-a-model', 900, 60, 0.5, repeat('0', 64), received_at
    FROM reports_report WHERE status <> 'pending' AND item_id BETWEEN %(first)s AND %(last)s""",
    """INSERT INTO classifier_job (report_id, policy_version_id, lane, attempts, faults, claims,
        reason, parked, done)
    SELECT id, 1, 'live', 1, 0, 1, 'provider_timeout', item_id %% 1000 = 0, false
    FROM reports_report WHERE status = 'pending' AND item_id BETWEEN %(first)s AND %(last)s""",
    """WITH decided AS (
        INSERT INTO reviews_decision (item_id, reviewer_id, action, category, note, reason,
            created_at, effective_at)
        SELECT id, (SELECT id FROM auth_user
                WHERE username = CASE WHEN id %% 1000 = 6 THEN 'reviewer' ELSE 'admin' END),
            'no_violation', '', '', '', resolved_at, resolved_at
        FROM reports_item WHERE list = 'resolved' AND id BETWEEN %(first)s AND %(last)s
        RETURNING id, item_id)
    INSERT INTO reviews_decidedreport (decision_id, report_id)
    SELECT decided.id, report.id
    FROM decided JOIN reports_report AS report ON report.item_id = decided.item_id""",
    "SELECT setval(pg_get_serial_sequence('reports_item', 'id'), %(last)s::int)",
)
