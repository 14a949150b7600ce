"""The sender's latency budget says when a report is overdue. It never shortens a call."""

import time
from datetime import timedelta

import pytest
from django.test import Client as Browser

from classifier.models import Classification
from classifier.pipeline import Outcome, classify_report
from classifier.tests.situations import send_text, wait_until
from dev.standin.client import Standin
from reports.models import Report, Sender
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


def give_budget(client: Client, seconds: float) -> None:
    Sender.objects.filter(pk=client.sender.pk).update(latency_budget=timedelta(seconds=seconds))
    client.sender.refresh_from_db()


def figures(name: str) -> set[str]:
    """The lines of one figure as `/metrics` tells it."""
    text = Browser().get("/metrics").content.decode()
    return {line for line in text.splitlines() if line.startswith(f"{name}{{")}


@pytest.mark.usefixtures("policy")
def test_a_budget_that_runs_out_during_a_call_cuts_nothing(
    standin: Standin, client_of_sender: Client
) -> None:
    give_budget(client_of_sender, 0.05)
    report = send_text(client_of_sender)
    standin.script({"kind": "delay", "seconds": 0.3})

    started = time.monotonic()
    outcome = classify_report(report_id=report.pk, lane=Lane.LIVE)

    assert time.monotonic() - started > 0.3
    assert outcome is Outcome.RECORDED
    assert len(standin.calls()) == 1
    report.refresh_from_db()
    assert report.status == Report.Status.JUDGED_SAFE
    answer = client_of_sender.get(f"/api/v1/reports/{report.public_id}/").json()
    assert answer["overdue"] is False  # it has its answer, late as it came
    assert figures("moderation_due_reports") == {
        'moderation_due_reports{outcome="in_time",sender="chat-app"} 0.0',
        'moderation_due_reports{outcome="late",sender="chat-app"} 1.0',
        'moderation_due_reports{outcome="none",sender="chat-app"} 0.0',
    }


@pytest.mark.usefixtures("policy")
def test_the_budget_drives_due_badge_and_figures(client_of_sender: Client) -> None:
    give_budget(client_of_sender, 0.001)
    report = send_text(client_of_sender)
    wait_until(report.is_overdue)

    assert report.due_at - report.received_at == timedelta(milliseconds=1)
    assert list(Report.objects.overdue()) == [report]
    answer = client_of_sender.get(f"/api/v1/reports/{report.public_id}/").json()
    assert (answer["status"], answer["overdue"]) == ("pending", True)
    assert figures("moderation_overdue_reports") == {
        'moderation_overdue_reports{sender="chat-app"} 1.0'
    }
    assert 'moderation_due_reports{outcome="none",sender="chat-app"} 1.0' in figures(
        "moderation_due_reports"
    )


def test_another_budget_counts_for_the_reports_that_come_then(client_of_sender: Client) -> None:
    first = send_text(client_of_sender)
    give_budget(client_of_sender, 7200)
    second = send_text(client_of_sender)

    first.refresh_from_db()
    assert first.due_at - first.received_at == timedelta(minutes=5)
    assert second.due_at - second.received_at == timedelta(hours=2)
    assert figures("moderation_overdue_reports") == set()


@pytest.mark.usefixtures("policy")
def test_an_outcome_within_the_budget_is_in_time(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    classify_report(report_id=report.pk, lane=Lane.LIVE)
    assert len(standin.calls()) == 1

    # Counted once its time is over: here it was over with the outcome.
    assert figures("moderation_due_reports") == set()
    Report.objects.update(due_at=Classification.objects.get().created_at)
    in_time = 'moderation_due_reports{outcome="in_time",sender="chat-app"} 1.0'
    assert in_time in figures("moderation_due_reports")
