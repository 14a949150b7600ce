"""What the database itself refuses about decisions and claims."""

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conftest import check_constraints_now
from reports.models import Report
from reports.tests.sending import Client
from reviews.models import Claim, DecidedReport, Decision


@pytest.fixture
def reviewer(db: None) -> User:  # noqa: ARG001
    return User.objects.create_user("dana")


def decide(report: Report, reviewer: User) -> Decision:
    decision = Decision.objects.create(
        item=report.item,
        reviewer=reviewer,
        action_id="remove",
        note="seen before",
        reason="It threatens someone.",
        effective_at=timezone.now(),
    )
    DecidedReport.objects.create(decision=decision, report=report)
    return decision


def refused_by(error: pytest.ExceptionInfo[DatabaseError]) -> str | None:
    name: str | None = error.value.__cause__.diag.constraint_name  # type: ignore[union-attr]
    return name


def test_a_second_open_claim_of_an_item_is_refused_and_a_released_one_makes_room(
    client_of_sender: Client, reviewer: User
) -> None:
    item = client_of_sender.send().item
    first = Claim.objects.create(item=item, reviewer=reviewer, expires_at=timezone.now())

    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Claim.objects.create(item=item, reviewer=reviewer, expires_at=timezone.now())
    assert refused_by(error) == "one_open_claim_per_item"

    Claim.objects.filter(pk=first.pk).update(released_at=timezone.now())
    Claim.objects.create(item=item, reviewer=reviewer, expires_at=timezone.now())


@pytest.mark.parametrize(
    "change",
    [
        "action = 'warn'",
        "note = 'other'",
        "reason = NULL",
        "effective_at = now()",
        "category = 'x'",
    ],
)
def test_a_decision_is_never_changed(client_of_sender: Client, reviewer: User, change: str) -> None:
    decision = decide(client_of_sender.send(), reviewer)

    with pytest.raises(DatabaseError) as error, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE reviews_decision SET {change} WHERE id = %s", [decision.pk])  # noqa: S608
    assert refused_by(error) == "decision_stands"


def test_a_decision_and_what_it_was_about_are_never_deleted(
    client_of_sender: Client, reviewer: User
) -> None:
    decide(client_of_sender.send(), reviewer)

    for table in ("reviews_decidedreport", "reviews_decision"):
        with pytest.raises(DatabaseError) as error, transaction.atomic():
            connection.cursor().execute(f"DELETE FROM {table}")  # noqa: S608
        assert refused_by(error) == "decision_stands"


def test_the_personal_text_of_a_decision_can_be_purged_once(
    client_of_sender: Client, reviewer: User
) -> None:
    decision = decide(client_of_sender.send(), reviewer)

    Decision.objects.filter(pk=decision.pk).update(note=None, reason=None, purged_at=timezone.now())

    decision.refresh_from_db()
    assert (decision.note, decision.reason) == (None, None)
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(note="back again")
    assert refused_by(error) == "decision_stands"


def test_an_unknown_action_is_refused(client_of_sender: Client, reviewer: User) -> None:
    report = client_of_sender.send()

    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Decision.objects.create(
            item=report.item, reviewer=reviewer, action_id="banish", effective_at=timezone.now()
        )
        check_constraints_now()
    assert "reviews_action" in str(error.value)


@pytest.mark.parametrize("status", ["resolved", "needs_review"])
def test_a_report_is_resolved_or_reopened_only_beside_a_decision(
    client_of_sender: Client, reviewer: User, status: str
) -> None:
    report = client_of_sender.send()

    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Report.objects.filter(pk=report.pk).update(status=status)
        check_constraints_now()
    assert refused_by(error) == "report_status_agrees"

    decide(report, reviewer)
    Report.objects.filter(pk=report.pk).update(status=status)
    check_constraints_now()
