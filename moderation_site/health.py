"""Probes and figures for operations. They tell states and counts, never content."""

from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest

from classifier.models import Heartbeat, PolicyVersion
from classifier.sweep import HEARTBEAT

SWEEP_SILENT_AFTER = timedelta(seconds=60)


@require_safe
def alive(_request: HttpRequest) -> HttpResponse:
    """`/healthz`: this process answers. Says nothing about the database."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
def ready(_request: HttpRequest) -> JsonResponse:
    """`/readyz`: 200 when reports can be taken in and will be worked on, else 503 and what is wrong.

    Redis is left out on purpose: without it reports are still accepted, and the sweep catches up.
    """
    wrong: dict[str, str] = {}
    try:
        if PolicyVersion.objects.active() is None:
            wrong["policy"] = "no policy version is active; run manage.py load_policy --activate"
        seen = Heartbeat.objects.filter(name=HEARTBEAT).values_list("at", flat=True).first()
        silent = SWEEP_SILENT_AFTER.total_seconds() + settings.SWEEP_INTERVAL_SECONDS
        if seen is None:
            wrong["sweep"] = "has never run; start manage.py sweep"
        elif timezone.now() - seen > timedelta(seconds=silent):
            wrong["sweep"] = f"was last seen at {seen.isoformat()}; start manage.py sweep"
    except DatabaseError:
        wrong["database"] = "does not answer"
    return JsonResponse({"ready": not wrong, "wrong": wrong}, status=503 if wrong else 200)


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
    beat = Gauge(
        "moderation_sweep_last_seen_timestamp_seconds", "When the sweep last ran", registry=registry
    )
    with connection.cursor() as cursor:
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
            "SELECT extract(epoch FROM at) FROM classifier_heartbeat WHERE name = %s", [HEARTBEAT]
        )
        for (at,) in cursor.fetchall():
            beat.set(at)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
