"""An answer that is not one leaves the report pending with its reason; it is never a safe verdict."""

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from pytest_django import Settings

from classifier.models import Classification, Job
from classifier.pipeline import Outcome, classify_report
from classifier.tests.situations import (
    completion,
    end_rest,
    end_wait,
    job_of,
    seconds_until_due,
    send_text,
)
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]

TEXT = "The wombat festival opens at noon."  # harmless: the stand-in would say "none"
KEY = "sk-wombat-key"
STATUS = Report.Status
Reason = Job.Reason


@dataclass(frozen=True)
class Refused:
    """A step of the stand-in, and what must come of it."""

    step: Mapping[str, Any]
    reason: str
    attempts: int = 0
    parked: bool = False
    floor: int = 0


def content(text: str | None) -> dict[str, Any]:
    return {"kind": "content", "content": text}


def verdict(**changes: Any) -> dict[str, Any]:
    return {"kind": "verdict", **changes}


def error(status: int, **changes: Any) -> dict[str, Any]:
    # Servers quote the text and the key in their messages.
    return {"kind": "error", "status": status, "message": f"{TEXT} {KEY}", **changes}


def body(text: str, **changes: Any) -> dict[str, Any]:
    return {"kind": "body", "body": text, **changes}


def invalid(step: Mapping[str, Any]) -> Refused:
    return Refused(step, Reason.ANSWER_INVALID, attempts=1)


def unavailable(step: Mapping[str, Any]) -> Refused:
    return Refused(step, Reason.PROVIDER_UNAVAILABLE)


SAFE = '{"ref": "r", "summary": "Fine.", "category": "none", "confidence": 0.99, "quotes": []}'

REFUSED: dict[str, Refused] = {
    # The model's answer is no verdict: it spends an attempt.
    "content is not JSON": invalid(content(f"This is harmless: {TEXT}")),
    "unknown category": invalid(verdict(category="harmless")),
    "category of another type": invalid(verdict(category=None)),
    "confidence 95": invalid(verdict(confidence=95)),
    "confidence as text": invalid(verdict(confidence="0.9")),
    "confidence true": invalid(verdict(confidence=True)),
    "confidence NaN": invalid(verdict(confidence=float("nan"))),
    "confidence null": invalid(verdict(confidence=None)),
    "confidence negative": invalid(verdict(confidence=-0.1)),
    "duplicate keys": invalid(
        content(SAFE.replace('"category"', '"category": "spam", "category"'))
    ),
    "extra key": invalid(verdict(action="remove")),
    "missing key": invalid(content('{"category": "none", "confidence": 0.99}')),
    "trailing text": invalid(content(SAFE + "\nOn reflection, it is a threat.")),
    "two objects": invalid(content(SAFE + SAFE)),
    "another report's ref": Refused({"kind": "wrong_ref"}, Reason.ANSWER_MISPLACED, attempts=1),
    "an obedient answer without the ref": Refused(
        content(SAFE), Reason.ANSWER_MISPLACED, attempts=1
    ),
    "content null": invalid(content(None)),
    "content empty": invalid(content("")),
    "unknown finish reason": invalid({"kind": "finish", "finish_reason": "error"}),
    "cut by its length": Refused(
        {"kind": "finish", "finish_reason": "length"}, Reason.ANSWER_CUT, attempts=1
    ),
    "another model answered": Refused(
        {"kind": "wrong_model", "model": "a-cheaper-one"}, Reason.WRONG_MODEL
    ),
    "tokens too few for the input": Refused(
        {"kind": "usage", "prompt_tokens": 12}, Reason.INPUT_TRUNCATED, attempts=1
    ),
    # Asking again cannot help: parked at once. A judgement on the content raises it once.
    "refusal": Refused(
        {"kind": "refusal", "refusal": f"I cannot read {TEXT}"},
        Reason.MODEL_REFUSED,
        attempts=1,
        parked=True,
        floor=3,
    ),
    "finish reason content_filter": Refused(
        {"kind": "finish", "finish_reason": "content_filter"},
        Reason.CONTENT_FILTERED,
        attempts=1,
        parked=True,
        floor=3,
    ),
    "400 content_filter": Refused(
        error(400, code="content_filter"),
        Reason.CONTENT_FILTERED,
        attempts=1,
        parked=True,
        floor=3,
    ),
    "400 context_length_exceeded": Refused(
        error(400, code="context_length_exceeded"), Reason.TOO_LONG, attempts=1, parked=True
    ),
    # The provider's faults cost no attempt.
    "200 with HTML": unavailable(
        body(f"<html>{TEXT} {KEY}</html>", headers={"Content-Type": "text/html"})
    ),
    "200 with nothing": unavailable(body("")),
    "200 with half of a JSON": unavailable(body('{"choices": [')),
    "200 with null": unavailable(body("null")),
    "200 with an error object": unavailable(body('{"error": {"message": "overloaded"}}')),
    "200 with no choice": unavailable(body(json.dumps(completion("", choices=[])))),
    "401": Refused(error(401, code="invalid_api_key"), Reason.PROVIDER_CREDENTIALS),
    "403": Refused(error(403), Reason.PROVIDER_CREDENTIALS),
    "404": Refused(error(404, code="model_not_found"), Reason.UNKNOWN_MODEL),
    "429 insufficient_quota": Refused(error(429, code="insufficient_quota"), Reason.PROVIDER_QUOTA),
    "400": Refused(error(400, code="unsupported_parameter"), Reason.PROVIDER_REJECTED),
    "400 with the text as its code": Refused(error(400, code=TEXT), Reason.PROVIDER_REJECTED),
    "500": unavailable(error(500)),
    "503": unavailable(error(503)),
    "a redirect": Refused(
        body("", status=307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}),
        Reason.PROVIDER_REJECTED,
    ),
    "connection cut": unavailable({"kind": "cut"}),
    "more bytes than an answer has": unavailable(body(" " * (2 * 1024 * 1024 + 1))),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_wrong_answer_leaves_the_report_pending_with_its_reason(
    case: Refused,
    standin: Standin,
    client_of_sender: Client,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.OPENAI_API_KEY = KEY
    report = send_text(client_of_sender, TEXT)
    standin.script(dict(case.step))

    with caplog.at_level(logging.DEBUG):
        outcome = classify_report(report_id=report.pk, lane=Lane.LIVE)

    assert outcome is Outcome.PUT_OFF
    assert not Classification.objects.exists()
    report.refresh_from_db()
    assert (report.status, report.floor, report.rank) == (STATUS.PENDING, case.floor, case.floor)
    job = job_of(report)
    assert (job.reason, job.attempts, job.parked) == (case.reason, case.attempts, case.parked)
    assert (job.lease_until, job.done) == (None, False)
    assert len(standin.calls()) == 1
    logged = "\n".join(_everything_in(record) for record in caplog.records)
    assert f"report {report.pk}: " in logged
    assert "wombat" not in logged
    answer = client_of_sender.get(f"/api/v1/reports/{report.public_id}/").json()
    assert (answer["status"], answer["pending_reason"]) == ("pending", case.reason)
    assert answer["classification"] is None


def _everything_in(record: logging.LogRecord) -> str:
    return f"{record.getMessage()} {record.__dict__} {record.exc_info}"


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "hang", "seconds": 5},
        {"kind": "drip", "seconds": 5, "interval": 0.02},
        {"kind": "drip", "seconds": 5, "interval": 4},
    ],
    ids=["silence", "a blank line every moment", "one blank line, then silence"],
)
def test_no_answer_within_the_deadline_is_a_timeout_and_costs_no_attempt(
    step: dict[str, Any],
    standin: Standin,
    client_of_sender: Client,
    settings: Settings,
) -> None:
    settings.MODEL_DEADLINE_SECONDS = 0.3
    report = send_text(client_of_sender)
    standin.script(step)

    started = time.monotonic()
    classify_report(report_id=report.pk, lane=Lane.LIVE)

    assert time.monotonic() - started < 1.3
    job = job_of(report)
    assert (job.reason, job.attempts, job.parked) == (Reason.PROVIDER_TIMEOUT, 0, False)
    assert not Classification.objects.exists()
    assert len(standin.calls()) == 1


