from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from classifier.catalogue import RecordRefusedError, drop_record, record_limit
from classifier.management.named import named_model
from classifier.management.operation import Exit

ACTOR = "command record_limit"


class Command(BaseCommand):
    help = (
        "Record how many tokens a model takes, prompt and answer together, where the provider's "
        "list does not say. What the provider says lower still counts."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", help="Its name, as a policy version or `models` has it.")
        parser.add_argument("tokens", type=int, nargs="?", help="The limit.")
        parser.add_argument("--evidence", metavar="URL", help="The page that states the limit.")
        parser.add_argument(
            "--until",
            type=date.fromisoformat,
            metavar="YYYY-MM-DD",
            help="The last day on which the record counts.",
        )
        parser.add_argument("--drop", action="store_true", help="Take the record back.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        given = [options[name] for name in ("tokens", "evidence", "until")]
        if any(each is not None for each in given) if options["drop"] else None in given:
            raise CommandError(
                "Give TOKENS, --evidence and --until, or --drop alone.", returncode=Exit.USAGE
            )
        model = named_model(options["model"])
        if options["drop"]:
            dropped = drop_record(model=model, actor_name=ACTOR)
            self.stdout.write(
                f"{model.name}: the record is dropped."
                if dropped
                else f"{model.name}: there was no record."
            )
            return
        tokens, evidence, until = given
        try:
            record_limit(
                model=model,
                tokens=tokens,
                evidence=evidence,
                until=until,
                today=timezone.localdate(),
                actor_name=ACTOR,
            )
        except RecordRefusedError as error:
            raise CommandError(str(error), returncode=Exit.USAGE) from None
        self.stdout.write(f"{model.name}: {tokens:,} tokens until {until}, by {evidence}")
