from typing import Any

from classifier.batches.selection import Selection
from classifier.management.batch_operation import BatchOperation
from classifier.models import Batch


class Command(BatchOperation):
    help = (
        "Have history judged that no model has judged: imported, or decided unread. Without "
        "--execute it prints the plan and changes nothing. Twice changes nothing."
    )

    def operate(self, narrowed: dict[str, Any], options: dict[str, Any]) -> None:
        self.run(purpose=Batch.Purpose.BACKFILL, selection=Selection(**narrowed), options=options)
