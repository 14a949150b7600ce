from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from classifier.policies import FIRST_POLICY, PolicyFileError, load_policy, read_policy_file


class Command(BaseCommand):
    help = (
        "Store a policy file as the next version, for the model named by MODEL, unless the newest "
        "version says the same already. With --activate new reports are judged under it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            default=FIRST_POLICY,
            help="TOML; default: the first policy.",
        )
        parser.add_argument(
            "--model", default=settings.MODEL, help="Default: the environment's MODEL."
        )
        parser.add_argument("--activate", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        try:
            title, content = read_policy_file(options["file"], model=options["model"])
        except PolicyFileError as error:
            raise CommandError(str(error), returncode=2) from None
        version, changed = load_policy(
            title=title,
            content=content,
            activate=options["activate"],
            actor_name="command load_policy",
        )
        said = "" if changed else " already"
        self.stdout.write(
            f"policy version {version.number} for {version.model} is{said} {version.state}"
        )
