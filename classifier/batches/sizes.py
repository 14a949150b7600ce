"""How large the provider lets a file be, as it turned out: smaller after a refusal, then larger again.

Two things are too large for a provider: the file as such, and all that waits in its queue, of which
others may have filled a part. The second passes by itself, so the next file waits for a while.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile

from django.utils import timezone

from classifier.models import Batch, ProviderBatch

# The provider's limit, source: the reference on the model contract, section 5.
MOST_LINES = 50_000
FULL_QUEUE = frozenset({"token_limit_exceeded"})
FILE_TOO_LARGE = "file_too_large"
_TOO_LARGE = FULL_QUEUE | {FILE_TOO_LARGE, "too_many_lines", "too_many_tasks"}
# So long a refusal is remembered.
_REMEMBERED = timedelta(hours=6)
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(minutes=2), timedelta(hours=1)


def is_too_large(provider_batch: ProviderBatch) -> bool:
    """Whether the provider refused the file for its size. No line's fault, but of a single one."""
    return provider_batch.lines > 1 and not _codes(provider_batch.error).isdisjoint(_TOO_LARGE)


def most_lines_now(batch: Batch) -> int:
    """How many lines the batch's next file may have; 0: none goes out yet.

    A quarter of what was refused last, or twice what was taken since. A queue that is full gets
    nothing for two minutes, and for twice as long after each further refusal, up to an hour.
    """
    fates = _fates(batch)
    refused = list(takewhile(lambda fate: fate.was_refused, fates))
    if refused:
        last = refused[0]
        pause = min(_FIRST_PAUSE * 2 ** min(len(refused) - 1, 10), _LONGEST_PAUSE)
        if last.by_queue and timezone.now() < last.ended_at + pause:
            return 0
        return max(1, last.lines // 4)
    taken = list(takewhile(lambda fate: not fate.was_refused, fates))
    if len(taken) == len(fates):
        return MOST_LINES
    return min(2 * max(fate.lines for fate in taken), MOST_LINES)


def was_refused(batch: Batch) -> bool:
    """Whether a file of the batch was too large lately: then one goes out at a time."""
    return any(fate.was_refused for fate in _fates(batch))


@dataclass(frozen=True)
class _Fate:
    """What became of a file."""

    lines: int
    codes: frozenset[str]
    ended_at: datetime

    @property
    def was_refused(self) -> bool:
        return not self.codes.isdisjoint(_TOO_LARGE)

    @property
    def by_queue(self) -> bool:
        return not self.codes.isdisjoint(FULL_QUEUE)


def _fates(batch: Batch) -> list[_Fate]:
    """Of the files that ended lately, the last one first."""
    rows = batch.provider_batches.exclude(state=ProviderBatch.State.SUBMITTED)
    lately = rows.filter(lines__gt=0, ended_at__gt=timezone.now() - _REMEMBERED)
    return [
        _Fate(row.lines, _codes(row.error), row.ended_at)
        for row in lately.order_by("-ended_at", "-pk")
        if row.ended_at is not None
    ]


def _codes(error: str) -> frozenset[str]:
    return frozenset(error.split(","))
