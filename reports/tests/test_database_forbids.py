"""What PostgreSQL itself refuses in the tables of intake, whoever writes, named by its rule."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from conftest import check_constraints_now
from reports.models import AuditEntry, Content, Item, Report, ReporterIdentity, Sender
from reports.tests.outcomes import decision_on, verdict_of
from reports.tests.sending import Client


def refused_by(rule: str, write: Callable[[], object]) -> None:
    """The write is refused by the constraint or trigger of this name, and nothing of it stays."""
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        write()
        check_constraints_now()
    cause: Any = refusal.value.__cause__
    assert cause.diag.constraint_name == rule


def run(sql: str, *values: str | int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return client_of_sender.send()


def copy_of(report: Report, **changes: Any) -> Report:
    """Another row like this one, under a key of its own."""
    values = {
        field.attname: getattr(report, field.attname)
        for field in Report._meta.concrete_fields
        if field.attname not in {"id", "public_id"}
    }
    return Report(**{**values, "idempotency_key": uuid.uuid4().hex, **changes})


def test_two_reports_with_one_sender_and_key(report: Report) -> None:
    twin = copy_of(report, idempotency_key=report.idempotency_key)

    refused_by("one_report_per_sender_and_key", lambda: twin.save(force_insert=True))


def test_two_items_with_one_sender_type_and_id(report: Report) -> None:
    item = report.item
    twin = Item(sender=item.sender, type=item.type, external_id=item.external_id)

    refused_by("one_item_per_sender_type_and_id", lambda: twin.save(force_insert=True))


def test_two_identities_with_one_pseudonym(report: Report) -> None:
    twin = ReporterIdentity(
        sender=report.sender, pseudonym=report.reporter_pseudonym, external_id="another"
    )

    refused_by("one_identity_per_pseudonym", lambda: twin.save(force_insert=True))


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("report_status_is_known", {"status": "safe"}),
        ("report_status_is_known", {"status": ""}),
        ("report_floor_is_a_severity", {"floor": -1}),
        ("report_rank_is_a_severity_above_its_floor", {"rank": 5}),
        ("report_rank_is_a_severity_above_its_floor", {"rank": -1, "floor": 0}),
        ("report_rank_is_a_severity_above_its_floor", {"floor": 3, "rank": 2}),
        ("report_reason_is_known", {"reason": "boredom"}),
    ],
)
def test_a_value_that_no_report_may_have(
    report: Report, rule: str, changes: dict[str, Any]
) -> None:
    refused_by(rule, lambda: Report.objects.filter(pk=report.pk).update(**changes))
    refused_by(rule, lambda: copy_of(report, **changes).save(force_insert=True))


def test_a_floor_above_every_severity(report: Report) -> None:
    # The rank's rule would refuse it too; PostgreSQL names the first by the alphabet.
    changes = {"floor": 5, "rank": 5}

    refused_by(
        "report_floor_is_a_severity",
        lambda: Report.objects.filter(pk=report.pk).update(**changes),
    )


@pytest.mark.parametrize(
    ("rule", "changes"),
    [
        ("item_list_is_known", {"list": "done"}),
        ("item_rank_is_a_severity", {"rank": 5}),
        ("item_rank_is_a_severity", {"rank": -1}),
    ],
)
def test_a_value_that_no_item_may_have(report: Report, rule: str, changes: dict[str, Any]) -> None:
    refused_by(rule, lambda: Item.objects.filter(pk=report.item_id).update(**changes))


@pytest.mark.parametrize("budget", ["0 seconds", "-1 seconds"])
def test_a_latency_budget_that_is_none(report: Report, budget: str) -> None:
    refused_by(
        "sender_latency_budget_is_positive",
        lambda: run(
            "UPDATE reports_sender SET latency_budget = %s WHERE id = %s", budget, report.sender_id
        ),
    )


def test_a_change_of_content(report: Report) -> None:
    contents = Content.objects.filter(report=report)

    refused_by("content_is_immutable", lambda: contents.update(body={}))
    refused_by("content_is_immutable", lambda: contents.update(body=report.content.body))


def test_content_may_go_as_a_whole(report: Report) -> None:
    Content.objects.filter(report=report).delete()

    check_constraints_now()
    assert Report.objects.filter(pk=report.pk).exists(), "key and fingerprint outlive the purge"


def test_a_change_or_deletion_of_an_audit_entry(report: Report) -> None:  # noqa: ARG001
    entries = AuditEntry.objects.all()
    assert entries.exists()

    refused_by("audit_is_append_only", lambda: entries.update(actor_name="somebody else"))
    refused_by("audit_is_append_only", lambda: run("DELETE FROM reports_auditentry"))


@pytest.mark.parametrize("status", ["judged_safe", "needs_review", "resolved"])
def test_a_status_without_the_verdict_or_decision_behind_it(report: Report, status: str) -> None:
    rule = "report_status_agrees"

    refused_by(rule, lambda: Report.objects.filter(pk=report.pk).update(status=status))
    refused_by(rule, lambda: copy_of(report, status=status).save(force_insert=True))


def test_pending_beside_a_current_verdict(report: Report, policy: Any) -> None:
    refused_by("report_status_agrees", lambda: verdict_of(report, policy))


def test_judged_safe_on_a_decision_alone(report: Report) -> None:
    decision_on(report)

    refused_by(
        "report_status_agrees",
        lambda: Report.objects.filter(pk=report.pk).update(status="judged_safe"),
    )


def test_the_agreement_is_judged_at_the_commit_in_whatever_order_the_rows_come(
    report: Report, policy: Any
) -> None:
    Report.objects.filter(pk=report.pk).update(status="judged_safe")
    verdict_of(report, policy, safe=True)

    check_constraints_now()


@pytest.mark.parametrize("status", ["needs_review", "resolved"])
def test_a_decision_carries_a_status_without_a_verdict(report: Report, status: str) -> None:
    decision_on(report)

    Report.objects.filter(pk=report.pk).update(status=status)

    check_constraints_now()


@pytest.mark.parametrize("table", [Sender, Item, Report])
def test_a_row_that_others_stand_on_does_not_go(report: Report, table: Any) -> None:  # noqa: ARG001
    with pytest.raises(IntegrityError), transaction.atomic():
        run(f"DELETE FROM {table._meta.db_table}")  # noqa: S608
        check_constraints_now()

    assert table.objects.exists()
