from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from classifier.models import PolicyVersion
from classifier.policies import (
    FIRST_POLICY,
    PolicyContent,
    PolicyFileError,
    load_policy,
    read_policy_file,
)
from classifier.policies.content import content_today


class Command(BaseCommand):
    help = (
        "Store a policy file as the next version, for the model named by MODEL, unless the active or "
        "the newest version says the same already. With --activate new reports are judged under it, "
        "and batches of other versions are cancelled."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="TOML; default: what the active version says, under today's rules of the "
            "application; before there is one, the first policy.",
        )
        parser.add_argument(
            "--model", default=settings.MODEL, help="Default: the environment's MODEL."
        )
        parser.add_argument("--activate", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        try:
            title, content = _read(options["file"], model=options["model"])
        except PolicyFileError as error:
            raise CommandError(str(error), returncode=2) from None
        version, changed = load_policy(
            title=title,
            content=content,
            activate=options["activate"],
            actor_name="command load_policy",
        )
        said = "" if changed else " already"
        same = [str(each) for each in PolicyVersion.objects.saying_the_same(version)]
        origin = f"; the same content as version {', '.join(same)}" if same else ""
        self.stdout.write(
            f"policy version {version.number} for {version.model} is{said} {version.state}{origin}"
        )


def _read(file: Path | None, *, model: str) -> tuple[str, PolicyContent]:
    active = PolicyVersion.objects.active() if file is None else None
    if active:
        # Run at every deployment, it must not undo what was activated in the admin since.
        return active.title, replace(content_today(active), model=model)
    return read_policy_file(file or FIRST_POLICY, model=model)
