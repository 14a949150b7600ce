"""Whatever intake, workers, sweep, clock and reviewers do, in whatever order: the invariants hold, and
the rows are what the design says.

`STATE_MACHINE_EXAMPLES=2000 make test` walks longer, and elsewhere each time.
"""

import os

import pytest
from django.test import override_settings
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    rule,
    run_state_machine_as_test,
)

from classifier.jobs import park_dead
from classifier.replay import Selection, execute_replay, plan_replay
from classifier.sweep import choose
from classifier.tests.situations import empty_queue
from reports.nudge import Lane
from reviews.tests.expected import JobRow, in_turns
from reviews.tests.machine import Intake
from reviews.tests.taking_back import UNDO_SECONDS, Undoers
from reviews.tests.workers import SAFE

EXAMPLES = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))


class Walk(Undoers):
    """The sweep over reports, workers and reviewers."""

    # --- Sweep, replay

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

    @rule(report=Intake.sent)
    def the_last_holder_dies(self, report: int) -> None:
        """Of itself a third lease would seldom run out before something else comes of it."""
        self.workers_claim(report, [-1], 2)
        self.time_passes(self.worth_a_claim(report), "leases")
        self.the_sweep_comes_round(1)

    @rule(report=Intake.sent)
    def others_report_it_before_it_is_judged_safe(self, report: int) -> None:
        """Likewise: a first verdict seldom finds several."""
        self.two_more_reports(report)
        for holder in self.claim(report, -1):
            self.a_worker_ends(holder, SAFE)

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


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@override_settings(UNDO_SECONDS=UNDO_SECONDS)
def test_whatever_happens_the_invariants_hold() -> None:
    Walk.reached.clear()
    run_state_machine_as_test(
        Walk,
        settings=settings(
            max_examples=EXAMPLES or 100,
            stateful_step_count=30,
            derandomize=not EXAMPLES,
        ),
    )
    empty_queue()
    # It has been everywhere, or it would say little.
    assert set(+Walk.reached) >= {
        *("claimed", "claimed again", "put off", "put off in vain", "parked", "swept", "renewed"),
        *("current", "superseded", "duplicate"),
        *("decided", "decided twice", "overridden", "stale", "held by another"),
        *("proposed", "approved", "approved by who proposed it, in vain"),
        *("decided otherwise than proposed", "escalated", "escalated beyond them"),
        *("taken back", "taken back twice", "taken back too late"),
        *("taken back by another, in vain", "taken back behind another row, in vain"),
        *("an override taken back", "a proposal taken back"),
        *("an approval taken back", "an escalation taken back"),
        *("taken back after a verdict", "taken back after a report"),
        *("brought back", "kept by who reported it", "brought back again by taking back"),
    }
