"""The Celery application: two queues, one bounded worker process for each."""

import os

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")

app = Celery("moderation_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def load_the_client(**_signal: object) -> None:
    """Load the model's client before the first report, which would wait for it half a second."""
    from classifier import provider  # noqa: PLC0415 - a worker's business only

    provider.load()
