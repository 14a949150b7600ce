"""What a batch took out of review comes back when a version finds the violation again."""

import pytest

from classifier.batches.carry import carry_over
from classifier.jobs import Claimed
from classifier.models import Disagreement, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import (
    ask_again,
    disagreement_about,
    judged_safe,
    next_version,
    take_for,
)
from classifier.tests.situations import assert_rows_agree, claim, record, send_text
from classifier.tests.test_carrying_over import roll_back
from conftest import check_constraints_now
from reports.models import Item, Report
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db


def before_people(client: Client, policy: PolicyVersion) -> Report:
    """A report that a machine found hateful."""
    report = send_text(client)
    record(claim(report, policy), category="hate")
    return report


def status_of(report: Report) -> str:
    report.refresh_from_db()
    return report.status


def test_a_roll_back_gives_back_what_the_version_between_took(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = before_people(client_of_sender, policy)
    ask_again(report, make_batch(next_version()))
    assert status_of(report) == Report.Status.JUDGED_SAFE

    assert carry_over(batch_id=roll_back(policy, report).pk) == 1

    assert status_of(report) == Report.Status.NEEDS_REVIEW
    assert Item.objects.get().list == Item.List.NEEDS_REVIEW
    assert not Disagreement.objects.exists()
    assert_rows_agree(report)
    check_constraints_now()


def test_so_does_an_answer_of_a_batch(client_of_sender: Client, policy: PolicyVersion) -> None:
    report = before_people(client_of_sender, policy)
    ask_again(report, make_batch(next_version()))

    ask_again(report, make_batch(next_version()), category="spam")

    assert status_of(report) == Report.Status.NEEDS_REVIEW
    assert not Disagreement.objects.exists()


def test_what_was_only_listed_before_is_only_listed_again(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), category="hate")
    ask_again(report, make_batch(next_version()))
    assert disagreement_about(report).state == Disagreement.State.SETTLED

    ask_again(report, make_batch(next_version()), category="hate")

    assert status_of(report) == Report.Status.JUDGED_SAFE
    assert Disagreement.objects.get(state="open").report_id == report.pk


def test_what_came_too_late_to_bring_it_to_people_gives_nothing_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    late = claim(report, policy)
    record(claim(report, next_version()))
    record(late, category="hate")

    ask_again(report, make_batch(next_version()), category="hate")

    assert status_of(report) == Report.Status.JUDGED_SAFE
    assert disagreement_about(report).state == Disagreement.State.OPEN


def held_by_a_batch(client: Client, policy: PolicyVersion) -> Claimed:
    """A report before people, in the hands of a batch under the next version."""
    return take_for(make_batch(next_version()), before_people(client, policy))


def test_a_retired_version_s_late_answer_takes_nothing_from_people(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    held = held_by_a_batch(client_of_sender, policy)
    next_version()

    record(held)

    assert status_of(Report.objects.get()) == Report.Status.NEEDS_REVIEW


def test_what_it_left_to_people_the_active_version_s_batch_may_pass(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    held = held_by_a_batch(client_of_sender, policy)
    newest = next_version()
    record(held)

    ask_again(Report.objects.get(), make_batch(newest))

    assert status_of(Report.objects.get()) == Report.Status.JUDGED_SAFE
