"""Which of people's decisions are outcomes for the figure of reports that are due."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.tests.situations import wait_until
from reports.models import Report, Sender
from reports.tests.sending import Client, body_saying
from reviews.decisions import Wish, decide_item
from reviews.models import Decision
from reviews.undo import undo_decision

pytestmark = pytest.mark.usefixtures("policy")


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    return User.objects.create(username="dana")


@pytest.fixture
def due(client_of_sender: Client) -> Report:
    """Still pending although its budget, a millisecond, has run out."""
    Sender.objects.filter(pk=client_of_sender.sender.pk).update(
        latency_budget=timedelta(milliseconds=1)
    )
    report = client_of_sender.send(body_saying("x"))
    wait_until(report.is_overdue)
    return report


def decide_on(report: Report, action: str, reviewer: User) -> Decision:
    return decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=Wish(action),
        report_ids=[report.pk],
        last_decision_id=None,
    )


def told() -> str:
    """The outcome that `/metrics` tells of the one report."""
    lines = Browser().get("/metrics").content.decode().splitlines()
    (line,) = (
        each for each in lines if each.startswith("moderation_due_reports{") if "} 1" in each
    )
    return line.partition('outcome="')[2].partition('"')[0]


@pytest.mark.parametrize("action", ["remove", "no_violation"])
def test_a_decision_that_resolves_is_one(due: Report, dana: User, action: str) -> None:
    assert told() == "none"

    decide_on(due, action, dana)

    assert told() == "late"


@pytest.mark.parametrize("action", ["suspend", "escalate", "reopen"])
def test_a_proposal_and_what_leaves_it_to_people_are_none(
    due: Report, dana: User, action: str
) -> None:
    decide_on(due, action, dana)

    assert told() == "none"


def test_a_decision_that_was_taken_back_is_none(due: Report, dana: User) -> None:
    undo_decision(decision_id=decide_on(due, "remove", dana).pk, reviewer=dana)

    assert told() == "none"
