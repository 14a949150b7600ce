import json
import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection
from django.utils import timezone

from classifier.models import Job, PolicyVersion
from classifier.replay import Plan, Selection, execute_replay, plan_replay
from reports.models import Sender
from reports.waiting import Waiting

EXIT_NOT_ELIGIBLE, EXIT_LOCKED, EXIT_INTERRUPTED = 3, 5, 130
WHERE = ("sender", "reason")
REASONS = (*Job.Reason.values, Waiting.WAITING_FOR_WORKER.value)


class Command(BaseCommand):
    help = (
        "Give pending reports new attempts, parked ones included. Without --execute it prints the "
        "plan and changes nothing. Twice changes nothing: a classified report is not asked again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        moment = "ISO 8601 with a zone, such as 2026-11-01T00:00:00Z"
        parser.add_argument("--execute", action="store_true", help="Act; otherwise print the plan.")
        parser.add_argument("--since", type=_moment, help=f"Received at or after; {moment}.")
        parser.add_argument("--until", type=_moment, help=f"Received before; {moment}.")
        parser.add_argument(
            "--where",
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=f"Narrow it; keys: {', '.join(WHERE)}. Reasons: {', '.join(REASONS)}.",
        )
        parser.add_argument(
            "--limit", type=_count, help="So many reports at most, the oldest first."
        )
        parser.add_argument("--json", action="store_true", help="One JSON object a line.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002 - Django's signature
        selection = Selection(
            since=options["since"],
            until=options["until"],
            limit=options["limit"],
            **_where(options["where"]),
        )
        if selection.since and selection.until and selection.since >= selection.until:
            raise CommandError("--since must be before --until.", returncode=2)
        policy = PolicyVersion.objects.active()
        if policy is None:
            raise CommandError(
                "No policy version is active. Run `manage.py load_policy --activate` first.",
                returncode=EXIT_NOT_ELIGIBLE,
            )
        with _alone("replay"):
            plan = plan_replay(selection, policy=policy)
            self._print_plan(plan, as_json=options["json"])
            if options["execute"]:
                self._execute(plan, selection, policy, as_json=options["json"])
            elif not options["json"]:
                self.stdout.write("Nothing was changed. Add --execute to do it.")

    def _print_plan(self, plan: Plan, *, as_json: bool) -> None:
        if as_json:
            facts = asdict(plan) | {"reports": len(plan.report_ids)}
            del facts["report_ids"]
            self.stdout.write(json.dumps({"event": "plan", **facts}, default=datetime.isoformat))
            return
        self.stdout.write(
            f"{len(plan.report_ids)} pending reports under policy version {plan.version}, "
            f"model {plan.model}"
        )
        if plan.report_ids:
            self.stdout.write(f"received from {plan.oldest} to {plan.newest}")
        for reason, count in sorted(plan.by_reason.items()):
            todo = Job.Reason(reason).for_operations if reason in Job.Reason.values else ""
            self.stdout.write(f"  {count:>8}  {reason}  {todo}".rstrip())
        if plan.never:
            self.stdout.write(
                f"{plan.never} more were refused by the model or a filter: a person decides them, "
                "they are never asked again."
            )

    def _execute(
        self, plan: Plan, selection: Selection, policy: PolicyVersion, *, as_json: bool
    ) -> None:
        done = 0
        bar = sys.stderr.isatty()
        try:
            for count in execute_replay(
                plan, selection=selection, policy=policy, actor_name="command replay"
            ):
                done += count
                if bar:
                    sys.stderr.write(f"\r{done} of {len(plan.report_ids)}")
        except KeyboardInterrupt:
            raise CommandError(
                f"Interrupted after {done}; run the same command again for the rest.",
                returncode=EXIT_INTERRUPTED,
            ) from None
        if bar:
            sys.stderr.write("\n")
        skipped = len(plan.report_ids) - done
        if as_json:
            self.stdout.write(json.dumps({"event": "done", "renewed": done, "skipped": skipped}))
            return
        self.stdout.write(f"{done} reports have new attempts.")
        if skipped:
            self.stdout.write(f"{skipped} were left alone: a model is reading them, or has by now.")


def _moment(value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or timezone.is_naive(moment):
        raise ArgumentTypeError(
            f"{value!r} is not ISO 8601 with a zone, such as 2026-11-01T00:00:00Z"
        )
    return moment


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit()) or int(value) < 1:
        raise ArgumentTypeError(f"{value!r} is not a number above 0")
    return int(value)


def _where(pairs: list[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in WHERE or key in chosen or not value:
            raise CommandError(
                f"--where {pair}: use KEY=VALUE with {' or '.join(WHERE)}, each once.", returncode=2
            )
        if key == "sender" and not Sender.objects.filter(name=value).exists():
            raise CommandError(f"--where {pair}: no such sender.", returncode=2)
        if key == "reason" and value not in REASONS:
            raise CommandError(f"--where {pair}: no such reason; see --help.", returncode=2)
        chosen[key] = value
    return chosen


@contextmanager
def _alone(name: str) -> Iterator[None]:
    """Refuse to run beside a second one; the lock goes with the connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtext(%s))", [f"command {name}"])
        if not cursor.fetchone()[0]:
            raise CommandError(f"Another {name} is running.", returncode=EXIT_LOCKED)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", [f"command {name}"])
