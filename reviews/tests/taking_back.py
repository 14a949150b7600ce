"""The state machine's people take back what they decided, in time or too late, whatever came between;
and what is true of decisions, holds, claims and of what senders see, after each step."""

import pytest
from django.db import connection, transaction
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from reports.api.presentation import present_report
from reports.models import Report
from reviews.decisions import StaleDecisionError
from reviews.invariants import broken_invariants
from reviews.models import Claim
from reviews.tests.deciding import PEOPLE, Deciders
from reviews.tests.expected import place
from reviews.tests.expected_of_people import ACTIONS, Line, Row
from reviews.tests.machine import MOST_REPORTS, Intake, rows
from reviews.tests.workers import ANSWERS, SAFE, Answer, Held
from reviews.undo import NotTheirsError, TooLateError, undo_decision

# The longest that can be configured: no machine is so slow that it runs out by itself.
UNDO_SECONDS = 60


class Undoers(Deciders):
    """Who decided takes it back, and others try in vain."""

    def __init__(self) -> None:
        super().__init__()
        self.checked = 0

    @precondition(lambda self: any(line.rows for line in self.lines.values()))
    @rule(
        report=Intake.sent,
        who=st.sampled_from(["who decided", "who decided", "who decided", *PEOPLE]),
        older=st.sampled_from([False, False, False, True]),
    )
    def a_person_takes_back(self, report: int, who: str, *, older: bool) -> None:
        item = self.reports[report].item
        if not self.lines[item].rows:
            item = next(item for item, line in self.lines.items() if line.rows)
        line = self.lines[item]
        said = [row for row in line.rows if row.kind != "undo"]
        row = said[-2] if older and len(said) > 1 else said[-1]
        who = row.who if who == "who decided" else who
        newest = line.rows[-1]

        def undo() -> int:
            return undo_decision(decision_id=row.pk, reviewer=self.reviewers[who]).pk

        if who != row.who:
            with pytest.raises(NotTheirsError):
                undo()
            self.reached["taken back by another, in vain"] += 1
        elif newest.kind == "undo" and newest.overrides is row:
            assert undo() == newest.pk
            self.reached["taken back twice"] += 1
        elif newest is not row:
            with pytest.raises(StaleDecisionError) as error:
                undo()
            assert error.value.standing.pk == newest.pk
            self.reached["taken back behind another row, in vain"] += 1
        elif row.over:
            with pytest.raises(TooLateError):
                undo()
            self.reached["taken back too late"] += 1
        else:
            line.rows.append(Row(undo(), "undo", who, None, overrides=row))
            self.expect_back(item, row)

    @rule(
        report=Intake.sent,
        action=st.sampled_from(ACTIONS),
        who=st.sampled_from(PEOPLE),
        between=st.sampled_from(["nothing", "a verdict", "a report", "others", "another", "time"]),
        ending=st.sampled_from([SAFE, *ANSWERS]),
        times=st.integers(1, 2),
    )
    def a_person_decides_and_takes_it_back(
        self, report: int, action: str, who: str, *, between: str, ending: Answer, times: int
    ) -> None:
        """Of itself two such steps would seldom meet."""
        held: list[Held] = []
        for _worker in range(2 if between == "a verdict" else 0):
            held += self.claim(report, -1)
            self.time_passes(self.worth_a_claim(report), "leases")
        self.a_person_decides(report, action, who, alone=False, stale=False, hasty=True)
        for holder in held:
            self.a_worker_ends(holder, ending)
        if between == "a report":
            self.one_more_report(report)
        elif between == "others":
            self.two_more_reports(report)
        elif between == "another":
            self.a_person_decides(report, action, "noor", alone=False, stale=False, hasty=True)
        elif between == "time":
            self.the_time_to_undo_ends()
        for _time in range(times):
            self.a_person_takes_back(report, "who decided", older=between == "another")

    def one_more_report(self, report: int) -> None:
        key, body = f"key-{len(self.reports)}", self.bodies[report][1]
        if len(self.reports) < MOST_REPORTS + 2:
            self.accept(key, body, self.sender_of(report))

    def two_more_reports(self, report: int) -> None:
        if len(self.reports) < MOST_REPORTS:
            self.two_others_report_its_item(report)

    def expect_back(self, item: int, row: Row) -> None:
        self.tell_what_came_between(item, row)
        row.undone = True
        self.waits.pop(item, None)
        if row.waited:
            self.waits[item] = row.waited
        if row.brought_back and not any(each.brought_back for each in self.of_item(item)):
            self.reports[row.brought_back].brought_back = True
            self.reached["brought back again by taking back"] += 1
        for each, was in row.before.items():
            report, disputed = self.reports[each], self.reports[each].disputed
            report.take_back(was, waits=item in self.waits)
            self.reached["listed by taking back"] += report.disputed not in {disputed, was.disputed}
            kept = (was.status, report.status) == ("resolved", "needs_review")
            self.reached["returned meanwhile, and stays"] += kept
        if place(self.of_item(item)).list != "resolved":
            self.in_hand.setdefault(item, row.who)

    def tell_what_came_between(self, item: int, row: Row) -> None:
        self.reached["taken back"] += 1
        self.reached["an override taken back"] += row.overrides is not None
        self.reached["a proposal taken back"] += row.kind == "proposal"
        self.reached["an approval taken back"] += row.approves is not None
        self.reached["an escalation taken back"] += row.action == "escalate"
        verdict = any(self.reports[each].current != was.current for each, was in row.before.items())
        self.reached["taken back after a verdict"] += verdict
        self.reached["taken back after a report"] += len(self.of_item(item)) > row.of
        self.reached["taken back while another has it"] += (
            self.in_hand.get(item, row.who) != row.who
        )

    @precondition(
        lambda self: any(not row.over for each in self.lines.values() for row in each.rows)
    )
    @rule()
    def the_time_to_undo_ends(self) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(_LATER)
        self.grow_older(UNDO_SECONDS)
        for line in self.lines.values():
            for row in line.rows:
                row.over = True

    # --- What must be true after each step

    @invariant()
    def what_people_upheld_and_what_senders_see_is_what_the_model_says(self) -> None:
        shown = {}
        for report in Report.objects.with_decisions():
            upheld, seen = report.upheld_at is not None, present_report(report)
            decision = seen["decision"]
            shown[report.pk] = upheld, seen["status"], decision and decision["action"]
        assert shown == {
            each.id: (each.upheld, *self.lines.get(each.item, Line()).shown(each))
            for each in self.reports.values()
        }

    @invariant()
    def items_wait_for_whom_they_should(self) -> None:
        assert rows(
            "SELECT item_id, kind, username FROM reviews_hold"
            " JOIN auth_user ON auth_user.id = placed_by_id WHERE ended_at IS NULL"
        ) == {(item, *waits) for item, waits in self.waits.items()}

    @invariant()
    def what_is_in_hand_is_held(self) -> None:
        held = Claim.objects.in_force().values_list("item", "reviewer__username")
        assert dict(held) == self.in_hand

    @invariant()
    def each_row_says_what_it_is(self) -> None:
        assert rows("SELECT id, kind, action, overrides_id, approves_id FROM reviews_decision") == {
            (row.pk, row.kind, row.action, row.overrides and row.overrides.pk, row.approves)
            for line in self.lines.values()
            for row in line.rows
        }

    @invariant()
    def the_invariants_hold(self) -> None:
        now = sum(len(line.rows) for line in self.lines.values())
        if now != self.checked:
            self.checked = now
            assert broken_invariants(content=False) == []


# The clock of all that an undo compares.
_LATER = f"""
SET LOCAL session_replication_role = replica;
UPDATE reviews_decision SET created_at = created_at - interval '{UNDO_SECONDS} s',
    effective_at = effective_at - interval '{UNDO_SECONDS} s';
UPDATE reviews_hold SET placed_at = placed_at - interval '{UNDO_SECONDS} s',
    ended_at = ended_at - interval '{UNDO_SECONDS} s';
UPDATE classifier_disagreement SET ended_at = ended_at - interval '{UNDO_SECONDS} s';
UPDATE classifier_classification SET created_at = created_at - interval '{UNDO_SECONDS} s'
"""  # noqa: S608 - our own constant
