from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from reports.models import Sender
from reports.reporters import AlreadyTrustedError, end_trust, trust_reporter
from reports.submission import Reason


class Command(BaseCommand):
    help = (
        "Let the reports of one reporter rise, such as of a trusted flagger under the DSA. Only the "
        "reporter's pseudonym is stored."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("sender", help="The sender's name.")
        parser.add_argument("reporter_id", help="The reporter's id, as the sender sends it.")
        parser.add_argument("--name", help="Who it is, for the list in the admin.")
        parser.add_argument(
            "--reasons",
            default="",
            metavar="REASON,…",
            help=f"Field of expertise; all where none is named. Of: {', '.join(Reason.values)}.",
        )
        parser.add_argument("--end", action="store_true", help="Trust this reporter no longer.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        sender = Sender.objects.filter(name=options["sender"]).first()
        if sender is None:
            raise CommandError(f"No sender is named {options['sender']}.", returncode=2)
        reporter: dict[str, Any] = {
            "sender": sender,
            "reporter_id": options["reporter_id"],
            "actor_name": "command trust_reporter",
        }
        if options["end"]:
            if not end_trust(**reporter):
                raise CommandError("This reporter is not trusted.", returncode=2)
            self.stdout.write("The reporter is trusted no longer.")
            return
        reasons = {reason for reason in options["reasons"].split(",") if reason}
        if unknown := reasons - set(Reason.values):
            raise CommandError(
                f"--reasons: {', '.join(sorted(unknown))} is none of {', '.join(Reason.values)}.",
                returncode=2,
            )
        if not options["name"]:
            raise CommandError("--name: say who it is.", returncode=2)
        try:
            trust_reporter(**reporter, name=options["name"], reasons=reasons)
        except AlreadyTrustedError:
            raise CommandError(
                "This reporter is trusted already; end that first with --end.", returncode=2
            ) from None
        self.stdout.write(f"Reports of {options['name']} to {sender.name} rise from now on.")
