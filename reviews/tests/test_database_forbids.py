"""What the database itself refuses about decisions and claims."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conftest import check_constraints_now
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.models import Action, Claim, DecidedReport, Decision
from reviews.models.action import COMMANDS


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


# --- Decisions, proposals and undos


@pytest.fixture
def other(db: None) -> User:  # noqa: ARG001
    return User.objects.create_user("omar")


def write(report: Report, reviewer: User, kind: str = "decision", **values: Any) -> Decision:
    action = {} if kind == "undo" else {"action_id": "remove"}
    effect = {"effective_at": timezone.now() + timedelta(minutes=1)} if kind == "decision" else {}
    words = {"note": "", "reason": "", **action, **effect, **values}
    return Decision.objects.create(item=report.item, reviewer=reviewer, kind=kind, **words)


def assert_refused(rule: str, *arguments: Any, **values: Any) -> None:
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        write(*arguments, **values)
    assert refused_by(error) == rule


def test_an_undo_that_comes_too_late_is_refused(client_of_sender: Client, reviewer: User) -> None:
    report = client_of_sender.send()
    decision = write(report, reviewer, effective_at=timezone.now())

    assert_refused("undo_comes_in_time", report, reviewer, "undo", overrides=decision)


def test_an_undo_of_a_proposal_of_long_ago_is_refused(
    client_of_sender: Client, reviewer: User
) -> None:
    report = client_of_sender.send()
    ago = timezone.now() - timedelta(minutes=1)
    proposal = write(report, reviewer, "proposal", created_at=ago)

    assert_refused("undo_comes_in_time", report, reviewer, "undo", overrides=proposal)


def test_an_undo_by_another_person_is_refused(
    client_of_sender: Client, reviewer: User, other: User
) -> None:
    report = client_of_sender.send()
    decision = write(report, reviewer)

    assert_refused("undo_is_by_who_decided", report, other, "undo", overrides=decision)


def test_an_undo_of_an_undo_of_nothing_or_of_another_item_is_refused(
    client_of_sender: Client, reviewer: User
) -> None:
    report, elsewhere = (client_of_sender.send(body_saying(text)) for text in ("x", "y"))
    undo = write(report, reviewer, "undo", overrides=write(report, reviewer))

    for overridden in (undo, None, write(elsewhere, reviewer)):
        assert_refused("undo_is_of_a_decision", report, reviewer, "undo", overrides=overridden)


def test_an_undo_that_leaves_its_reports_resolved_is_refused(
    client_of_sender: Client, reviewer: User
) -> None:
    report = client_of_sender.send()
    decision = write(report, reviewer)
    DecidedReport.objects.create(decision=decision, report=report)
    Report.objects.filter(pk=report.pk).update(status="resolved")
    check_constraints_now()

    with pytest.raises(DatabaseError) as error, transaction.atomic():
        write(report, reviewer, "undo", overrides=decision)
        check_constraints_now()
    assert refused_by(error) == "report_status_agrees"


@pytest.mark.parametrize(
    ("kind", "action"), [("proposal", "remove"), ("decision", "reopen"), ("decision", "escalate")]
)
def test_a_report_is_not_resolved_by_what_does_not_resolve(
    client_of_sender: Client, reviewer: User, kind: str, action: str
) -> None:
    report = client_of_sender.send()
    row = write(report, reviewer, kind, action_id=action)
    DecidedReport.objects.create(decision=row, report=report)

    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Report.objects.filter(pk=report.pk).update(status="resolved")
        check_constraints_now()
    assert refused_by(error) == "report_status_agrees"


def test_an_approval_of_ones_own_proposal_is_refused(
    client_of_sender: Client, reviewer: User
) -> None:
    report = client_of_sender.send()
    proposal = write(report, reviewer, "proposal")

    assert_refused(
        "approval_is_by_another_person", report, reviewer, overrides=proposal, approves=proposal
    )


@pytest.mark.parametrize("change", [{"action_id": "warn"}, {"category": "hate"}, {"reason": "x"}])
def test_an_approval_that_says_something_else_is_refused(
    client_of_sender: Client, reviewer: User, other: User, change: dict[str, str]
) -> None:
    report = client_of_sender.send()
    said: dict[str, Any] = {"category": "spam", "reason": "y"}
    proposal = write(report, reviewer, "proposal", **said)
    said |= {"overrides": proposal, "approves": proposal}

    assert_refused("approval_says_what_was_proposed", report, other, **{**said, **change})
    write(report, other, **said)


def test_an_approval_of_what_is_no_proposal_or_stands_no_more_is_refused(
    client_of_sender: Client, reviewer: User, other: User
) -> None:
    report = client_of_sender.send()
    proposal = write(report, reviewer, "proposal")
    decision = write(report, reviewer, overrides=proposal)

    for approved in (proposal, decision):
        assert_refused(
            "approval_is_of_what_is_proposed", report, other, overrides=decision, approves=approved
        )


@pytest.mark.parametrize("severity", [None, 0, 4])
def test_a_decision_that_needs_a_second_person_is_refused_without_one(
    client_of_sender: Client, reviewer: User, severity: int | None
) -> None:
    report = client_of_sender.send()

    assert_refused(
        "decision_has_its_second_person", report, reviewer, action_id="suspend", severity=severity
    )


def test_below_its_severity_an_action_needs_nobody_else(
    client_of_sender: Client, reviewer: User
) -> None:
    report = client_of_sender.send()
    Action.objects.filter(slug="remove").update(second_from=3)

    write(report, reviewer, severity=2)
    assert_refused("decision_has_its_second_person", report, reviewer, severity=3)


@pytest.mark.parametrize(
    ("rule", "kind", "values"),
    [
        ("decision_kind_is_known", "hint", {}),
        ("only_an_undo_has_no_action", "decision", {"action_id": None}),
        ("only_a_decision_takes_effect", "decision", {"effective_at": None}),
        ("only_a_decision_takes_effect", "proposal", {"effective_at": timezone.now()}),
        ("decision_severity_is_known", "decision", {"severity": 5}),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(
    client_of_sender: Client, reviewer: User, rule: str, kind: str, values: dict[str, Any]
) -> None:
    assert_refused(rule, client_of_sender.send(), reviewer, kind, **values)


def test_an_undo_with_an_action_and_a_proposal_that_approves_are_refused(
    client_of_sender: Client, reviewer: User, other: User
) -> None:
    report = client_of_sender.send()
    proposal = write(report, reviewer, "proposal")

    undone = {"overrides": proposal, "action_id": "remove"}
    assert_refused("only_an_undo_has_no_action", report, reviewer, "undo", **undone)
    assert_refused("only_a_decision_approves", report, other, "proposal", approves=proposal)


# --- Actions


@pytest.mark.parametrize("change", ["slug = 'erase'", "outcome = 'clears'"])
def test_what_an_action_means_stands(db: None, change: str) -> None:  # noqa: ARG001
    for statement in (
        f"UPDATE reviews_action SET {change} WHERE slug = 'remove'",  # noqa: S608
        "DELETE FROM reviews_action WHERE slug = 'remove'",
    ):
        with pytest.raises(DatabaseError) as error, transaction.atomic():
            connection.cursor().execute(statement)
        assert refused_by(error) == "action_stands"


@pytest.mark.parametrize(
    ("rule", "values"),
    [
        ("one_offered_action_per_letter", {"key": "d"}),
        *[("action_letter_is_no_command", {"key": key}) for key in (*COMMANDS, "A", "1", "", "ش")],
        ("action_has_an_english_name", {"names": {"ar": "حجب"}}),
        ("action_outcome_is_known", {"outcome": "explodes"}),
        ("action_second_from_is_a_severity", {"second_from": 5}),
    ],
)
def test_an_action_that_nobody_could_use_is_refused(
    db: None,  # noqa: ARG001
    rule: str,
    values: dict[str, Any],
) -> None:
    usable: dict[str, Any] = {"names": {"en": "gate"}, "outcome": "upholds", "key": "j"}
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        Action.objects.create(slug="gate", **{**usable, **values})
    assert refused_by(error) == rule


def test_the_letter_of_an_action_that_is_offered_no_more_is_free(db: None) -> None:  # noqa: ARG001
    Action.objects.filter(slug="remove").update(is_active=False)

    Action.objects.create(slug="erase", names={"en": "erase"}, outcome="upholds", key="d")
