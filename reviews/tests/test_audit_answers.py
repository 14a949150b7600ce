"""The answer of a blind audit is what the decisions about its report say, whoever made them and when."""

import threading

import pytest
from django.db import transaction

from classifier.models import PolicyVersion
from classifier.tests.situations import at_once, other_connection, wait_until
from conftest import check_constraints_now
from reports.models import Report, Sender
from reports.placing import place_items
from reports.tests.sending import Client
from reviews.invariants import broken_invariants
from reviews.models import BlindAudit, Decision
from reviews.quality.draw import draw
from reviews.tests.sampling import decide, judge_safe, rate_of
from reviews.undo import undo_decision

pytestmark = pytest.mark.django_db


@pytest.fixture
def audited(client_of_sender: Client, policy: PolicyVersion) -> Report:  # noqa: ARG001
    """A report that was judged safe, and drawn."""
    rate_of("audits", 1)
    (report,) = judge_safe(Sender.objects.get().pk, 1)
    draw(actor_name="test")
    return report


def answer(report: Report) -> Decision | None:
    check_constraints_now()
    assert [each for each in broken_invariants() if each.invariant == "V6"] == []
    return BlindAudit.objects.get(report=report).decision


def take_back(decision: Decision) -> None:
    undo_decision(decision_id=decision.pk, reviewer=decision.reviewer)


def test_a_drawn_report_has_no_answer_yet(audited: Report) -> None:
    assert answer(audited) is None


@pytest.mark.parametrize(("action", "category"), [("no_violation", ""), ("remove", "spam")])
def test_what_resolves_it_answers_it(audited: Report, action: str, category: str) -> None:
    decision = decide(audited, action, category)

    assert answer(audited) == decision


@pytest.mark.parametrize("action", ["escalate", "reopen"])
def test_what_sends_it_on_or_back_does_not(audited: Report, action: str) -> None:
    decide(audited, action)

    assert answer(audited) is None


def test_an_answer_that_is_taken_back_is_none(audited: Report) -> None:
    take_back(decide(audited, "no_violation"))

    assert answer(audited) is None


def test_the_newest_counts_and_taken_back_the_one_before_it(audited: Report) -> None:
    first = decide(audited, "no_violation")
    second = decide(audited, "remove", "spam", by="noor")
    assert answer(audited) == second

    take_back(second)

    assert answer(audited) == first


def test_an_answer_that_is_reopened_is_none_until_the_next(audited: Report) -> None:
    decide(audited, "no_violation")
    decide(audited, "reopen", by="noor")
    assert answer(audited) is None

    last = decide(audited, "remove", "spam")

    assert answer(audited) == last


def test_a_proposal_is_no_answer_before_a_second_person_agrees(audited: Report) -> None:
    proposal = decide(audited, "suspend", "spam")
    assert proposal.kind == Decision.Kind.PROPOSAL
    assert answer(audited) is None

    approval = decide(audited, "suspend", "spam", by="noor")

    assert answer(audited) == approval


def test_a_decision_about_another_report_of_its_item_is_no_answer(audited: Report) -> None:
    (other,) = judge_safe(audited.sender_id, 1)
    emptied = other.item
    Report.objects.filter(pk=other.pk).update(item=audited.item_id)
    emptied.delete()
    place_items({audited.item_id})
    other.refresh_from_db()

    decide(other, "no_violation")

    assert answer(audited) is None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("client_of_sender", "policy")
def test_who_decides_while_it_is_drawn_has_answered_it() -> None:
    rate_of("audits", 1)
    reports = judge_safe(Sender.objects.get().pk, 3)
    decided = threading.Event()

    def decide_slowly() -> None:
        with transaction.atomic(), other_connection() as watching:
            decide(reports[1], "remove", "spam")
            decided.set()
            wait_until(
                lambda: bool(
                    watching.execute(
                        "SELECT FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0"
                    ).rowcount
                )
            )

    def draw_meanwhile() -> None:
        decided.wait(10)
        draw(actor_name="test")

    at_once([decide_slowly, draw_meanwhile])

    answers = dict(BlindAudit.objects.values_list("report", "decision__action"))
    assert answers == {reports[0].pk: None, reports[1].pk: "remove", reports[2].pk: None}
