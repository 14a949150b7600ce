"""An open disagreement ends with whatever has the last word; a reopened one says why people look."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from classifier.batches.reopen import reopen_disagreements
from classifier.jobs import put_off
from classifier.models import Disagreement, PolicyVersion, WaitingReason
from classifier.tests.batches import make_batch
from classifier.tests.history import (
    ask_again,
    disagreement_about,
    found_harmless,
    judged_safe,
    next_version,
    take_for,
)
from classifier.tests.situations import record
from reports.models import Report
from reports.tests.sending import Client
from reviews.decisions import Wish, decide_item
from reviews.models import Decision

pytestmark = pytest.mark.django_db
STATE = Disagreement.State


def decide(report: Report, action: str) -> None:
    last = Decision.objects.filter(item=report.item_id).last()
    decide_item(
        item_id=report.item_id,
        reviewer=User.objects.get_or_create(username="dana")[0],
        wish=Wish(action),
        report_ids=[report.pk],
        last_decision_id=last.pk if last else None,
    )


@pytest.fixture
def report(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """Judged safe, and found hateful by a newer version."""
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), category="hate")
    assert disagreement_about(report).state == STATE.OPEN
    return report


@pytest.mark.parametrize("action", ["no_violation", "remove", "suspend", "escalate", "reopen"])
def test_any_decision_about_its_report_settles_an_open_one(report: Report, action: str) -> None:
    decide(report, action)

    ended = disagreement_about(report)
    assert (ended.state, ended.ended_at is None) == (STATE.SETTLED, False)


def test_a_decision_about_another_report_settles_nothing(
    client_of_sender: Client, policy: PolicyVersion, report: Report
) -> None:
    decide(judged_safe(client_of_sender, policy), "warn")

    assert disagreement_about(report).state == STATE.OPEN


def test_a_decision_leaves_a_reopened_one_as_it_is(report: Report) -> None:
    before = disagreement_about(report)
    assert before.batch_id is not None
    reopen_disagreements(batch_id=before.batch_id, at_most=1, actor_name="test")
    reopened = disagreement_about(report)

    decide(report, "remove")

    after = disagreement_about(report)
    assert (after.state, after.ended_at) == (STATE.REOPENED, reopened.ended_at)
    report.refresh_from_db()
    assert report.status == Report.Status.RESOLVED


def test_a_newer_verdict_settles_it_and_may_disagree_anew(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = found_harmless(client_of_sender, policy)
    for category in ("hate", "spam"):
        ask_again(report, make_batch(next_version()), category=category)

    states = report.disagreements.order_by("classification").values_list("state", "severity")
    assert list(states) == [(STATE.SETTLED, 3), (STATE.OPEN, 1)]


def test_a_refusal_that_sends_the_report_to_people_settles_it(report: Report) -> None:
    refused = take_for(make_batch(next_version()), report)

    put_off(claimed=refused, reason=WaitingReason.MODEL_REFUSED)

    report.refresh_from_db()
    assert report.status == Report.Status.NEEDS_REVIEW
    assert disagreement_about(report).state == STATE.SETTLED


def test_a_refusal_about_a_decided_report_leaves_it_open(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = found_harmless(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), category="hate")

    put_off(
        claimed=take_for(make_batch(next_version()), report), reason=WaitingReason.MODEL_REFUSED
    )

    report.refresh_from_db()
    assert report.status == Report.Status.RESOLVED
    assert disagreement_about(report).state == STATE.OPEN


def test_a_verdict_of_the_live_lane_moves_the_report_and_settles_it(report: Report) -> None:
    batch = make_batch(next_version())
    claimed = take_for(batch, report)
    record(replace(claimed, batch_id=None), category="spam")

    report.refresh_from_db()
    assert report.status == Report.Status.NEEDS_REVIEW
    assert disagreement_about(report).state == STATE.SETTLED
