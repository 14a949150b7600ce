from datetime import date
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from classifier.catalogue import RecordRefusedError, drop_record, record_limit
from classifier.models import PolicyVersion, ProviderModel

ACTOR = "command record_limit"
EXIT_USAGE = 2


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
                "Give TOKENS, --evidence and --until, or --drop alone.", returncode=EXIT_USAGE
            )
        model = _named(options["model"])
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
            raise CommandError(str(error), returncode=EXIT_USAGE) from None
        self.stdout.write(f"{model.name}: {tokens:,} tokens until {until}, by {evidence}")


def _named(name: str) -> ProviderModel:
    """The row at the configured provider; a policy's model may have none yet."""
    row = ProviderModel.objects.filter(base_url=settings.OPENAI_BASE_URL, name=name).first()
    if row is not None:
        return row
    policy = PolicyVersion.objects.filter(model=name).first()
    if policy is None:
        raise CommandError(
            f"No policy version names the model {name}, and it was never asked; see `models`.",
            returncode=EXIT_USAGE,
        )
    return ProviderModel.objects.of_policy(policy)
