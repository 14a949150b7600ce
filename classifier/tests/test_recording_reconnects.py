"""An answer in hand is written through a lost connection, for as long as its lease lasts."""

import time
from dataclasses import replace

import pytest
from django.db import OperationalError, connection

from classifier.models import Classification, PolicyVersion
from classifier.recording import Recorded
from classifier.tests.situations import (
    assert_rows_agree,
    at_once,
    claim,
    job_of,
    other_connection,
    record,
    send_text,
    wait_until,
)
from reports.models import Report
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return send_text(client_of_sender)


def end_backend(pid: int) -> None:
    with other_connection() as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])


def own_backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_an_answer_whose_connection_was_ended_is_written_by_the_next(
    report: Report, policy: PolicyVersion, caplog: pytest.LogCaptureFixture
) -> None:
    claimed = claim(report, policy)
    end_backend(own_backend())

    assert record(claimed) is Recorded.CURRENT

    assert "the verdict is not written yet" in caplog.text
    assert "arrange" not in caplog.text
    assert_rows_agree(report)


def test_an_answer_whose_connection_ends_in_the_middle_is_written_once(
    report: Report, policy: PolicyVersion
) -> None:
    claimed = claim(report, policy)
    with other_connection() as holder:
        holder.execute("SELECT FROM reports_report WHERE id = %s FOR UPDATE", [report.pk])

        def end_it_while_it_waits() -> None:
            waiting: list[int] = []

            def waits() -> bool:
                with other_connection() as other:
                    rows = other.execute(
                        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                        " AND wait_event_type = 'Lock' AND query LIKE '%reports_report%'"
                    ).fetchall()
                waiting.extend(row[0] for row in rows)
                return bool(waiting)

            wait_until(waits)
            end_backend(waiting[0])
            holder.rollback()

        recorded, _ended = at_once([lambda: record(claimed), end_it_while_it_waits])

    assert recorded is Recorded.CURRENT
    assert_rows_agree(report)


def test_recording_gives_up_when_the_lease_has_ended(report: Report, policy: PolicyVersion) -> None:
    claimed = replace(claim(report, policy), expires=time.monotonic())
    end_backend(own_backend())

    with pytest.raises(OperationalError):
        record(claimed)

    assert not Classification.objects.exists()
    report.refresh_from_db()
    assert report.status == Report.Status.PENDING
    assert not job_of(report).done
