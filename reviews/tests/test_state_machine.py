"""Whatever intake, workers, sweep, clock and reviewers do, in whatever order: the invariants hold, and
the rows are what the design says.

`STATE_MACHINE_EXAMPLES=2000 make test` walks longer, and elsewhere each time.
"""

import os
from collections import Counter
from collections.abc import Collection
from typing import Any, ClassVar, NamedTuple

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    consumes,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from classifier.jobs import Claimed, claim_job, park_dead, put_off
from classifier.models import WaitingReason
from classifier.replay import Selection, execute_replay, plan_replay
from classifier.sweep import choose
from classifier.tests.situations import empty_queue, end_lease, end_wait, load_version, record
from reports.models import Report, Severity
from reports.nudge import Lane
from reviews.decisions import NothingToDecideError, StaleDecisionError, Wish, decide_item
from reviews.models import Decision
from reviews.tests.expected import JobRow, Verdict, in_turns
from reviews.tests.machine import Intake

EXAMPLES = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
# category, confidence -> severity, safe
SAFE = ("none", 0.95)
ANSWERS = {
    SAFE: (0, True),
    ("none", 0.4): (0, False),
    ("spam", 0.9): (1, False),
    ("credible_threat", 0.9): (4, False),
}
Ending = tuple[str, float] | WaitingReason
# One or two of each kind that `classifier.jobs` knows; the others take the same way.
REASONS = (
    *(WaitingReason.PROVIDER_QUOTA, WaitingReason.ANSWER_INVALID, WaitingReason.TOO_LONG),
    *(WaitingReason.MODEL_REFUSED, WaitingReason.CONTENT_FILTERED),
)
ENDINGS = st.sampled_from([SAFE, *ANSWERS]) | st.sampled_from(REASONS)
MOST_VERSIONS = 3


class Held(NamedTuple):
    """A claim in a worker's hands, and the floor as the worker read it."""

    claimed: Claimed
    floor: int


