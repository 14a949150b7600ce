"""The Celery application: two queues, one bounded worker process for each."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")

app = Celery("moderation_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
