"""The state machine's people: they open items and decide, in time or too late, once or twice."""

from collections.abc import Collection

import pytest
from django.contrib.auth.models import User
from hypothesis import strategies as st
from hypothesis.stateful import rule

from reviews.claims import HeldByAnotherError
from reviews.decisions import NothingToDecideError, StaleDecisionError, Wish, decide_item
from reviews.models import Decision
from reviews.tests.machine import Intake
from reviews.tests.workers import Workers

ACTIONS = ("no_violation", "warn", "remove", "reopen")


class Deciders(Workers):
    """Reviewers over the reports that have arrived."""

    def __init__(self) -> None:
        super().__init__()
        self.reviewers = {name: User.objects.create(username=name) for name in ("dana", "noor")}
        self.decisions: dict[int, list[Decision]] = {}
        self.in_hand: set[int] = set()

    @rule(
        report=Intake.sent,
        action=st.sampled_from(ACTIONS),
        who=st.sampled_from(["dana", "noor", "the last one, in the same words"]),
        alone=st.booleans(),
        stale=st.booleans(),
        hasty=st.booleans(),
    )
    def a_person_decides(
        self,
        report: int,
        action: str,
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
            reviewer, action = made[-1].reviewer, made[-1].action_id or ""

        def decide(about: Collection[int]) -> Decision:
            return decide_item(
                item_id=item,
                reviewer=reviewer,
                wish=Wish(action),
                report_ids=about,
                last_decision_id=last[0].pk if last else None,
            )

        if made and stale:
            if (made[-1].action_id, made[-1].reviewer) == (action, reviewer) and seen <= covered:
                assert decide(seen) == made[-1]  # sent twice
                self.reached["decided twice"] += 1
                return
            with pytest.raises(StaleDecisionError) as error:
                decide(seen)
            assert error.value.standing == made[-1]
            self.reached["stale"] += 1
            return
        if item in self.in_hand and reviewer == self.reviewers["noor"]:
            with pytest.raises(HeldByAnotherError):
                decide(seen)
            self.reached["held by dana"] += 1
            reviewer = self.reviewers["dana"]
        with pytest.raises(NothingToDecideError):
            decide([each.id for each in self.reports.values() if each.item != item])
        decision = decide(seen)
        assert decision.overrides == (made[-1] if made else None)
        assert set(decision.reports.values_list("pk", flat=True)) == seen | covered
        made.append(decision)
        self.in_hand.discard(item)
        for each in mine:
            if each.id in seen | covered:
                each.decide(reopen=action == "reopen", upheld=action in {"warn", "remove"})
        self.reached["overridden" if decision.overrides else "decided"] += 1

    @staticmethod
    def covered(made: list[Decision]) -> set[int]:
        return set(made[-1].reports.values_list("pk", flat=True)) if made else set()