class Walk(Intake):
    """Workers, the sweep, the clock and reviewers over the reports that have arrived."""

    reached: ClassVar[Counter[str]] = Counter()

    held = Bundle("held")

    def __init__(self) -> None:
        super().__init__()
        self.reviewers = {name: User.objects.create(username=name) for name in ("dana", "noor")}
        self.decisions: dict[int, list[Decision]] = {}
        self.answers = 0

    # --- Workers

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
        self.answers += 1
        words = f"Answer {self.answers}."
        severity, safe = ANSWERS[ending]
        expected = report.record(
            claimed.policy.number, Verdict(severity, safe and not holder.floor, words)
        )
        recorded = record(
            claimed,
            floor=Severity(holder.floor),
            category=ending[0],
            confidence=ending[1],
            summary=words,
        )
        assert recorded == expected
        self.reached[expected] += 1

    @rule(report=Intake.sent, endings=st.tuples(ENDINGS, ENDINGS), newer_first=st.booleans())
    def workers_under_two_versions_end(
        self, report: int, endings: tuple[Ending, Ending], *, newer_first: bool
    ) -> None:
        held = [*self.claim(report, -1), *self.claim(report, -2)]
        for holder, ending in zip(held if newer_first else held[::-1], endings, strict=False):
            self.a_worker_ends(holder, ending)

    # --- Time, sweep, replay

    @rule(report=Intake.sent, over=st.sampled_from(["waits", "leases"]))
    def time_passes(self, report: int, over: str) -> None:
        if over == "leases":
            self.reports[report].leases_end()
            end_lease(Report(pk=report))
        else:
            self.reports[report].waits_end()
            end_wait(Report(pk=report))

    @rule(at_most=st.integers(0, 3))
    def the_sweep_comes_round(self, at_most: int) -> None:
        """Or, in its place, a person who replays all that waits."""
        if not at_most:
            self.replay()
            return
        parked = sum(report.park_dead() for report in self.reports.values())
        assert park_dead() == parked
        policy = self.versions[-1]
        due = [each for each in self.reports.values() if each.is_due(policy.number)]
        chosen = choose(policy=policy, lane=Lane.LIVE, at_most=at_most, nudged_too=True)
        assert chosen == in_turns(due)[:at_most]
        for report in chosen:
            self.reports[report].jobs.setdefault(policy.number, JobRow())
        self.reached["parked"] += parked
        self.reached["swept"] += len(chosen)

    def replay(self) -> None:
        policy, everything = self.versions[-1], Selection()
        plan = plan_replay(everything, policy=policy)
        assert plan.report_ids == [i for i, each in self.reports.items() if each.may_be_asked()]
        assert plan.never == sum(
            each.status == "pending" and not each.may_be_asked() for each in self.reports.values()
        )
        renewed = sum(each.renew(policy.number) for each in self.reports.values())
        steps = execute_replay(plan, selection=everything, policy=policy, actor_name="test")
        assert sum(steps) == renewed
        self.reached["renewed"] += renewed

    @precondition(lambda self: len(self.versions) < MOST_VERSIONS)
    @rule()
    def another_version_becomes_active(self) -> None:
        number = len(self.versions) + 1
        self.versions.append(load_version(prompt=f"Version {number}."))
        assert self.versions[-1].number == number

    # --- People

    @rule(
        report=Intake.sent,
        action=st.sampled_from(Decision.Action),
        who=st.sampled_from(["dana", "noor", "the last one, in the same words"]),
        alone=st.booleans(),
        stale=st.booleans(),
        hasty=st.booleans(),
    )
    def a_person_decides(
        self,
        report: int,
        action: Decision.Action,
        who: str,
        *,
        alone: bool,
        stale: bool,
        hasty: bool,
    ) -> None:
        if self.reports[report].status == "pending" and not hasty:
            return  # else few would live to have a verdict
        item = self.reports[report].item
        mine = [each for each in self.reports.values() if each.item == item]
        seen = {report} if alone else {each.id for each in mine}
        made = self.decisions.setdefault(item, [])
        last = made[-2:-1] if stale else made[-1:]
        covered = self.covered(made)
        reviewer = self.reviewers.get(who, self.reviewers["dana"])
        if made and who not in self.reviewers:
            reviewer, action = made[-1].reviewer, Decision.Action(made[-1].action)

        def decide(about: Collection[int]) -> Decision:
            return decide_item(
                item_id=item,
                reviewer=reviewer,
                wish=Wish(action),
                report_ids=about,
                last_decision_id=last[0].pk if last else None,
            )

        if made and stale:
            if (made[-1].action, made[-1].reviewer) == (action, reviewer) and seen <= covered:
                assert decide(seen) == made[-1]  # sent twice
                self.reached["decided twice"] += 1
                return
            with pytest.raises(StaleDecisionError) as error:
                decide(seen)
            assert error.value.standing == made[-1]
            self.reached["stale"] += 1
            return
        with pytest.raises(NothingToDecideError):
            decide([each.id for each in self.reports.values() if each.item != item])
        decision = decide(seen)
        assert decision.overrides == (made[-1] if made else None)
        assert set(decision.reports.values_list("pk", flat=True)) == seen | covered
        made.append(decision)
        for each in mine:
            if each.id in seen | covered:
                each.decide(
                    reopen=action == Decision.Action.REOPEN, upheld=action in Decision.UPHOLDS
                )
        self.reached["overridden" if decision.overrides else "decided"] += 1

    @staticmethod
    def covered(made: list[Decision]) -> set[int]:
        return set(made[-1].reports.values_list("pk", flat=True)) if made else set()


@pytest.mark.django_db(transaction=True)
def test_whatever_happens_the_invariants_hold() -> None:
    Walk.reached.clear()
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=EXAMPLES or 80,
            stateful_step_count=25,
            deadline=None,
            derandomize=not EXAMPLES,
            print_blob=True,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
    empty_queue()
    # It has been everywhere, or it would say little.
    assert set(Walk.reached) >= {
        *("claimed", "claimed again", "put off", "put off in vain", "parked", "swept", "renewed"),
        *("current", "superseded", "duplicate"),
        *("decided", "decided twice", "overridden", "stale"),
    }
