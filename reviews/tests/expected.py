"""What the design says must come of each step, in plain Python: the state machine's second opinion.

Written from the rules of the design and not from the product's code; knows no SQL and no clock.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

ATTEMPTS = 3
OPEN = ("needs_review", "pending")
LISTS = ("needs_review", "pending", "judged_safe", "resolved")
HIGH = 3
REFUSALS = {"model_refused", "content_filtered"}
HOPELESS = REFUSALS | {"too_long"}
SPENDING = HOPELESS | {
    "answer_invalid",
    "answer_misplaced",
    "answer_cut",
    "input_truncated",
    "internal_error",
}


class JobRow(NamedTuple):
    """A job's columns; `lease` is "held", "over" or "", `waits` says that its time has not come."""

    attempts: int = 0
    claims: int = 0
    faults: int = 0
    lease: str = ""
    waits: bool = False
    parked: bool = False
    done: bool = False
    reason: str = ""
    dropped: int = 0

    def is_due(self) -> bool:
        ended = self.done or self.parked or self.attempts >= ATTEMPTS
        return not ended and not self.waits and self.lease != "held"


class Verdict(NamedTuple):
    severity: int
    safe: bool
    words: str


class Before(NamedTuple):
    """How a report stood before a decision, to which an undo brings it back."""

    status: str
    upheld: bool
    disputed: int | None
    current: int | None
    returned: int | None


@dataclass
class Expected:
    """One report."""

    id: int
    sender: int
    item: int
    floor: int
    reporter: str = ""
    status: str = "pending"
    upheld: bool = False
    decided: bool = False
    disputed: int | None = None
    """The version that found a violation where none had been found, and nobody has looked since."""
    unseen: bool = False
    """Whether only a machine had found none."""
    brought_back: bool = False
    """Whether by it several people brought its item back, and nobody has decided since."""
    returned: int | None = None
    """The last version whose disagreement brought it back to people."""
    of_batches: set[int] = field(default_factory=set)
    queued: bool = False
    """Whether a verdict has ever brought it before people."""
    refused_for: set[str] = field(default_factory=set)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    jobs: dict[int, JobRow] = field(default_factory=dict)

    @property
    def current(self) -> int | None:
        return max(self.verdicts, default=None)

    @property
    def rank(self) -> int:
        return max(self.floor, self.verdicts[self.current].severity if self.current else 0)

    # --- Workers

    def may_be_asked(self) -> bool:
        """What a model or a filter refused is asked nowhere again."""
        return self.status == "pending" and not self.refused_for

    def claim(self, version: int) -> int | None:
        """The number of the claim, or None where it must be refused."""
        job = self.jobs.get(version, JobRow())
        if not self.may_be_asked() or not job.is_due():
            return None
        self.jobs[version] = job._replace(
            attempts=job.attempts + 1, claims=job.claims + 1, lease="held"
        )
        return job.claims + 1

    def record(
        self,
        version: int,
        verdict: Verdict,
        *,
        history: bool = False,
        in_hand: bool = False,
        retired: bool = False,
        waits: bool = False,
        several: bool = False,
    ) -> str:
        """The first answer of a version stands; the highest version counts; nobody takes it back.

        `waits`: its item waits for a certain person, so a first verdict cannot make it safe.
        `several`: so many people reported its item that not all of it passes.
        """
        job = self.jobs[version]
        duplicate = version in self.verdicts
        self.jobs[version] = job._replace(
            lease="",
            waits=False,
            parked=False,
            done=True,
            reason="",
            dropped=job.dropped + duplicate,
        )
        if duplicate:
            return "duplicate"
        if self.floor:
            verdict = verdict._replace(safe=False)
        self.verdicts[version] = verdict
        if self.current != version:
            return "superseded"
        self.disputed = None
        if history:
            self.of_batches.add(version)
            keeps = in_hand or waits or retired
            self._move_history(version, verdict, keeps=keeps, several=several)
        elif self.status in {"pending", "judged_safe"}:
            passes = verdict.safe
            if self.status == "pending" and passes and not (waits or self.brought_back):
                self.brought_back = several
            if self.status == "pending":
                passes = passes and not (waits or self.brought_back)
            self.status = "judged_safe" if passes else "needs_review"
        self.queued |= not (verdict.safe or self.disputed)
        return "current"

    def _move_history(self, version: int, verdict: Verdict, *, keeps: bool, several: bool) -> None:
        """A batch takes out of review what no person has to do with; other statuses it lets stand.

        What was taken so, by this or another version, it gives back. A retired version takes nothing.
        """
        found = not verdict.safe
        if self.status == "needs_review" and not (found or self.decided or keeps):
            self.brought_back = several
            self.status = "needs_review" if several else "judged_safe"
        elif self.status == "judged_safe" and found and self.queued:
            self.status = "needs_review"
        elif self.status == "judged_safe" and found:
            self.disputed, self.unseen = version, True
        elif self.status == "resolved" and found and verdict.severity and not self.upheld:
            self.disputed, self.unseen = version, False

    def place_among_disputed(self) -> tuple[int, bool, int]:
        """The most severe first, then what nobody has seen, then the oldest answer."""
        assert self.disputed
        verdict = self.verdicts[self.disputed]
        return -verdict.severity, not self.unseen, int(verdict.words.strip("Answer ."))

    def come_back(self) -> None:
        if self.disputed:
            self.returned = self.disputed
        self.status, self.disputed, self.queued = "needs_review", None, True

    def be_brought_back(self) -> None:
        self.status, self.disputed, self.brought_back = "needs_review", None, True

    def put_off(self, version: int, number: int, reason: str) -> bool:
        job = self.jobs[version]
        if job.done or job.claims != number:
            return False
        spends = reason in SPENDING
        self.jobs[version] = job._replace(
            attempts=job.attempts - (not spends),
            faults=0 if spends else job.faults + 1,
            lease="",
            waits=True,
            parked=reason in HOPELESS or (spends and job.attempts >= ATTEMPTS),
            reason=reason,
        )
        if reason in REFUSALS - self.refused_for:
            self.refused_for.add(reason)
            self.floor = max(self.floor, HIGH)
            if self.status == "judged_safe":
                self.come_back()  # what a model refuses to read is not safe
        return True

    # --- Time, sweep, replay

    def leases_end(self) -> None:
        for version, job in self.jobs.items():
            self.jobs[version] = job._replace(lease="over" if job.lease else "")

    def waits_end(self) -> None:
        for version, job in self.jobs.items():
            self.jobs[version] = job._replace(waits=False)

    def park_dead(self) -> int:
        dead = {
            version: job._replace(lease="", parked=True, reason="holder_died")
            for version, job in self.jobs.items()
            if job.lease == "over" and job.attempts >= ATTEMPTS
        }
        self.jobs |= dead
        return len(dead)

    def is_due(self, version: int) -> bool:
        return self.may_be_asked() and self.jobs.get(version, JobRow()).is_due()

    def renew(self, version: int) -> bool:
        job = self.jobs.get(version)
        if not self.may_be_asked() or (job and (job.done or job.lease == "held")):
            return False
        self.jobs[version] = JobRow(claims=job.claims + 1) if job else JobRow()
        return True

    # --- People

    def decide(self, *, reopen: bool, upheld: bool) -> None:
        self.upheld, self.decided, self.disputed = upheld, True, None
        if not reopen:
            self.status = "resolved"
        elif self.status != "pending":
            self.status = "needs_review"

    def before(self) -> Before:
        return Before(self.status, self.upheld, self.disputed, self.current, self.returned)

    def without_decision(self, was: str) -> str:
        """As it was; a verdict that came since is what it waited for."""
        if was == "pending" and self.current:
            return "judged_safe" if self.verdicts[self.current].safe else "needs_review"
        return was

    def take_back(self, was: Before, *, waits: bool) -> None:
        """As it was, with what came since; in doubt a person looks. `waits`: as in `record`."""
        self.status, self.upheld = self.without_decision(was.status), was.upheld
        verdict = self.verdicts[self.current] if self.current else None
        again = was.disputed if was.disputed == self.current else None
        if self.status == "judged_safe":
            doubted = not (verdict and verdict.safe) and not again
            if doubted or self.floor or waits or self.brought_back:
                self.status = "needs_review"
            self.disputed = again if self.status == "judged_safe" else None
        elif self.status == "resolved" and self.brought_back:
            self.status, self.disputed = "needs_review", None
        elif self.status == "resolved" and not self.upheld:
            if self.returned != was.returned:
                self.status, self.disputed = "needs_review", None
            else:
                self.disputed = again or self.disputed or self._found_since(was)
        else:
            self.disputed = None

    def _found_since(self, was: Before) -> int | None:
        """The batch's version that would have been listed, had the decision not stood in between."""
        current = self.current
        if current in {None, was.current} or current not in self.of_batches:
            return None
        verdict = self.verdicts[current]
        if verdict.safe or not verdict.severity:
            return None
        self.unseen = False
        return current


