"""Write before acknowledge: the first answer under a version stands, the highest version counts."""

from functools import partial

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from classifier.jobs import claim_job, put_off
from classifier.models import Classification, PolicyVersion, WaitingReason
from classifier.recording import Recorded
from classifier.tests.situations import (
    assert_rows_agree,
    at_once,
    claim,
    end_lease,
    job_of,
    load_version,
    record,
    send_text,
    versions_of,
)
from conftest import check_constraints_now
from reports.models import Item, Report, Severity
from reports.nudge import Lane
from reports.tests.sending import Client, body_saying

pytestmark = pytest.mark.usefixtures("policy")
STATUS = Report.Status


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return send_text(client_of_sender)


# --- One answer under a version


@pytest.mark.django_db
def test_an_answer_becomes_the_reports_outcome(report: Report, policy: PolicyVersion) -> None:
    assert record(claim(report, policy), category="spam", quotes=["lunch"]) is Recorded.CURRENT

    row = Classification.objects.get()
    assert (row.category, row.confidence, row.safe, row.severity) == ("spam", 0.93, False, 1)
    assert (row.rules, row.quotes) == (["unsafe_category"], ["lunch"])
    assert (row.served_model, row.prompt_tokens, row.completion_tokens) == (policy.model, 700, 40)
    assert (row.model_seconds, len(row.answer_hash)) == (0.25, 64)
    job = job_of(report)
    assert (job.done, job.reason, job.lease_until, job.not_before) == (True, "", None, None)
    assert_rows_agree(report)
    check_constraints_now()


@pytest.mark.django_db
def test_the_first_answer_stands_and_the_second_is_dropped(
    report: Report, policy: PolicyVersion
) -> None:
    first = claim(report, policy)
    end_lease(report)
    second = claim(report, policy)

    assert record(second, summary="They arrange to meet.") is Recorded.CURRENT
    assert record(first, summary="A threat, after all.", category="hate") is Recorded.DUPLICATE
    assert record(second, summary="They arrange to meet.") is Recorded.DUPLICATE

    row = Classification.objects.get()
    assert (row.summary, row.category) == ("They arrange to meet.", "none")
    assert job_of(report).dropped == 2
    report.refresh_from_db()
    assert report.status == STATUS.JUDGED_SAFE
    check_constraints_now()


@pytest.mark.django_db
def test_an_answer_counts_though_its_job_was_parked_meanwhile(
    report: Report, policy: PolicyVersion
) -> None:
    late = claim(report, policy)
    end_lease(report)
    put_off(claimed=claim(report, policy), reason=WaitingReason.TOO_LONG)

    assert record(late) is Recorded.CURRENT

    job = job_of(report)
    assert (job.done, job.parked, job.reason) == (True, False, "")


# --- Several versions


@pytest.mark.django_db
def test_a_late_answer_of_an_older_version_is_stored_superseded(
    report: Report, policy: PolicyVersion
) -> None:
    old = claim(report, policy)
    new = claim(report, load_version(prompt="Judge anew."))

    assert record(new, category="spam") is Recorded.CURRENT
    assert record(old, category="credible_threat") is Recorded.SUPERSEDED

    assert versions_of(report) == {1: True, 2: False}
    report.refresh_from_db()
    assert (report.status, report.rank) == (STATUS.NEEDS_REVIEW, Severity.LOW)
    assert_rows_agree(report)
    check_constraints_now()


@pytest.mark.django_db
def test_a_newer_version_supersedes_an_older_one(report: Report, policy: PolicyVersion) -> None:
    old = claim(report, policy)
    new = claim(report, load_version(prompt="Judge anew."))

    assert record(old) is Recorded.CURRENT
    assert record(new, category="hate") is Recorded.CURRENT

    assert versions_of(report) == {1: True, 2: False}
    report.refresh_from_db()
    assert (report.status, report.rank) == (STATUS.NEEDS_REVIEW, Severity.HIGH)
    assert_rows_agree(report)
    check_constraints_now()


