import json
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from classifier.catalogue import RecordRefusedError
from classifier.management.named import named_model
from classifier.management.operation import Exit
from classifier.prices import PriceRecord, drop_price, plain, price_in_words, record_price

ACTOR = "command record_price"


class Command(BaseCommand):
    help = (
        "Record what a million tokens of a model cost, read and written, so that plans and batches "
        "tell a cost. All prices are in one currency, which is yours."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", help="Its name, as a policy version or `models` has it.")
        parser.add_argument("--read", type=_decimal, help="Of a million tokens read.")
        parser.add_argument("--written", type=_decimal, help="Of a million tokens written.")
        parser.add_argument(
            "--batch-share",
            type=_decimal,
            metavar="SHARE",
            help="What part of it a token costs in the provider's batches, say 0.5; default 1.",
        )
        parser.add_argument("--evidence", metavar="URL", help="The page that states the price.")
        parser.add_argument(
            "--until",
            type=date.fromisoformat,
            metavar="YYYY-MM-DD",
            help="The last day on which the record counts.",
        )
        parser.add_argument("--drop", action="store_true", help="Take the price back.")
        parser.add_argument("--json", action="store_true", help="One JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        given = [options[name] for name in ("read", "written", "evidence", "until")]
        share = options["batch_share"]
        if any(each is not None for each in (*given, share)) if options["drop"] else None in given:
            raise CommandError(
                "Give --read, --written, --evidence and --until, or --drop alone.",
                returncode=Exit.USAGE,
            )
        model = named_model(options["model"])
        if options["drop"]:
            after, before = None, drop_price(model=model, actor_name=ACTOR)
        else:
            read, written, evidence, until = given
            after = PriceRecord(
                read, written, Decimal(1) if share is None else share, evidence, until
            )
            try:
                before = record_price(
                    model=model, price=after, today=timezone.localdate(), actor_name=ACTOR
                )
            except RecordRefusedError as error:
                raise CommandError(str(error), returncode=Exit.USAGE) from None
        if options["json"]:
            facts = {
                "model": model.name,
                "before": before and plain(before),
                "after": after and plain(after),
            }
            self.stdout.write(json.dumps(facts))
            return
        self.stdout.write(model.name)
        self.stdout.write(f"  before: {price_in_words(before)}")
        self.stdout.write(f"  now:    {price_in_words(after)}")


def _decimal(value: str) -> Decimal:
    try:
        return Decimal(value)
    except InvalidOperation:
        raise ValueError(value) from None  # argparse names the option and the value
