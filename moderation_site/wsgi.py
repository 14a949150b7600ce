"""The web process: `gunicorn moderation_site.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")

application = get_wsgi_application()

from reports.nudge import start_publisher  # noqa: E402 - the applications are loaded by now

start_publisher()
