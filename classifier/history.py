"""The verdicts about one report, newest first, each beside the one before it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from classifier.models import Classification


@dataclass(frozen=True)
class PastVerdict:
    """One verdict in a report's history. `before` is that of the next older version that answered."""

    verdict: Classification
    before: Classification | None
    carried_from: int | None
    """The older version whose verdict was taken over; None where a model was asked."""

    @property
    def changed(self) -> set[str]:
        """What is not as it was before: `category`, `severity`, `confidence` (as shown), `summary`."""
        if self.before is None:
            return set()
        old, new = self.before, self.verdict
        return {
            name
            for name, differs in (
                ("category", old.category != new.category),
                ("severity", old.severity != new.severity),
                ("confidence", round(old.confidence, 2) != round(new.confidence, 2)),
                ("summary", not self.is_beyond_compare and old.summary != new.summary),
            )
            if differs
        }

    @property
    def is_beyond_compare(self) -> bool:
        """The text of either was purged."""
        both = (self.verdict, self.before)
        return any(each is not None and each.purged_at is not None for each in both)


def read_history(verdicts: Iterable[Classification]) -> list[PastVerdict]:
    """All verdicts about one report, the highest version first; asks the database nothing."""
    ordered = sorted(verdicts, key=lambda each: each.policy_version_id, reverse=True)
    version: dict[int | None, int] = {each.pk: each.policy_version_id for each in ordered}
    return [
        PastVerdict(verdict, before, version.get(verdict.carried_from_id))
        for verdict, before in pairwise([*ordered, None])
        if verdict is not None
    ]
