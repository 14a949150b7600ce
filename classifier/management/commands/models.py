import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from classifier.capabilities import forget
from classifier.catalogue import effective_limit, is_expired, is_stale, is_unlisted
from classifier.cooldown import ask_again_now
from classifier.models import ProviderModel, WaitingReason
from classifier.prices import plain, price_in_words, recorded_price

ACTOR = "command models"


class Command(BaseCommand):
    help = (
        "List the models that were asked: how each is asked, how much it takes and who says so, and "
        "whether it is being left alone and what to do about it."
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
    limit = effective_limit(model, today=timezone.localdate())
    price = recorded_price(model)
    return {
        "model": model.name,
        "base_url": model.base_url,
        "mode": model.mode or None,
        "output_limit": model.output_limit,
        "takes_temperature": model.takes_temperature,
        "thinks": model.thinks,
        "echoes_ref": model.echoes_ref,
        "limit": limit.tokens if limit else None,
        "source": limit.source if limit else None,
        "counts_answer": limit.counts_answer if limit else None,
        "listed_at": model.listed_at.isoformat() if model.listed_at else None,
        "stale": is_stale(model, timezone.now()),
        "recorded_limit": model.recorded_limit,
        "recorded_evidence": model.recorded_evidence or None,
        "recorded_until": model.recorded_until.isoformat() if model.recorded_until else None,
        "price": price and plain(price),
        "shutdown_on": model.shutdown_on.isoformat() if model.shutdown_on else None,
        "rest_reason": model.rest_reason or None,
        "rests_since": model.rests_since.isoformat() if model.rests_since else None,
        "rests_until": model.rests_until.isoformat() if model.rests_until else None,
    }


def _in_words(model: ProviderModel) -> str:
    lines = [f"{model.name} at {model.base_url}"]
    lines.append(f"  asked as {model.mode}" if model.mode else "  not probed yet")
    lines += [f"  {line}" for line in _limit_in_words(model)]
    price = recorded_price(model)
    if price:
        lines.append(f"  a million tokens: {price_in_words(price)}")
    if model.rests_until and model.rests_since:
        reason = WaitingReason(model.rest_reason)
        lines.append(f"  rests since {model.rests_since:%Y-%m-%d %H:%M:%S} UTC: {reason}")
        lines.append(f"  asked again from {model.rests_until:%Y-%m-%d %H:%M:%S} UTC")
        lines.append(f"  {reason.for_operations}")
    return "\n".join(lines)


def _limit_in_words(model: ProviderModel) -> list[str]:
    now = timezone.now()
    limit = effective_limit(model, today=now.date())
    if limit:
        what = "prompt and answer" if limit.counts_answer else "prompt alone"
        lines = [f"{limit.tokens:,} tokens, {what}, by {limit.source}"]
    else:
        reason = WaitingReason.UNKNOWN_LIMIT
        lines = [f"not usable, {reason}: {reason.for_operations}"]
    if model.listed_at:
        stale = ", stale" if is_stale(model, now) else ""
        hours = (now - model.listed_at).total_seconds() / 3600
        lines.append(f"list read {hours:.0f} hours ago{stale}")
        if is_unlisted(model):
            lines.append("not in the provider's list")
    else:
        lines.append("list never read: run `manage.py sync_models`")
    if model.recorded_limit:
        ended = ", over" if is_expired(model, today=now.date()) else ""
        lines.append(
            f"recorded: {model.recorded_limit:,} tokens until {model.recorded_until}{ended}, "
            f"by {model.recorded_evidence}"
        )
    if model.shutdown_on:
        lines.append(f"shuts down on {model.shutdown_on}")
    return lines
