"""What a batch counts as it goes, in the transaction that records: tokens, and who went where."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db import connection
from django.db.models import F

from classifier.models import Batch, Classification


def tally(
    *, batch_id: int, flows: Iterable[tuple[str, str]], rows: Sequence[Classification]
) -> None:
    """Add new rows to the batch's counts. `flows` are pairs of category before and after.

    What is carried over was paid for once, under the version that it comes from.
    """
    counted = sorted(Counter(flows).items())
    if counted:
        with connection.cursor() as cursor:
            cursor.execute(
                _COUNT,
                [
                    batch_id,
                    [before for (before, _after), _count in counted],
                    [after for (_before, after), _count in counted],
                    [count for _flow, count in counted],
                ],
            )
    asked = [row for row in rows if row.carried_from_id is None]
    add_tokens(
        batch_id=batch_id,
        prompt=sum(row.prompt_tokens or 0 for row in asked),
        completion=sum(row.completion_tokens or 0 for row in asked),
    )


def add_tokens(*, batch_id: int, prompt: int, completion: int) -> None:
    """Count what was used; a refused answer costs as well."""
    if prompt or completion:
        Batch.objects.filter(pk=batch_id).update(
            prompt_tokens=F("prompt_tokens") + prompt,
            completion_tokens=F("completion_tokens") + completion,
        )


_COUNT = """
INSERT INTO classifier_batchflow AS flow (batch_id, before, after, reports)
SELECT %s, * FROM unnest(%s::text[], %s::text[], %s::int[])
ON CONFLICT ON CONSTRAINT one_flow_per_batch_and_categories
DO UPDATE SET reports = flow.reports + excluded.reports
"""
