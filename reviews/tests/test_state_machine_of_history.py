"""Whatever batches, reviewers and late workers do to history: the rows are what the design says.

`STATE_MACHINE_EXAMPLES=2000` walks longer here as well.
"""

from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test import override_settings
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from classifier.batches.reopen import reopen_disagreements
from classifier.tests.batches import make_batch
from classifier.tests.history import take_for
from reports.models import Report
from reviews.claims import claim_item
from reviews.tests.deciding import PEOPLE
from reviews.tests.expected import Expected, JobRow, place
from reviews.tests.machine import Intake, rows
from reviews.tests.taking_back import UNDO_SECONDS, Undoers
from reviews.tests.test_state_machine import EXAMPLES
from reviews.tests.workers import ANSWERS, MOST_VERSIONS, SAFE, Answer, Held

if TYPE_CHECKING:
    from classifier.models import Batch, PolicyVersion


class History(Undoers):
    """Batches over the reports that were judged or decided."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: dict[int, Batch] = {}

    # Drawn from a seed: what Hypothesis makes up itself is too much alike for so few examples.
    @rule(dice=st.randoms(use_true_random=True), late=st.booleans())
    def a_batch_asks_again(self, dice: Random, *, late: bool) -> None:
        """About each report, under the newest version, or under the oldest that never asked.

        Who waits is answered first; then a person may look.
        """
        answers = [SAFE, *ANSWERS]
        for known in self.reports.values():
            for holder in self.claim(known.id, 0):
                self.a_worker_ends(holder, dice.choice(answers))
            person = dice.choice(["", "", "opens it", "finds nothing"])
            if person == "opens it":
                self.a_reviewer_opens_its_item(known.id, "dana", too_long=False)
            elif person:
                action = "no_violation"
                self.a_person_decides(known.id, action, "dana", alone=True, stale=False, hasty=True)
            unasked = [each for each in self.versions if each.number not in known.jobs]
            if known.status != "pending" and unasked:
                self.ask_again(known, unasked[0 if late else -1], dice.choice(answers))

    @precondition(lambda self: len(self.versions) <= MOST_VERSIONS and any(self.unfloored()))
    @rule(
        found=st.sampled_from(sorted(set(ANSWERS) - {SAFE})),
        was_found=st.sampled_from([True, True, True, False]),
    )
    def a_bad_version_comes_and_goes(self, found: Answer, *, was_found: bool) -> None:
        """What stands before people, or nobody had found, it calls safe; the next version finds it."""
        for known in self.reports.values():
            for holder in self.claim(known.id, 0):
                self.a_worker_ends(holder, found if was_found else SAFE)
        for answer in (SAFE, found):
            self.another_version_becomes_active()
            for known in self.reports.values():
                if known.status != "pending":
                    self.ask_again(known, self.versions[-1], answer)

    def unfloored(self) -> Iterator[Expected]:
        """Those that wait, and whose verdict alone will say where they go."""
        for known in self.reports.values():
            if known.status == "pending" and not (known.floor or known.decided):
                yield known

    def is_back(self, item: int) -> bool:
        return any(each.brought_back for each in self.of_item(item))

    def ask_again(self, known: Expected, policy: "PolicyVersion", answer: Answer) -> None:
        if policy.number not in self.batches:
            self.batches[policy.number] = make_batch(policy)
        known.jobs[policy.number] = JobRow(claims=1)
        claimed = take_for(self.batches[policy.number], Report(pk=known.id))
        before, disputed = known.status, known.disputed
        became = self.answer(
            Held(claimed, known.floor),
            answer,
            history=True,
            in_hand=known.item in self.in_hand or self.is_back(known.item),
            retired=policy is not self.versions[-1],
        )
        if before == "needs_review" and became == "current" and ANSWERS[answer][1]:
            passed = known.status == "judged_safe"
            self.reached["passed as safe" if passed else "kept in review"] += 1
        if known.disputed not in {None, disputed}:
            self.reached[f"disagreed about {before}"] += 1
        if (before, known.status) == ("judged_safe", "needs_review"):
            self.reached["given back"] += 1

    @rule(
        report=Intake.sent,
        # Only a second "no violation" leaves it to the batch to list the report and send it back.
        action=st.sampled_from(["no_violation", "no_violation", "remove", "suspend", "reopen"]),
        found=st.sampled_from(sorted(ANSWERS)),
        comes_back=st.sampled_from([True, True, False]),
    )
    def a_batch_answers_before_a_second_thought_is_taken_back(
        self, report: int, action: str, found: Answer, *, comes_back: bool
    ) -> None:
        known = self.reports[report]
        self.a_person_decides(report, "no_violation", "lena", alone=False, stale=False, hasty=True)
        self.a_person_decides(report, action, "lena", alone=False, stale=False, hasty=True)
        if self.versions[-1].number in known.jobs and len(self.versions) <= MOST_VERSIONS:
            self.another_version_becomes_active()
        unasked = [each for each in self.versions if each.number not in known.jobs]
        if known.status != "pending" and unasked:
            self.ask_again(known, unasked[-1], found)
        if comes_back and any(each.disputed for each in self.reports.values()):
            self.the_worst_come_back(2)
        self.a_person_takes_back(report, "who decided", older=False)

    @rule(report=Intake.sent, who=st.sampled_from(PEOPLE), too_long=st.booleans())
    def a_reviewer_opens_its_item(self, report: int, who: str, *, too_long: bool) -> None:
        item = self.reports[report].item
        taken = claim_item(item_id=item, reviewer=self.reviewers[who])
        kept = self.waits.get(item) == ("second_approval", who) or (
            who != "lena" and self.waits.get(item, ("", ""))[0] == "escalated"
        )
        is_open = place(self.of_item(item)).list != "resolved"
        if is_open and (item not in self.in_hand) and not kept:
            self.in_hand[item] = who
        assert taken == (is_open and self.in_hand.get(item) == who)
        if too_long:
            with connection.cursor() as cursor:
                cursor.execute("UPDATE reviews_claim SET expires_at = clock_timestamp()")
            self.in_hand.clear()

    @precondition(lambda self: any(each.disputed for each in self.reports.values()))
    @rule(at_most=st.integers(1, 2))
    def the_worst_come_back(self, at_most: int) -> None:
        for number, batch in self.batches.items():
            batch.refresh_from_db()
            mine = [each for each in self.reports.values() if each.disputed == number]
            mine.sort(key=lambda each: each.place_among_disputed())
            for known in mine[:at_most]:
                known.come_back()
                self.reached["came back"] += 1
            reopened = reopen_disagreements(
                batch_id=batch.pk, at_most=batch.reopened + at_most, actor_name="test"
            )
            assert reopened == len(mine[:at_most])

    @invariant()
    def what_is_disputed_stands_in_the_list(self) -> None:
        assert rows(
            "SELECT disagreement.report_id, policy_version_id, disagreement.severity, unseen"
            " FROM classifier_disagreement AS disagreement"
            " JOIN classifier_classification AS verdict ON verdict.id = classification_id"
            " WHERE state = 'open'"
        ) == {
            (each.id, each.disputed, each.verdicts[each.disputed].severity, each.unseen)
            for each in self.reports.values()
            if each.disputed
        }


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@override_settings(UNDO_SECONDS=UNDO_SECONDS)
def test_whatever_is_done_to_history_the_invariants_hold() -> None:
    History.reached.clear()
    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=EXAMPLES or 80,
            stateful_step_count=20,
            derandomize=not EXAMPLES,
        ),
    )
    assert set(+History.reached) >= {
        *("passed as safe", "kept in review", "given back", "came back", "superseded"),
        *("disagreed about judged_safe", "disagreed about resolved"),
        *("taken back after a verdict", "listed by taking back", "returned meanwhile, and stays"),
    }
