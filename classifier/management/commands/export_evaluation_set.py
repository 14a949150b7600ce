import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from classifier.evaluation import lines_of
from classifier.models import EvaluationSet


class Command(BaseCommand):
    help = (
        "Write the cases of an evaluation set to the standard output: one JSON object a line, with "
        "the content by value and what people found in it. Names nobody. Reads only."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="The set's name.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        evaluation_set = EvaluationSet.objects.filter(name=options["name"]).first()
        if evaluation_set is None:
            raise CommandError(f"No evaluation set is named {options['name']}.", returncode=2)
        for line in lines_of(evaluation_set):
            self.stdout.write(json.dumps(line, ensure_ascii=False))
