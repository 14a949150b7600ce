#!/usr/bin/env python3
"""Django's command line for this site."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "moderation_site.settings")
    try:
        from django.core.management import execute_from_command_line  # noqa: PLC0415
    except ImportError as error:
        sys.exit(f"Django is not installed here ({error}). Run `make demo` or `make test` once.")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
