import uuid
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from classifier.management.operation import Exit, Operation, count
from reports.fingerprint import pseudonym
from reports.invalidation import (
    DecidedJustNowError,
    Plan,
    Scope,
    begin_invalidation,
    carry_out,
    plan_invalidation,
    revoke_invalidation,
)
from reports.models import Invalidation, Report, Sender

ACTOR = "command invalidate_reports"


class Command(Operation):
    help = (
        "Have the reports of one reporter who acted in bad faith count for nothing, and close the "
        "open ones that have a verdict, are not severe and that nobody has a hand in. Those that "
        "were pending can be closed by another run. Without --execute it prints "
        "the plan and changes nothing. Twice changes nothing. --revoke puts everything back."
    )
    where = {"item_type": bool}
    where_help = "A type as the sender names it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--sender", help="The sender's name; with --reporter.")
        parser.add_argument("--reporter", help="The reporter's id, as the sender sends it.")
        parser.add_argument("--report", type=uuid.UUID, help="Or any report of that reporter.")
        parser.add_argument("--reason", help="Why, for the record; needed to --execute.")
        parser.add_argument("--revoke", type=count, metavar="N", help="Put invalidation N back.")

    def operate(self, narrowed: dict[str, Any], options: dict[str, Any]) -> None:
        if options["revoke"]:
            self._revoke(options)
            return
        sender, reporter = _reporter(options)
        scope = Scope(**narrowed)
        plan = plan_invalidation(sender=sender, pseudonym=reporter, scope=scope)
        facts = {"sender": sender.name, "reporter": reporter, **asdict(plan)}
        self.tell("plan", facts, _words(plan, sender, reporter))
        if self.is_dry_run(options):
            return
        if not plan.reports:
            self.tell("done", {"invalidation": None, "reports": 0}, ["There was nothing to do."])
            return
        if not options["reason"]:
            raise CommandError("--reason: say why, for the record.", returncode=Exit.USAGE)
        begun = begin_invalidation(
            sender=sender,
            pseudonym=reporter,
            scope=scope,
            plan=plan,
            reason=options["reason"],
            actor_name=ACTOR,
        )
        many = self.count(carry_out(invalidation=begun, scope=scope, plan=plan), of=plan.reports)
        words = f"{many:,} reports count for nothing. To put them back: --revoke {begun.pk}."
        self.tell("done", {"invalidation": begun.pk, "reports": many}, [words])

    def _revoke(self, options: dict[str, Any]) -> None:
        invalidation = Invalidation.objects.filter(pk=options["revoke"]).first()
        if invalidation is None:
            said = f"There is no invalidation {options['revoke']}."
            raise CommandError(said, returncode=Exit.USAGE)
        marked = invalidation.reports.filter(report__invalidated_at__isnull=False).count()
        facts = {"invalidation": invalidation.pk, "reports": marked}
        self.tell("plan", facts, [f"{marked:,} reports would count again: {invalidation.reason}"])
        if self.is_dry_run(options):
            return
        try:
            many = self.count(
                revoke_invalidation(invalidation=invalidation, actor_name=ACTOR), of=marked
            )
        except DecidedJustNowError as error:
            said = f"{error} reports wait: a decision about them may still be taken back."
            raise CommandError(
                f"{said} Try again in a minute.", returncode=Exit.SOME_FAILED
            ) from None
        self.tell("done", {**facts, "reports": many}, [f"{many:,} reports count again."])


def _reporter(options: dict[str, Any]) -> tuple[Sender, str]:
    """Whose reports are meant: the sender, and the reporter's pseudonym there."""
    if options["report"]:
        report = Report.objects.select_related("sender").filter(public_id=options["report"]).first()
        if report is None or not report.reporter_pseudonym:
            said = "There is no such report." if report is None else "Its reporter was not named."
            raise CommandError(f"--report: {said}", returncode=Exit.USAGE)
        return report.sender, report.reporter_pseudonym
    if not (options["sender"] and options["reporter"]):
        said = "Name the reporter by --report, or by --sender and --reporter."
        raise CommandError(said, returncode=Exit.USAGE)
    sender = Sender.objects.filter(name=options["sender"]).first()
    if sender is None:
        raise CommandError(f"No sender is named {options['sender']}.", returncode=Exit.USAGE)
    return sender, pseudonym(sender_id=sender.pk, reporter_id=options["reporter"])


def _words(plan: Plan, sender: Sender, reporter: str) -> Iterator[str]:
    yield f"{plan.reports:,} reports of {reporter} to {sender.name}, about {plan.items:,} items"
    if not plan.reports:
        return
    yield f"received from {plan.oldest} to {plan.newest}"
    for number, words in (
        (plan.marked, "of them count for nothing already, and would now be closed"),
        (plan.closed, "would be closed"),
        (plan.pending, "stay pending: they wait for their verdict"),
        (plan.resolved, "are resolved already"),
        (plan.severe, "stay open: they are severe"),
        (plan.decided, "stay open: a decision names them"),
        (plan.in_hand, "stay open: somebody has a hand in them, or a model is reading them"),
    ):
        yield f"  {number:>8,}  {words}"
