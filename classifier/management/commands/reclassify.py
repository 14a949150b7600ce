from typing import Any

from django.core.management.base import CommandError, CommandParser

from classifier.batches.selection import Selection
from classifier.management.batch_operation import BatchOperation
from classifier.management.operation import Exit, active_policy, count
from classifier.models import Batch, PolicyVersion


class Command(BatchOperation):
    help = (
        "Have history judged again whose verdict is an older policy version's. Without --execute it "
        "prints the plan and changes nothing. Twice changes nothing."
    )
    where = {
        **BatchOperation.where,
        "category": lambda name: PolicyVersion.objects.filter(
            categories__contains=[{"id": name}]
        ).exists(),
    }

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        group = parser.add_mutually_exclusive_group()
        group.add_argument(
            "--nightly",
            action="store_true",
            help="As every night: the same reports, told apart from a migration by hand.",
        )
        group.add_argument(
            "--retry",
            type=count,
            metavar="BATCH",
            help="Instead those that this batch, which has ended, could not get judged.",
        )

    def operate(self, narrowed: dict[str, Any], options: dict[str, Any]) -> None:
        purpose = Batch.Purpose.NIGHTLY if options["nightly"] else Batch.Purpose.POLICY_MIGRATION
        if options["retry"]:
            purpose = Batch.Purpose.RETRY
            _check_retry(options["retry"])
        selection = Selection(**narrowed, retry_of=options["retry"])
        self.run(purpose=purpose, selection=selection, options=options)


def _check_retry(batch_id: int) -> None:
    batch = Batch.objects.filter(pk=batch_id).first()
    if batch is None:
        raise CommandError(f"There is no batch {batch_id}.", returncode=Exit.USAGE)
    if batch.ended_at is None:
        raise CommandError(
            f"Batch {batch} has not ended: {batch.get_state_display()}.",
            returncode=Exit.NOT_ELIGIBLE,
        )
    policy = active_policy()
    if batch.policy_version_id != policy.number:
        raise CommandError(
            f"Batch {batch} asked under policy version {batch.policy_version_id}, but {policy} is "
            "active: reclassify without --retry asks all that it left.",
            returncode=Exit.NOT_ELIGIBLE,
        )
