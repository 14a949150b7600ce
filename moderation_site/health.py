"""Probes for operations. They tell states, never content."""

from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from classifier.models import Heartbeat, PolicyVersion

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
        seen = Heartbeat.objects.filter(name=Heartbeat.SWEEP).values_list("at", flat=True).first()
        silent = SWEEP_SILENT_AFTER.total_seconds() + settings.SWEEP_INTERVAL_SECONDS
        if seen is None:
            wrong["sweep"] = "has never run; start manage.py sweep"
        elif timezone.now() - seen > timedelta(seconds=silent):
            wrong["sweep"] = f"was last seen at {seen.isoformat()}; start manage.py sweep"
    except DatabaseError:
        wrong["database"] = "does not answer"
    return JsonResponse({"ready": not wrong, "wrong": wrong}, status=503 if wrong else 200)
