"""Wiring only: settings, addresses, Celery, health. Nobody imports it."""

from moderation_site.celery import app as celery_app

__all__ = ["celery_app"]
