import json
from datetime import timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from reports.senders import create_sender


class Command(BaseCommand):
    help = "Make a sender and its first API key. The key is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="Letters, digits, - and _.")
        parser.add_argument(
            "--latency-budget",
            type=float,
            default=300.0,
            metavar="SECONDS",
            help="After so long without a verdict a report is shown as overdue (default 300).",
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        try:
            budget = timedelta(seconds=options["latency_budget"])
        except (ValueError, OverflowError):
            raise CommandError(
                "--latency-budget: a number of seconds, such as 300.", returncode=2
            ) from None
        try:
            made = create_sender(
                name=options["name"],
                latency_budget=budget,
                actor_name="command create_sender",
            )
        except ValidationError as error:
            raise CommandError(" ".join(error.messages), returncode=2) from None
        if options["json"]:
            self.stdout.write(json.dumps({"sender": options["name"], "key": made.key}))
        else:
            self.stdout.write(f"Sender {options['name']}. Its key, shown this once:\n{made.key}")
