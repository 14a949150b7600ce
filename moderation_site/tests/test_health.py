"""Probes and figures tell states and counts, never content."""

import json

import pytest
from django.test import Client as Browser
from django.test import RequestFactory
from django.utils import timezone

from classifier.models import Heartbeat, Job, PolicyVersion, WaitingReason
from moderation_site.errors import unexpected
from reports.tests.sending import Client, body_saying


def test_the_process_is_alive_without_asking_the_database() -> None:
    answer = Browser().get("/healthz")

    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_without_an_active_policy_it_is_not_ready_and_says_what_to_do(db: None) -> None:  # noqa: ARG001
    answer = Browser().get("/readyz")

    assert answer.status_code == 503
    assert "load_policy" in answer.json()["wrong"]["policy"]


@pytest.mark.usefixtures("policy")
def test_a_sweep_that_fell_silent_shows(db: None) -> None:  # noqa: ARG001
    Heartbeat.objects.create(name=Heartbeat.SWEEP, at=timezone.now())
    assert Browser().get("/readyz").json() == {"ready": True, "wrong": {}}

    Heartbeat.objects.update(at="2020-01-01T00:00:00Z")

    answer = Browser().get("/readyz")
    assert answer.status_code == 503
    assert "2020-01-01" in answer.json()["wrong"]["sweep"]


def test_figures_count_pending_by_floor_and_reason_and_hold_no_text(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    body = body_saying("A text that nobody should see here.")
    for _again in range(2):
        client_of_sender.send(body)
    threat = client_of_sender.send(body_saying("I will kill you tomorrow"))
    Job.objects.create(
        report=threat, policy_version=policy, reason=WaitingReason.ANSWER_INVALID, parked=True
    )

    figures = Browser().get("/metrics").content.decode()

    assert 'moderation_pending_reports{floor="0"} 2.0' in figures
    assert 'moderation_pending_reports{floor="4"} 1.0' in figures
    assert 'moderation_pending_by_reason{parked="true",reason="answer_invalid"} 1.0' in figures
    assert 'moderation_pending_oldest_age_seconds{floor="4"}' in figures
    assert 'moderation_likely_retries{sender="chat-app"} 1.0' in figures
    assert "nobody should see" not in figures


def test_pages_carry_the_strict_content_security_policy(db: None) -> None:  # noqa: ARG001
    for address in ("/admin/login/", "/api/docs/"):
        policy = Browser().get(address)["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "unsafe" not in policy


def test_an_unexpected_error_is_a_problem_for_programs_and_a_page_for_people(db: None) -> None:  # noqa: ARG001
    made = RequestFactory()

    for_programs = unexpected(made.get("/api/v1/reports/"))
    for_people = unexpected(made.get("/review/pending/"))

    assert for_programs["Content-Type"] == "application/problem+json"
    assert json.loads(for_programs.content)["code"] == "internal_error"
    assert "not an empty list" in for_people.content.decode()
    assert (for_programs.status_code, for_people.status_code) == (500, 500)


def test_a_probe_by_the_process_own_address_is_answered(db: None) -> None:  # noqa: ARG001
    for path in ("/healthz", "/readyz", "/metrics"):
        assert Browser().get(path, headers={"Host": "10.0.0.7:8000"}).status_code != 400
    assert Browser().get("/review/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


@pytest.mark.parametrize("name", [Heartbeat.SWEEP, Heartbeat.RECONCILE])
def test_figures_tell_when_each_process_was_last_at_work(db: None, name: str) -> None:  # noqa: ARG001
    Heartbeat.objects.create(name=name, at="2026-11-30T00:00:00Z")

    figures = Browser().get("/metrics").content.decode()

    assert f"moderation_{name}_last_seen_timestamp_seconds 1.7959968e+09" in figures
