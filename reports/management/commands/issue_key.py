import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reports.models import Sender
from reports.senders import issue_key


class Command(BaseCommand):
    help = "Make another API key for a sender. It is shown this once; revoke old ones in the admin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sender")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        sender = Sender.objects.filter(name=options["sender"]).first()
        if sender is None:
            raise CommandError(
                f"There is no sender {options['sender']}. Make it with create_sender.", returncode=2
            )
        made = issue_key(sender=sender, actor_name="command issue_key")
        if options["json"]:
            self.stdout.write(json.dumps({"sender": sender.name, "key": made.key}))
        else:
            self.stdout.write(f"A key for {sender.name}, shown this once:\n{made.key}")
