"""The state machine's workers: they claim, answer late or twice, fail, and outlive their leases."""

from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, multiple, precondition, rule

from classifier.jobs import Claimed, claim_job, put_off
from classifier.models import WaitingReason
from classifier.tests.situations import end_lease, end_wait, load_version, record
from reports.models import Report, Severity
from reports.nudge import Lane
from reviews.tests.expected import Verdict
from reviews.tests.machine import Intake

# category, confidence -> severity, safe
SAFE = ("none", 0.95)
ANSWERS = {
    SAFE: (0, True),
    ("none", 0.4): (0, False),
    ("spam", 0.9): (1, False),
    ("credible_threat", 0.9): (4, False),
}
Answer = tuple[str, float]
Ending = Answer | WaitingReason
# One or two of each kind that `classifier.jobs` knows; the others take the same way.
MOST_VERSIONS = 3
REASONS = (
    *(WaitingReason.PROVIDER_QUOTA, WaitingReason.ANSWER_INVALID, WaitingReason.TOO_LONG),
    *(WaitingReason.MODEL_REFUSED, WaitingReason.CONTENT_FILTERED),
)
ENDINGS = st.sampled_from([SAFE, *ANSWERS]) | st.sampled_from(REASONS)


class Held(NamedTuple):
    """A claim in a worker's hands, and the floor as the worker read it."""

    claimed: Claimed
    floor: int


class Workers(Intake):
    """Workers and the clock over the reports that have arrived."""

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.answers = 0
        self.waits: dict[int, tuple[str, str]] = {}
        """Items that wait for a certain person: the kind of the hold, and who placed it."""

    @rule(
        target=held,
        report=Intake.sent,
        versions=st.sampled_from([[-1], [-2], [-1, -2]]),
        too_slow=st.integers(0, 2),
    )
    def workers_claim(self, report: int, versions: list[int], too_slow: int) -> Any:
        """Under each of these versions so many outlive their leases, and one does not.

        A worker that read the active version before the last change claims under the older one.
        """
        held = []
        for version in versions:
            for worker in range(too_slow + 1):
                if worker:
                    self.time_passes(self.worth_a_claim(report), "leases")
                held += self.claim(report, version)
        return multiple(*held)

    def worth_a_claim(self, report: int) -> int:
        """It or the next pending one: claims of what is not pending are refused alike."""
        waiting = [
            i for i, each in self.reports.items() if each.status == "pending" and i >= report
        ]
        return min(waiting, default=report)

    def claim(self, named: int, version: int) -> list[Held]:
        report, policy = self.reports[self.worth_a_claim(named)], self.versions[version]
        number = report.claim(policy.number)
        claimed = claim_job(report_id=report.id, policy=policy, lane=Lane.LIVE)
        assert (claimed.number if claimed else None) == number
        if claimed is None:
            return []
        self.reached["claimed again" if claimed.number > 1 else "claimed"] += 1
        return [Held(claimed, report.floor)]

    @rule(holder=consumes(held), ending=ENDINGS)
    def a_worker_ends(self, holder: Held, ending: Ending) -> None:
        claimed, report = holder.claimed, self.reports[holder.claimed.report_id]
        if isinstance(ending, WaitingReason):
            ours = report.put_off(claimed.policy.number, claimed.number, ending)
            assert put_off(claimed=claimed, reason=ending, rest=600) == ours
            self.reached["put off" if ours else "put off in vain"] += 1
            return
        self.answer(holder, ending)

    def answer(self, holder: Held, ending: Answer, **of_batch: bool) -> str:
        """What became of it. `of_batch`: what `Expected.record` wants to know of a batch's answer."""
        claimed, report = holder.claimed, self.reports[holder.claimed.report_id]
        self.answers += 1
        words = f"Answer {self.answers}."
        severity, safe = ANSWERS[ending]
        before = report.brought_back
        several = self.several_bring_back(report.item, leaving=int(report.status == "needs_review"))
        expected = report.record(
            claimed.policy.number,
            Verdict(severity, safe and not holder.floor, words),
            waits=report.item in self.waits,
            several=several,
            **of_batch,
        )
        recorded = record(
            claimed,
            floor=Severity(holder.floor),
            category=ending[0],
            confidence=ending[1],
            summary=words,
        )
        assert recorded == expected
        self.reached["kept by who reported it"] += report.brought_back and not before
        self.reached[expected] += 1
        return expected

    @rule(report=Intake.sent, endings=st.tuples(ENDINGS, ENDINGS), newer_first=st.booleans())
    def workers_under_two_versions_end(
        self, report: int, endings: tuple[Ending, Ending], *, newer_first: bool
    ) -> None:
        held = [*self.claim(report, -1), *self.claim(report, -2)]
        for holder, ending in zip(held if newer_first else held[::-1], endings, strict=False):
            self.a_worker_ends(holder, ending)

    @rule(report=Intake.sent, over=st.sampled_from(["waits", "leases"]))
    def time_passes(self, report: int, over: str) -> None:
        if over == "leases":
            self.reports[report].leases_end()
            end_lease(Report(pk=report))
        else:
            self.reports[report].waits_end()
            end_wait(Report(pk=report))

    @precondition(lambda self: len(self.versions) < MOST_VERSIONS)
    @rule()
    def another_version_becomes_active(self) -> None:
        number = len(self.versions) + 1
        self.versions.append(load_version(prompt=f"Version {number}."))
        assert self.versions[-1].number == number
