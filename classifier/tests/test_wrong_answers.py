"""What comes after an answer that is none: waits that the server asked for, and faults without end.

Each answer by itself stands in the table of `test_every_shape`.
"""

from typing import Any

import pytest

from classifier.models import Job, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.tests.situations import (
    end_rest,
    end_wait,
    job_of,
    rest_left,
    seconds_until_due,
    send_text,
)
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]


def error(status: int, **changes: Any) -> dict[str, Any]:
    return {"kind": "error", "status": status, **changes}


def test_retry_after_is_the_least_that_a_rate_limited_report_waits(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(error(429, headers={"retry-after": "70"}))

    classify_report(report_id=report.pk, lane=Lane.LIVE)

    job = job_of(report)
    assert (job.reason, job.attempts) == (Job.Reason.PROVIDER_RATE_LIMITED, 0)
    assert 65 < rest_left(ProviderModel.objects.get()) <= 70
    # Nudges before that time ask nothing, not even when the report itself has waited long enough.
    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.SPENT
    end_wait(report)
    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.HELD_BACK
    assert len(standin.calls()) == 1


def test_an_absurd_retry_after_is_answered_by_our_own_wait(
    standin: Standin, client_of_sender: Client
) -> None:
    report = send_text(client_of_sender)
    standin.script(error(429, headers={"retry-after": "1e300"}))

    assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.PUT_OFF

    assert seconds_until_due(report) <= 10


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
    assert report.status == Report.Status.JUDGED_SAFE
