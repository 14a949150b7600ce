import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection

from classifier.sweep import sweep_once


class Command(BaseCommand):
    help = (
        "Top up the queues from what is due in PostgreSQL, every few seconds. Runs for ever as "
        "its own process; several may run, one works. Stop it with SIGTERM or Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="One round, then exit.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        if options["once"]:
            swept = sweep_once()
            self.stdout.write(f"nudged {swept.nudged}, parked {swept.parked}")
            return
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        while not stopped.is_set():
            try:
                swept = sweep_once()
            except DatabaseError as error:
                # The database is away. The next round opens a new connection.
                connection.close()
                self.stderr.write(f"the database does not answer ({type(error).__name__})")
            else:
                if swept.nudged or swept.parked:
                    self.stdout.write(f"nudged {swept.nudged}, parked {swept.parked}")
            stopped.wait(settings.SWEEP_INTERVAL_SECONDS)
