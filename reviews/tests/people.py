"""How tests log people in, and what they do in the browser's place."""

import re
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.test import Client as Browser

from classifier.models import Classification, PolicyVersion
from reports import lifecycle
from reports.models import Item, Report, Severity
from reports.tests.sending import Client
from reports.tests.unguarded import unguarded
from reviews.models import Preferences


def log_in(name: str, *roles: str, veiled: bool = False) -> Browser:
    """A browser in which a person with these roles is logged in.

    `veiled`: severe content is hidden from them at first, as from everybody who chose nothing.
    """
    user, _made = User.objects.get_or_create(username=name)
    if not veiled:
        unveil(user)
    user.groups.add(*Group.objects.filter(name__in=roles))
    browser = Browser()
    browser.force_login(user)
    return browser


def unveil(user: User) -> None:
    """This person wants to see everything at once."""
    Preferences.objects.update_or_create(user=user, defaults={"veil_from": None})


def classify(report: Report, policy: PolicyVersion, **changes: Any) -> Classification:
    """Write a verdict as recording would, without asking a model."""
    values: dict[str, Any] = {
        "category": "none",
        "confidence": 0.93,
        "summary": "A harmless text.",
        "quotes": [],
        "severity": Severity.NONE,
        "safe": True,
        "rules": [],
        "served_model": policy.model,
        "model_seconds": 0.1,
        "answer_hash": "0" * 64,
        **changes,
    }
    with transaction.atomic():
        locked = lifecycle.lock(report.pk)
        verdict = Classification.objects.create(report=locked, policy_version=policy, **values)
        lifecycle.apply_verdicts(
            reports={locked.pk: locked},
            verdicts={locked.pk: lifecycle.NewVerdict(verdict.safe, Severity(verdict.severity))},
        )
    report.refresh_from_db()
    return verdict


def judge_threat(report: Report, policy: PolicyVersion, **changes: Any) -> Classification:
    return classify(
        report,
        policy,
        **{
            "category": "credible_threat",
            "confidence": 0.91,
            "summary": "The author threatens the reader.",
            "severity": Severity.CRITICAL,
            "safe": False,
            "rules": ["unsafe_category", "critical"],
            **changes,
        },
    )


def page(browser: Browser, address: str, *, status: int = 200) -> str:
    """A page's HTML with its white space folded."""
    answer = browser.get(address)
    assert answer.status_code == status, (address, answer.status_code)
    return " ".join(answer.content.decode().split())


def form_of(html: str) -> dict[str, str]:
    """The hidden values of the decision form: what the page's reader has seen."""
    return dict(
        re.findall(r'<input type="hidden" name="(reports|last)"(?: value="([^"]*)")?', html)
    )


def decide(browser: Browser, item: Item, html: str, **values: str) -> Any:
    """Submit the decision form of a page that was read before."""
    return browser.post(f"/review/items/{item.pk}/", {**form_of(html), "stay": "", **values})


def time_runs_out(*, minutes: int = 11) -> None:
    """So many minutes pass for whatever somebody has in hand."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reviews_claim SET claimed_at = claimed_at - make_interval(mins => %(minutes)s),"
            " expires_at = expires_at - make_interval(mins => %(minutes)s) WHERE released_at IS NULL",
            {"minutes": minutes},
        )


MANY = 1_000
"""More rows than these are not checked by the triggers: what writes them writes fewer elsewhere."""


def fill_list(client: Client, policy: PolicyVersion, status: str, count: int) -> None:
    """Write so many items with one report each into a list, by SQL; much faster than the API."""
    values: dict[str, Any] = {
        "count": count,
        "status": status,
        "sender": client.sender.pk,
        "version": policy.number,
        "judged": status in {"needs_review", "judged_safe"},
        "resolved": status == "resolved",
    }
    User.objects.get_or_create(username="filler")
    with transaction.atomic(), unguarded() if count > MANY else connection.cursor() as cursor:
        for statement in _FILL:
            cursor.execute(statement, values)
            if count > MANY:  # autovacuum would in a moment; it may have seen them empty last
                cursor.execute(
                    "ANALYZE reports_item, reports_report, classifier_classification,"
                    " reviews_decision, reviews_decidedreport"
                )


_FILL = (
    """INSERT INTO reports_item (sender_id, type, external_id, list, rank, since, due_at, resolved_at)
    SELECT %(sender)s, 'post', 'bulk-' || n, %(status)s, n %% 5, now() - n * interval '1 second',
        CASE WHEN %(status)s = 'pending' THEN now() + n * interval '1 second' END,
        CASE WHEN %(resolved)s THEN now() - n * interval '1 second' END
    FROM generate_series(1, %(count)s) AS n""",
    """INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), sender_id, id, external_id, '\\x00', 1, false, %(status)s, 0, '[]',
        rank, 'spam', '', 'en', since, since + interval '5 minutes'
    FROM reports_item WHERE external_id LIKE 'bulk-%%' AND sender_id = %(sender)s""",
    """INSERT INTO reports_content (report_id, body)
    SELECT id, jsonb_build_object('item', jsonb_build_object('type', 'post', 'id', idempotency_key),
        'messages', jsonb_build_array(jsonb_build_object('text', 'bulk', 'reported', true)))
    FROM reports_report WHERE idempotency_key LIKE 'bulk-%%' AND sender_id = %(sender)s""",
    """INSERT INTO classifier_classification (report_id, policy_version_id, superseded, category,
        confidence, summary, quotes, severity, safe, rules, served_model, model_seconds, answer_hash)
    SELECT id, %(version)s, false, 'none', 0.9, 'bulk', '[]', 0, true, '[]', 'model', 1, ''
    FROM reports_report WHERE idempotency_key LIKE 'bulk-%%' AND sender_id = %(sender)s AND %(judged)s""",
    """WITH decided AS (
        INSERT INTO reviews_decision (item_id, reviewer_id, action, category, note, reason, effective_at)
        SELECT id, (SELECT id FROM auth_user WHERE username = 'filler'), 'no_violation', '', '', '', now()
        FROM reports_item WHERE external_id LIKE 'bulk-%%' AND sender_id = %(sender)s AND %(resolved)s
        RETURNING id, item_id)
    INSERT INTO reviews_decidedreport (decision_id, report_id)
    SELECT decided.id, report.id
    FROM decided JOIN reports_report AS report ON report.item_id = decided.item_id""",
)
