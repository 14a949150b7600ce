import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from classifier.capabilities import forget
from classifier.cooldown import ask_again_now
from classifier.models import ProviderModel, WaitingReason

ACTOR = "command models"


class Command(BaseCommand):
    help = (
        "List the models that were asked: how each is asked, and whether it is being left alone and "
        "what to do about it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--ask-again", metavar="MODEL", help="End its rest, say after topping up the account."
        )
        parser.add_argument(
            "--probe",
            metavar="MODEL",
            help="Find out anew how it is asked, before the next question.",
        )
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        for model in _named(options["ask_again"]):
            ask_again_now(model=model, actor_name=ACTOR)
        for model in _named(options["probe"]):
            forget(model=model, actor_name=ACTOR)
        for model in ProviderModel.objects.order_by("name", "base_url"):
            self.stdout.write(json.dumps(_facts(model)) if options["json"] else _in_words(model))


def _named(name: str | None) -> list[ProviderModel]:
    if name is None:
        return []
    found = list(ProviderModel.objects.filter(name=name))
    if not found:
        raise CommandError(f"No model named {name} was ever asked; see `models`.", returncode=2)
    return found


def _facts(model: ProviderModel) -> dict[str, Any]:
    return {
        "model": model.name,
        "base_url": model.base_url,
        "mode": model.mode or None,
        "output_limit": model.output_limit,
        "takes_temperature": model.takes_temperature,
        "thinks": model.thinks,
        "echoes_ref": model.echoes_ref,
        "rest_reason": model.rest_reason or None,
        "rests_since": model.rests_since.isoformat() if model.rests_since else None,
        "rests_until": model.rests_until.isoformat() if model.rests_until else None,
    }


def _in_words(model: ProviderModel) -> str:
    lines = [f"{model.name} at {model.base_url}"]
    lines.append(f"  asked as {model.mode}" if model.mode else "  not probed yet")
    if model.rests_until and model.rests_since:
        reason = WaitingReason(model.rest_reason)
        lines.append(f"  rests since {model.rests_since:%Y-%m-%d %H:%M:%S} UTC: {reason}")
        lines.append(f"  asked again from {model.rests_until:%Y-%m-%d %H:%M:%S} UTC")
        lines.append(f"  {reason.for_operations}")
    return "\n".join(lines)