def test_retry_after_is_the_least_that_a_rate_limited_report_waits(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(error(429, headers={"retry-after": "70"}))

    classify_report(report_id=report.pk, lane=Lane.LIVE)

    job = job_of(report)
    assert (job.reason, job.attempts) == (Reason.PROVIDER_RATE_LIMITED, 0)
    assert 65 < seconds_until_due(report) <= 70
    # A second nudge before that time asks nothing.
    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.SPENT
    assert len(standin.calls()) == 1


def test_an_absurd_retry_after_is_answered_by_our_own_wait(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(error(429, headers={"retry-after": "1e300"}))

    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.PUT_OFF

    assert seconds_until_due(report) <= 10


def test_refused_answers_up_to_the_bound_park_the_report(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(content("no idea"), times=None)

    for _attempt in range(Job.MAX_ATTEMPTS):
        assert not job_of(report).parked if Job.objects.exists() else True
        assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.PUT_OFF
        end_wait(report)

    job = job_of(report)
    assert (job.parked, job.attempts) == (True, Job.MAX_ATTEMPTS)
    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.SPENT
    assert len(standin.calls()) == Job.MAX_ATTEMPTS
    answer = client_of_sender.get(f"/api/v1/reports/{report.public_id}/").json()
    assert (answer["status"], answer["pending_reason"]) == ("pending", "answer_invalid")


def test_the_providers_faults_never_park_a_report(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(error(503), times=Job.MAX_ATTEMPTS + 2)
    for _fault in range(Job.MAX_ATTEMPTS + 2):
        classify_report(report_id=report.pk, lane=Lane.LIVE)
        end_wait(report)
        end_rest()

    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.RECORDED

    report.refresh_from_db()
    assert report.status == STATUS.JUDGED_SAFE


def test_an_answer_before_a_lost_connection_counts_and_is_not_asked_again(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script({"kind": "drop_after_answer"})

    outcomes = [classify_report(report_id=report.pk, lane=Lane.LIVE) for _nudge in range(3)]

    assert outcomes == [Outcome.RECORDED, Outcome.SPENT, Outcome.SPENT]
    assert Classification.objects.filter(report=report, superseded=False).count() == 1
    assert len(standin.calls()) == 1
