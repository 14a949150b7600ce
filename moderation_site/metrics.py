"""Figures for operations, read from PostgreSQL. They tell counts and times, never content."""

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from classifier.catalogue import effective_limit
from classifier.models import (
    Batch,
    Disagreement,
    Heartbeat,
    Job,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
)
from classifier.policies import code_revisions
from moderation_site.figures_of_quality import figures_of_quality
from reviews.opting_out import is_taken


@require_safe
def metrics(_request: HttpRequest) -> HttpResponse:
    """`/metrics`: read from PostgreSQL at each scrape, so every web process tells the same."""
    registry = CollectorRegistry()
    reports = Gauge(
        "moderation_pending_reports",
        "Reports without a verdict, by severity floor",
        ["floor"],
        registry=registry,
    )
    oldest = Gauge(
        "moderation_pending_oldest_age_seconds",
        "Age of the oldest report without a verdict, by severity floor",
        ["floor"],
        registry=registry,
    )
    waiting = Gauge(
        "moderation_pending_by_reason",
        "Reports without a verdict that wait for a named reason",
        ["reason", "parked"],
        registry=registry,
    )
    dropped = Gauge(
        "moderation_dropped_answers",
        "Answers that came after the one that stands",
        registry=registry,
    )
    retries = Gauge(
        "moderation_likely_retries",
        "Reports whose body had come before under another idempotency key",
        ["sender"],
        registry=registry,
    )
    beats = {
        Heartbeat.SWEEP: Gauge(
            "moderation_sweep_last_seen_timestamp_seconds",
            "When the sweep last ran",
            registry=registry,
        ),
        Heartbeat.RECONCILE: Gauge(
            "moderation_reconcile_last_seen_timestamp_seconds",
            "When reconcile was last at work",
            registry=registry,
        ),
    }
    due = Gauge(
        "moderation_due_reports",
        "Reports whose latency budget ran out within the last ten minutes: had they an outcome?",
        ["sender", "outcome"],
        registry=registry,
    )
    overdue = Gauge(
        "moderation_overdue_reports",
        "Reports without a verdict whose latency budget has run out",
        ["sender"],
        registry=registry,
    )
    rests = Gauge(
        "moderation_model_rests_seconds",
        "How long a model has been left alone, by reason; absent while it is asked freely",
        ["model", "reason"],
        registry=registry,
    )
    revisions = Gauge(
        "moderation_policy_lists_other_revisions",
        "1: the code's rules are not those that the active policy lists; load the policy again",
        registry=registry,
    )
    taking = Gauge(
        "moderation_category_taken",
        "1: some active reviewer is handed the category; 0: all opted out, and its items wait",
        ["category"],
        registry=registry,
    )
    for model in ProviderModel.objects.resting():
        rested = timezone.now() - (model.rests_since or timezone.now())
        rests.labels(model.name, model.rest_reason).set(rested.total_seconds())
    _catalogue(registry)
    _batches(registry)
    _holds(registry)
    figures_of_quality(registry)
    active = PolicyVersion.objects.active()
    if active is not None:
        for category, taken in is_taken(active).items():
            taking.labels(category).set(taken)
    revisions.set(active is not None and active.revisions != code_revisions())
    with connection.cursor() as cursor:
        cursor.execute(_DUE)
        for name, in_time, late, none in cursor.fetchall():
            due.labels(name, "in_time").set(in_time)
            due.labels(name, "late").set(late)
            due.labels(name, "none").set(none)
        cursor.execute(_OVERDUE)
        for name, count in cursor.fetchall():
            overdue.labels(name).set(count)
        cursor.execute(
            "SELECT floor, count(*), extract(epoch FROM clock_timestamp() - min(received_at))"
            " FROM reports_report WHERE status = 'pending' GROUP BY floor"
        )
        for floor, count, age in cursor.fetchall():
            reports.labels(floor).set(count)
            oldest.labels(floor).set(age)
        cursor.execute(
            "SELECT job.reason, job.parked, count(*) FROM classifier_job AS job"
            " JOIN reports_report AS report ON report.id = job.report_id"
            " WHERE report.status = 'pending' AND job.reason <> '' GROUP BY 1, 2"
        )
        for reason, parked, count in cursor.fetchall():
            waiting.labels(reason, str(parked).lower()).set(count)
        cursor.execute("SELECT coalesce(sum(dropped), 0) FROM classifier_job WHERE dropped > 0")
        dropped.set(cursor.fetchone()[0])
        cursor.execute(
            "SELECT sender.name, count(*) FROM reports_report AS report"
            " JOIN reports_sender AS sender ON sender.id = report.sender_id"
            " WHERE report.likely_retry GROUP BY 1"
        )
        for sender, count in cursor.fetchall():
            retries.labels(sender).set(count)
        cursor.execute(
            "SELECT name, extract(epoch FROM at) FROM classifier_heartbeat WHERE name = ANY(%s)",
            [list(beats)],
        )
        for name, at in cursor.fetchall():
            beats[name].set(at)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _catalogue(registry: CollectorRegistry) -> None:
    """What is known of the models at the configured provider; absent where nothing is."""
    limits = Gauge(
        "moderation_model_limit_tokens",
        "How much a model takes, and who says so; absent: nobody does, and it is not asked",
        ["model", "source"],
        registry=registry,
    )
    ages = Gauge(
        "moderation_model_listed_age_seconds",
        "How long ago the provider's list was read for a model; absent: never",
        ["model"],
        registry=registry,
    )
    shutdowns = Gauge(
        "moderation_model_shutdown_days",
        "Days until the provider shuts a model down; absent: none is announced",
        ["model"],
        registry=registry,
    )
    now = timezone.now()
    for model in ProviderModel.objects.filter(base_url=settings.OPENAI_BASE_URL):
        if limit := effective_limit(model, today=now.date()):
            limits.labels(model.name, limit.source).set(limit.tokens)
        if model.listed_at:
            ages.labels(model.name).set((now - model.listed_at).total_seconds())
        if model.shutdown_on:
            shutdowns.labels(model.name).set((model.shutdown_on - now.date()).days)


