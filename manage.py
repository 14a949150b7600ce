#!/usr/bin/env python3
"""Django's command line for this site."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415
        from django.core.management import execute_from_command_line  # noqa: PLC0415
        from django.db import OperationalError  # noqa: PLC0415
    except ImportError as error:
        sys.exit(
            f"Django is not installed for this Python ({error}). Use .venv/bin/python manage.py; "
            "`make demo` or `make test` makes .venv."
        )
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"manage.py: {error}")
    except OperationalError as error:
        sys.exit(f"manage.py: the database does not answer: {error}")


if __name__ == "__main__":
    main()
