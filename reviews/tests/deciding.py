"""The state machine's people: they decide, propose, approve and escalate, in time or too late, once or
twice."""

from collections import defaultdict
from collections.abc import Collection

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from hypothesis import strategies as st
from hypothesis.stateful import rule

from reviews.claims import HeldByAnotherError
from reviews.decisions import (
    EscalatedError,
    NothingToDecideError,
    StaleDecisionError,
    Wish,
    decide_item,
)
from reviews.models import Claim, Decision
from reviews.tests.expected import Expected
from reviews.tests.expected_of_people import ACTIONS, LEAVE_OPEN, NEED_TWO, UPHOLD, Line, Row
from reviews.tests.machine import Intake
from reviews.tests.workers import Workers

PEOPLE = ("dana", "noor", "lena")


class Deciders(Workers):
    """Reviewers over the reports that have arrived; lena may decide what was escalated."""

    def __init__(self) -> None:
        super().__init__()
        self.reviewers = {
            name: User.objects.create(username=name, is_superuser=name == "lena") for name in PEOPLE
        }
        self.lines: dict[int, Line] = defaultdict(Line)
        self.in_hand: dict[int, str] = {}

    @rule(
        report=Intake.sent,
        action=st.sampled_from([*ACTIONS, "the same"]),
        who=st.sampled_from([*PEOPLE, "the last one, in the same words"]),
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
        seen = {report} if alone else {each.id for each in self.of_item(item)}
        newest, standing = self.lines[item].newest, self.lines[item].standing()
        if who not in self.reviewers:
            who = newest.who if newest else "dana"
            action = newest.action or "warn" if newest else "warn"
        elif action == "the same":
            action = (standing and standing[-1].action) or "suspend"
        if stale and newest:
            self.decide_on_a_page_of_before(item, who, action, seen)
            return
        who = self.who_may(item, who, action, seen)
        if newest and newest.kind == "proposal" and (newest.who, newest.action) == (who, action):
            if seen <= set(newest.before):
                assert self.decide(item, who, action, seen).pk == newest.pk
                self.reached["approved by who proposed it, in vain"] += 1
                return
        elif not self.approved_by(item, who, action, set()):
            with pytest.raises(NothingToDecideError):
                others = [each.id for each in self.reports.values() if each.item != item]
                self.decide(item, who, action, others)
        self.expect(item, who, action, seen)

    def who_may(self, item: int, who: str, action: str, seen: set[int]) -> str:
        """Who may decide about the item; whoever may not is refused."""
        if self.in_hand.get(item, who) != who:
            with pytest.raises(HeldByAnotherError):
                self.decide(item, who, action, seen)
            self.reached["held by another"] += 1
            who = self.in_hand[item]
        if self.waits.get(item, ("", ""))[0] == "escalated" and who != "lena":
            with pytest.raises(EscalatedError):
                self.decide(item, who, action, seen)
            self.reached["escalated beyond them"] += 1
            self.in_hand.pop(item, None)
            Claim.objects.filter(item=item).update(released_at=Now())
            who = "lena"
        return who

    @rule(
        report=Intake.sent,
        who=st.sampled_from(PEOPLE),
        other=st.sampled_from(PEOPLE),
        action=st.sampled_from(["suspend", "suspend", "remove"]),
        stale=st.booleans(),
    )
    def a_person_proposes_and_somebody_decides(
        self, report: int, who: str, other: str, *, action: str, stale: bool
    ) -> None:
        """Of itself two such steps would seldom meet."""
        self.a_person_decides(report, "suspend", who, alone=False, stale=False, hasty=True)
        self.a_person_decides(report, action, other, alone=False, stale=stale, hasty=True)

    def decide(
        self, item: int, who: str, action: str, about: Collection[int], *, stale: bool = False
    ) -> Decision:
        rows = self.lines[item].rows
        last = rows[-2:-1] if stale else rows[-1:]
        return decide_item(
            item_id=item,
            reviewer=self.reviewers[who],
            wish=Wish(action),
            report_ids=about,
            last_decision_id=last[0].pk if last else None,
        )

    def decide_on_a_page_of_before(self, item: int, who: str, action: str, seen: set[int]) -> None:
        newest = self.lines[item].rows[-1]
        if (newest.who, newest.action) == (who, action) and seen <= set(newest.before):
            assert self.decide(item, who, action, seen, stale=True).pk == newest.pk
            self.reached["decided twice"] += 1
            return
        with pytest.raises(StaleDecisionError) as error:
            self.decide(item, who, action, seen, stale=True)
        assert error.value.standing.pk == newest.pk
        self.reached["stale"] += 1

    def approved_by(self, item: int, who: str, action: str, seen: set[int]) -> Row | None:
        """The proposal that this person agrees to by this."""
        standing = self.lines[item].standing()
        if standing and standing[-1].kind == "proposal" and standing[-1].who != who:
            same = standing[-1].action == action and seen <= set(standing[-1].before)
            return standing[-1] if same else None
        return None

    def expect(self, item: int, who: str, action: str, seen: set[int]) -> None:
        """Decide, and have the model do the same."""
        line, approved = self.lines[item], self.approved_by(item, who, action, seen)
        standing = line.standing()
        covered = set(standing[-1].before) if standing else set()
        about = covered if approved else seen | covered
        proposed = action in NEED_TWO and not approved
        row = Row(
            pk=self.decide(item, who, action, seen).pk,
            kind="proposal" if proposed else "decision",
            who=who,
            action=action,
            before={each: self.reports[each].before() for each in about},
            waited=self.waits.pop(item, None),
            approves=approved.pk if approved else None,
            overrides=line.newest,
            of=len(self.of_item(item)),
            settled=sum(row.over for row in line.rows),
            brought_back=next((r.id for r in self.of_item(item) if r.brought_back), None),
        )
        decided_about_a_proposal = bool(standing) and standing[-1].kind == "proposal"
        line.rows.append(row)
        if proposed or action == "escalate":
            self.waits[item] = "second_approval" if proposed else "escalated", who
        for report in self.of_item(item):
            report.brought_back = False
        for each in about:
            self.reports[each].decide(
                reopen=proposed or action in LEAVE_OPEN,
                upheld=self.reports[each].upheld if proposed else action in UPHOLD,
            )
        self.in_hand.pop(item, None)
        self.reached["overridden" if row.overrides else "decided"] += 1
        self.reached["proposed"] += proposed
        self.reached["approved"] += bool(approved)
        self.reached["decided otherwise than proposed"] += decided_about_a_proposal and not approved
        self.reached["escalated"] += action == "escalate"

    def heard(self, item: int) -> int:
        standing = self.lines[item].standing()
        return standing[-1].of if standing else 0

    def may_be_undone(self, report: Expected) -> bool:
        return any(
            row.kind == "decision" and not row.over and report.id in row.before
            for row in self.lines[report.item].rows
        )