def _batches(registry: CollectorRegistry) -> None:
    """What of history is still to be asked, and what came of it that nobody has looked at.

    Each is counted by an index of the open rows alone.
    """
    batches = Gauge(
        "moderation_batches", "Batches that have not ended, by state", ["state"], registry=registry
    )
    jobs = Gauge(
        "moderation_batch_open_jobs",
        "Reports of batches that are still to be asked, by how they are asked",
        ["through"],
        registry=registry,
    )
    out = Gauge(
        "moderation_provider_batches",
        "Batches at the provider that are not done with, by state",
        ["state"],
        registry=registry,
    )
    lines = Gauge(
        "moderation_provider_batch_lines",
        "Reports in batches at the provider that are not done with, by state",
        ["state"],
        registry=registry,
    )
    disagreements = Gauge(
        "moderation_open_disagreements",
        "Reports that a newer policy version finds worse than a machine or a person did before",
        ["severity"],
        registry=registry,
    )
    for state, count in Batch.objects.unfinished().values_list("state").annotate(n=Count("*")):
        batches.labels(state).set(count)
    to_do = Job.objects.filter(batch__isnull=False, done=False, parked=False)
    for through, count in to_do.values_list("through").annotate(n=Count("*")):
        jobs.labels(through).set(count)
    unfinished = ProviderBatch.objects.unfinished().values_list("state")
    for state, count, held in unfinished.annotate(n=Count("*"), held=Sum("lines")):
        out.labels(state).set(count)
        lines.labels(state).set(held)
    found = Disagreement.objects.filter(state=Disagreement.State.OPEN).values_list("severity")
    for severity, count in found.annotate(n=Count("*")):
        disagreements.labels(severity).set(count)


def _holds(registry: CollectorRegistry) -> None:
    """What waits for something other than the next free reviewer."""
    held = Gauge(
        "moderation_items_held",
        "Items that are put aside, escalated, or wait for a second person",
        ["kind"],
        registry=registry,
    )
    longest_held = Gauge(
        "moderation_items_held_oldest_age_seconds",
        "For how long the one that is held longest has been, by kind",
        ["kind"],
        registry=registry,
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind, count(*), extract(epoch FROM clock_timestamp() - min(placed_at))"
            " FROM reviews_hold WHERE ended_at IS NULL"
            " AND (until IS NULL OR until > clock_timestamp()) GROUP BY kind"
        )
        for kind, count, age in cursor.fetchall():
            held.labels(kind).set(count)
            longest_held.labels(kind).set(age)


# What became due lately came at the earliest its budget before, so the index of a sender's arrivals
# bounds the scan. It does for a clock that stands still within a statement alone: `clock_timestamp()`
# is volatile and has every report of the sender read. Nothing is due before it came; but without
# the upper bound PostgreSQL thinks that a third of the reports lies within and takes another index.
# A report that came under a longer budget than its sender has now is not seen.
# `late` had its outcome after it was due, `none` has none yet: a proposal is none, nor is what was
# escalated, sent back or taken back. The offset keeps each outcome from
# being looked up three times.
_DUE = """
SELECT sender.name,
    count(*) FILTER (WHERE due.outcome_at <= due.due_at),
    count(*) FILTER (WHERE due.outcome_at > due.due_at),
    count(*) FILTER (WHERE due.outcome_at IS NULL)
FROM reports_sender AS sender CROSS JOIN LATERAL (
    SELECT report.due_at, least(
        (SELECT min(created_at) FROM classifier_classification WHERE report_id = report.id),
        (SELECT min(decision.created_at) FROM reviews_decidedreport AS decided
            JOIN reviews_decision AS decision ON decision.id = decided.decision_id
            JOIN reviews_action AS action ON action.slug = decision.action
            WHERE decided.report_id = report.id AND decision.kind = 'decision'
                AND action.outcome IN ('clears', 'upholds') AND NOT EXISTS (
                    SELECT FROM reviews_decision AS undo
                    WHERE undo.overrides_id = decision.id AND undo.kind = 'undo'))) AS outcome_at
    FROM reports_report AS report
    WHERE report.sender_id = sender.id
        AND report.received_at > statement_timestamp() - sender.latency_budget - interval '10 minutes'
        AND report.received_at < statement_timestamp()
        AND report.due_at BETWEEN statement_timestamp() - interval '10 minutes' AND statement_timestamp()
    OFFSET 0
) AS due
GROUP BY sender.name
"""

# By an index of the pending reports alone, however many others there are.
_OVERDUE = """
SELECT sender.name, count(*)
FROM reports_report AS report JOIN reports_sender AS sender ON sender.id = report.sender_id
WHERE report.status = 'pending' AND report.due_at < statement_timestamp()
GROUP BY sender.name
"""