class Place(NamedTuple):
    """Where an item stands: its one list, its rank, and the reports whose age and due time count."""

    list: str
    rank: int
    oldest: int
    first_due: int | None


def place(reports: list[Expected]) -> Place:
    """Exactly one list, by precedence; rank and age from the reports that put it there."""
    statuses = {report.status for report in reports}
    name = next(each for each in LISTS if each in statuses)
    counted = [
        report
        for report in reports
        if (report.status in OPEN if name in OPEN else report.status == name)
    ]
    return Place(
        name,
        max(each.rank for each in counted),
        min(each.id for each in counted),
        min((each.id for each in reports if each.status == "pending"), default=None),
    )


def come_from_several(reports: list[Expected], *, heard: int) -> bool:
    """Whether two people reported the item who had not done so among the first `heard` reports."""
    known = {report.reporter for report in reports[:heard]}
    return len({report.reporter for report in reports[heard:]} - known) >= 2


def in_turns(reports: list[Expected]) -> list[int]:
    """Highest floor first; within a floor the senders take turns, each with its oldest first."""
    turns: dict[tuple[int, int], int] = {}
    keys = []
    for report in sorted(reports, key=lambda each: each.id):
        turn = turns.get((report.sender, report.floor), 0)
        turns[report.sender, report.floor] = turn + 1
        keys.append((-report.floor, turn, report.id))
    return [key[-1] for key in sorted(keys)]
