"""What `backfill` and `reclassify` have in common: a plan of history to ask, and one batch of it."""

from argparse import ArgumentTypeError
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import CommandError, CommandParser

from classifier.batches.plan import Plan, plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import BatchNotStartedError, SameBatchRunsError, start_batch
from classifier.management.operation import Exit, Operation, active_policy
from classifier.models import Batch, Job
from reports.models import Report, Sender

HISTORY = tuple(status.value for status in Report.Status if status != Report.Status.PENDING)


class BatchOperation(Operation):
    """Asks history under the active policy version as one batch, which `reconcile` carries out."""

    where = {
        "sender": lambda name: Sender.objects.filter(name=name).exists(),
        "status": HISTORY.__contains__,
        # Any: a language that no report has selects nothing, and the plan says so.
        "language": bool,
    }
    where_help = f"Statuses: {', '.join(HISTORY)}."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--max-cost",
            type=cost,
            metavar="COST",
            help="Stop before it costs more, in the currency of the recorded price.",
        )
        parser.add_argument(
            "--reopen",
            type=_count_or_none,
            metavar="N",
            help="Put at most N reports before people again where the new verdict contradicts that "
            "there is no violation, the most severe first. Default: at most 100, and only critical "
            "ones that no person has seen.",
        )

    def run(
        self, *, purpose: Batch.Purpose, selection: Selection, options: Mapping[str, Any]
    ) -> None:
        """Tell what the batch would ask; with `--execute` start it, unless the same is at work."""
        policy = active_policy()
        same = Batch.objects.unfinished().filter(
            policy_version=policy, purpose=purpose, selection=selection.as_json()
        )
        if (running := same.first()) is not None:
            self._tell_same(running)
            return
        plan = plan_batch(purpose=purpose, policy=policy, selection=selection)
        self.tell("plan", {"purpose": purpose.value, **asdict(plan)}, _words(plan))
        if self.is_dry_run(options):
            return
        if not plan.reports and not plan.carried:
            self.tell("nothing", {}, ["There is nothing to ask."])
            return
        try:
            batch = start_batch(
                purpose=purpose,
                policy=policy,
                selection=selection,
                plan=plan,
                actor_name=f"command {self.name}",
                max_cost=options["max_cost"],
                reopen_at_most=options["reopen"],
            )
        except SameBatchRunsError as same_runs:
            self._tell_same(same_runs.batch)
        except BatchNotStartedError as refusal:
            raise CommandError(str(refusal), returncode=Exit.NOT_ELIGIBLE) from None
        else:
            self.tell(
                "started",
                {"batch": batch.pk},
                [f"Batch {batch} is started; `manage.py reconcile` carries it out.", _watch(batch)],
            )

    def _tell_same(self, batch: Batch) -> None:
        self.tell(
            "same",
            {"batch": batch.pk, "state": batch.state},
            [f"Batch {batch} asks the same already: {batch.get_state_display()}.", _watch(batch)],
        )


def cost(value: str) -> Decimal:
    """Argument type: an amount of money above 0, to four decimals."""
    try:
        amount = Decimal(value)
        if amount.is_finite() and 0 < amount < 10**10 and amount == round(amount, 4):
            return amount
    except InvalidOperation:
        pass
    raise ArgumentTypeError(f"{value!r} is not an amount above 0, to four decimals")


def _count_or_none(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        raise ArgumentTypeError(f"{value!r} is not a number")
    return int(value)


def _watch(batch: Batch) -> str:
    return f"Watch it: manage.py batches watch {batch}"


_ROUTES = {
    Job.Through.PROVIDER_BATCH: "the provider's batches",
    Job.Through.CALLS: "calls, behind the live ones",
    "": "not known yet: the provider is asked whether it takes batches when the batch starts",
}


def _words(plan: Plan) -> Iterator[str]:
    yield f"{plan.reports:,} reports to ask under policy version {plan.version}, model {plan.model}"
    if plan.carried:
        yield (
            f"{plan.carried:,} more need no call: a version of the same content has judged them, "
            "and its verdicts are carried over."
        )
    if plan.never:
        yield (
            f"{plan.never:,} more were refused by the model or a filter: a person decides them, "
            "they are never asked again."
        )
    if not plan.reports and not plan.carried:
        return
    yield f"received from {plan.oldest} to {plan.newest}"
    yield f"  by language: {_counts(plan.by_language)}"
    yield f"  by status:   {_counts(plan.by_status)}"
    yield f"  through:     {_ROUTES[plan.through]}"
    if plan.tokens:
        yield (
            f"  tokens:      {plan.tokens.prompt_low:,} to {plan.tokens.prompt_high:,} read, "
            f"{plan.tokens.completion_low:,} to {plan.tokens.completion_high:,} written"
        )
    else:
        yield "  tokens:      not known, for the model's limit is not: manage.py sync_models"
    if plan.cost_low is not None and plan.cost_high is not None:
        yield f"  cost:        {plan.cost_low:,} to {plan.cost_high:,}"
    else:
        yield "  cost:        not known: manage.py record_price"


def _counts(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counted.items())