@pytest.mark.django_db
def test_a_milder_verdict_takes_no_report_away_from_people(
    report: Report, policy: PolicyVersion
) -> None:
    old = claim(report, policy)
    new = claim(report, load_version(prompt="Judge anew."))
    record(old, category="hate")

    record(new, category="none")

    assert versions_of(report) == {1: True, 2: False}
    report.refresh_from_db()
    assert report.status == STATUS.NEEDS_REVIEW
    check_constraints_now()


@pytest.mark.django_db(transaction=True)
def test_eight_writers_at_once_leave_one_current_verdict(client_of_sender: Client) -> None:
    versions = [PolicyVersion.objects.get(), *(load_version(prompt=f"Nr {n}") for n in (2, 3, 4))]
    first = send_text(client_of_sender)
    second = client_of_sender.send(  # about the same item, so that both lock it
        body_saying("Again.", item={"type": first.item.type, "id": first.item.external_id})
    )
    writers = [
        partial(record, claim(report, version), category=category)
        for report in (first, second)
        for version, category in zip(versions, ("hate", "none", "spam", "none"), strict=True)
    ]

    outcomes = at_once(writers[::-1])

    assert set(outcomes) <= {Recorded.CURRENT, Recorded.SUPERSEDED}
    for report in (first, second):
        assert versions_of(report) == {1: True, 2: True, 3: True, 4: False}
        assert_rows_agree(report)


@pytest.mark.django_db(transaction=True)
def test_of_eight_answers_under_one_version_at_once_one_is_stored(
    report: Report, policy: PolicyVersion
) -> None:
    claimed = claim(report, policy)
    writers = [partial(record, claimed, summary=f"Wording {number}.") for number in range(8)]

    outcomes = at_once(writers)

    assert outcomes.count(Recorded.CURRENT) == 1
    assert outcomes.count(Recorded.DUPLICATE) == 7
    row = Classification.objects.get()
    assert row.summary == f"Wording {outcomes.index(Recorded.CURRENT)}."
    assert_rows_agree(report)


# --- Floor and people


@pytest.mark.django_db
def test_a_mild_verdict_leaves_the_rank_at_the_floor(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    threat = send_text(client_of_sender, "I will kill you tomorrow.")

    record(claim(threat, policy), floor=Severity.CRITICAL, category="spam")

    threat.refresh_from_db()
    assert (threat.status, threat.rank) == (STATUS.NEEDS_REVIEW, Severity.CRITICAL)
    assert threat.item.list == Item.List.NEEDS_REVIEW
    assert Classification.objects.get().severity == Severity.LOW


@pytest.mark.django_db
def test_a_floor_raised_after_the_question_keeps_the_report_from_safe(
    report: Report, policy: PolicyVersion
) -> None:
    asked_before = claim(report, policy)
    newer = claim(report, load_version(prompt="Judge anew."))
    put_off(claimed=newer, reason=WaitingReason.CONTENT_FILTERED)

    assert record(asked_before, category="none", confidence=0.99) is Recorded.CURRENT

    report.refresh_from_db()
    assert (report.status, report.rank) == (STATUS.NEEDS_REVIEW, Severity.HIGH)
    row = Classification.objects.get()
    assert (row.safe, row.rules) == (False, ["floor"])
    check_constraints_now()


@pytest.mark.django_db
def test_a_verdict_after_a_persons_decision_is_stored_and_changes_no_status(
    report: Report, policy: PolicyVersion
) -> None:
    claimed = claim(report, policy)
    resolve(report)

    assert record(claimed, category="hate") is Recorded.CURRENT

    report.refresh_from_db()
    assert report.status == STATUS.RESOLVED
    assert report.item.list == Item.List.RESOLVED
    assert claim_job(report_id=report.pk, policy=policy, lane=Lane.LIVE) is None
    check_constraints_now()


def resolve(report: Report) -> None:
    """A person decides while the model thinks."""
    with transaction.atomic():
        decision = apps.get_model("reviews", "Decision").objects.create(
            item=report.item,
            reviewer=User.objects.create_user("dana"),
            action_id="remove",
            note="",
            reason="",
            effective_at=Now(),
        )
        decision.reports.add(report)
        Report.objects.filter(pk=report.pk).update(status=STATUS.RESOLVED)
        Item.objects.filter(pk=report.item_id).update(list=Item.List.RESOLVED)
