import json
from datetime import date
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from classifier.catalogue import (
    Synced,
    effective_limit,
    is_expired,
    is_unlisted,
    sync_model,
)
from classifier.models import PolicyVersion, ProviderModel

ACTOR = "command sync_models"
EXIT_FAILED, EXIT_NOT_USABLE, EXIT_SOME_FAILED = 1, 3, 6


class Command(BaseCommand):
    help = (
        "Read how much each model takes from the provider's own list. Exit 3: the active policy's "
        "model has no usable limit, so it is not asked. 1: the list could not be read, nothing was "
        "changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--forget-errors",
            action="store_true",
            help="What errors lowered counts no more, say after raising the server's limit.",
        )
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        policy = PolicyVersion.objects.active()
        if policy is not None:
            ProviderModel.objects.of_policy(policy)  # known from here on
        here = ProviderModel.objects.filter(base_url=settings.OPENAI_BASE_URL).order_by("name")
        results = [
            sync_model(row, forget_errors=options["forget_errors"], actor_name=ACTOR)
            for row in here
        ]
        today = timezone.localdate()
        for each in results:
            facts = _facts(each, today=today)
            self.stdout.write(
                json.dumps(facts) if options["json"] else _in_words(each, facts, today=today)
            )
        if not results and not options["json"]:
            self.stdout.write("No model is known yet: `manage.py load_policy` names one.")
        _exit(results, policy, today=today)


def _exit(results: list[Synced], policy: PolicyVersion | None, *, today: date) -> None:
    failed = sum(each.failure is not None for each in results)
    if failed and failed == len(results):
        raise CommandError("The provider's list was not read.", returncode=EXIT_FAILED)
    for each in results:
        unusable = effective_limit(each.model, today=today) is None
        if policy is not None and each.model.name == policy.model and unusable:
            raise CommandError(
                f"The active policy's model {policy.model} has no usable limit and is not asked.",
                returncode=EXIT_NOT_USABLE,
            )
    if failed:
        raise CommandError(f"{failed} of {len(results)} failed.", returncode=EXIT_SOME_FAILED)


def _facts(synced: Synced, *, today: date) -> dict[str, Any]:
    model = synced.model
    limit = effective_limit(model, today=today)
    shutdown = model.shutdown_on
    return {
        "model": model.name,
        "base_url": model.base_url,
        "usable": limit is not None,
        "limit": limit.tokens if limit else None,
        "source": limit.source if limit else None,
        "counts_answer": limit.counts_answer if limit else None,
        "provider_limit": model.context_limit,
        "provider_limit_before": synced.before.tokens if synced.before else None,
        "listed_at": model.listed_at.isoformat() if model.listed_at else None,
        "shutdown_on": shutdown.isoformat() if shutdown else None,
        "shutdown_days": (shutdown - today).days if shutdown else None,
        "failure": str(synced.failure) if synced.failure else None,
    }


def _in_words(synced: Synced, facts: dict[str, Any], *, today: date) -> str:
    model, lines = synced.model, [synced.model.name]
    if synced.failure:
        lines.append(f"  the list was not read, nothing was changed: {synced.failure}")
        if synced.failure.status == 404:
            lines.append("  Does OPENAI_BASE_URL end where the API begins, mostly in /v1?")
    if facts["usable"]:
        what = "prompt and answer" if facts["counts_answer"] else "prompt alone"
        lines.append(f"  {facts['limit']:,} tokens, {what}, by {facts['source']}{_change(synced)}")
    else:
        lines += ["  not usable: nobody has said how much it takes", f"  {_what_to_do(synced)}"]
    if is_expired(model, today=today):
        lines.append(f"  the recorded limit ended on {model.recorded_until}")
    if facts["shutdown_days"] is not None:
        days = facts["shutdown_days"]
        left = f"in {days} days" if days >= 0 else f"{-days} days ago"
        lines.append(f"  shuts down on {facts['shutdown_on']}, {left}")
    return "\n".join(lines)


def _change(synced: Synced) -> str:
    before, now = synced.before, synced.model.context_limit
    if synced.failure or (before.tokens if before else None) == now:
        return ""
    return f" (the provider: {f'{before.tokens:,}' if before else 'none'} before)"


def _what_to_do(synced: Synced) -> str:
    model = synced.model
    if synced.failure:
        return "Run this again once the provider answers."
    record = f"manage.py record_limit {model.name} TOKENS --evidence URL --until YYYY-MM-DD"
    if is_unlisted(model):
        return f"The list has no model of this name. Is it right, and offered to this key? Else: {record}"
    return f"The provider's list does not say. Is the model loaded? Else look it up, and: {record}"
