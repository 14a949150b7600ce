"""At commit a report's status agrees with its verdicts and decisions, or nothing is committed."""

import uuid
from collections.abc import Callable

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import DatabaseError, transaction
from django.db.models.functions import Now

from classifier.models import Classification, PolicyVersion
from classifier.tests.situations import send_text, violated
from conftest import check_constraints_now
from reports.models import Report
from reports.tests.sending import Client

STATUS = Report.Status
RULE = "report_status_agrees"


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return send_text(client_of_sender)


def set_status(report: Report, status: str) -> None:
    Report.objects.filter(pk=report.pk).update(status=status)


def write_verdict(report: Report, *, superseded: bool = False) -> None:
    Classification.objects.create(
        report=report,
        policy_version=PolicyVersion.objects.get(),
        superseded=superseded,
        category="none",
        confidence=0.9,
        summary="They meet.",
        quotes=[],
        severity=0,
        safe=True,
        served_model="m",
        model_seconds=0.5,
        answer_hash="0" * 64,
    )


def write_decision(report: Report) -> None:
    decision = apps.get_model("reviews", "Decision").objects.create(
        item=report.item,
        reviewer=User.objects.create_user("dana"),
        action_id="warn",
        note="",
        reason="",
        effective_at=Now(),
    )
    decision.reports.add(report)


def write_all(report: Report, *, status: str, verdict: str, decided: bool) -> None:
    """The rows of one case. `verdict`: none, current, or superseded."""
    set_status(report, status)
    if verdict != "none":
        write_verdict(report, superseded=verdict == "superseded")
    if decided:
        write_decision(report)


# (status, verdict, decided) that may stand; every other combination is refused.
ALLOWED = {
    (STATUS.PENDING, "none", False),
    (STATUS.PENDING, "none", True),
    (STATUS.PENDING, "superseded", False),
    (STATUS.PENDING, "superseded", True),
    (STATUS.JUDGED_SAFE, "current", False),
    (STATUS.JUDGED_SAFE, "current", True),
    (STATUS.NEEDS_REVIEW, "current", False),
    (STATUS.NEEDS_REVIEW, "current", True),
    (STATUS.NEEDS_REVIEW, "none", True),
    (STATUS.NEEDS_REVIEW, "superseded", True),
    (STATUS.RESOLVED, "none", True),
    (STATUS.RESOLVED, "superseded", True),
    (STATUS.RESOLVED, "current", True),
}


@pytest.mark.django_db
@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("status", STATUS.values)
@pytest.mark.parametrize("verdict", ["none", "superseded", "current"])
@pytest.mark.parametrize("decided", [False, True], ids=["undecided", "decided"])
def test_only_these_combinations_stand(
    report: Report, status: str, verdict: str, *, decided: bool
) -> None:
    def write() -> None:
        with transaction.atomic():
            write_all(report, status=status, verdict=verdict, decided=decided)
            check_constraints_now()

    if (status, verdict, decided) in ALLOWED:
        write()
        return
    with pytest.raises(DatabaseError) as refused:
        write()
    assert violated(refused.value) == RULE


WRONG: dict[str, Callable[[Report], None]] = {
    "pending beside a current verdict": write_verdict,
    "judged safe without a verdict": lambda report: set_status(report, STATUS.JUDGED_SAFE),
    "needs review without verdict or decision": (
        lambda report: set_status(report, STATUS.NEEDS_REVIEW)
    ),
    "resolved without a decision": lambda report: set_status(report, STATUS.RESOLVED),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_the_commit_is_refused_and_leaves_nothing(report: Report) -> None:
    for write in WRONG.values():
        with pytest.raises(DatabaseError) as refused, transaction.atomic():
            write(report)
            assert Report.objects.exists()  # the write itself passed; the commit does not
        assert violated(refused.value) == RULE

    report.refresh_from_db()
    assert report.status == STATUS.PENDING
    assert not Classification.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_the_order_of_writing_within_a_transaction_is_free(report: Report) -> None:
    with transaction.atomic():
        set_status(report, STATUS.JUDGED_SAFE)
        write_verdict(report)

    report.refresh_from_db()
    assert report.status == STATUS.JUDGED_SAFE


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_a_judged_reports_only_verdict_is_not_superseded(report: Report) -> None:
    with transaction.atomic():
        write_verdict(report)
        set_status(report, STATUS.JUDGED_SAFE)

    with pytest.raises(DatabaseError) as refused:
        Classification.objects.update(superseded=True)

    assert violated(refused.value) == RULE


@pytest.mark.django_db(transaction=True)
def test_a_report_is_not_born_judged(report: Report) -> None:
    twin = Report.objects.get(pk=report.pk)
    twin.pk, twin.public_id, twin.idempotency_key = None, uuid.uuid4(), "twin"
    twin.status = STATUS.JUDGED_SAFE

    with pytest.raises(DatabaseError) as refused:
        twin.save(force_insert=True)

    assert violated(refused.value) == RULE
