"""What samples are drawn from, in bulk: reports that a machine judged safe some time ago."""

import json
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from reports.models import Report
from reports.tests.sending import body_saying
from reviews.decisions import Wish, decide_item
from reviews.models import Decision, SamplingRate


def judge_safe(
    sender_id: int,
    count: int,
    *,
    language: str = "en",
    category: str = "none",
    confidence: float = 0.97,
    version: int = 1,
    at: datetime | None = None,
    item: int | None = None,
) -> list[Report]:
    """So many, of an item each or of this one, with their verdicts; `at`: by default two hours ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            _JUDGED,
            {
                "sender": sender_id,
                "count": count,
                "language": language,
                "category": category,
                "confidence": confidence,
                "version": version,
                "at": at or hours_ago(2),
                "item": item,
                "body": json.dumps(body_saying("See you at lunch.")),
            },
        )
        ids = [row[0] for row in cursor.fetchall()]
    return list(Report.objects.filter(pk__in=ids).order_by("pk"))


_JUDGED = """
WITH made AS (
    INSERT INTO reports_item (sender_id, type, external_id, list, rank, since)
    SELECT %(sender)s, 'message', gen_random_uuid(), 'judged_safe', 0, %(at)s
    FROM generate_series(1, CASE WHEN %(item)s::bigint IS NULL THEN %(count)s ELSE 0 END)
    RETURNING id
), item AS (
    SELECT id, gen_random_uuid() AS key FROM made
    UNION ALL SELECT %(item)s, gen_random_uuid() FROM generate_series(1, %(count)s)
    WHERE %(item)s::bigint IS NOT NULL
), report AS (
    INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), %(sender)s, id, key, '', 1, false, 'judged_safe', 0,
        '[]', 0, '', '', %(language)s, %(at)s, %(at)s
    FROM item ORDER BY id RETURNING id
), content AS (
    INSERT INTO reports_content (report_id, body) SELECT id, %(body)s::jsonb FROM report
)
INSERT INTO classifier_classification (report_id, policy_version_id, superseded, category, confidence,
    summary, quotes, severity, safe, rules, served_model, model_seconds, answer_hash, created_at)
SELECT id, %(version)s, false, %(category)s, %(confidence)s, '', '[]', 0, true, '[]', 'model', 0, '',
    %(at)s
FROM report RETURNING report_id
"""


def hours_ago(hours: float) -> datetime:
    return timezone.now() - timedelta(hours=hours)


def rate_of(of: str, rate: float, **fields: Any) -> SamplingRate:
    """Beside or in place of what was laid down."""
    return SamplingRate.objects.update_or_create(
        of=of,
        sender=fields.pop("sender", None),
        **{name: fields.pop(name, "") for name in ("language", "category", "band")},
        defaults={"rate": rate, "at_least": 0, **fields},
    )[0]


def decide(
    report: Report,
    action: str,
    category: str = "",
    *,
    by: str = "dana",
    also: Collection[Report] = (),
) -> Decision:
    """What somebody says of the report, and of these of its item, now; over whatever stands."""
    reviewer, _made = User.objects.get_or_create(username=by)
    newest = Decision.objects.filter(item=report.item_id).order_by("-id").first()
    return decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=Wish(action, category),
        report_ids=[each.pk for each in (report, *also)],
        last_decision_id=newest.pk if newest else None,
    )
