"""503 with Retry-After while PostgreSQL does not answer; nothing is called stored that is not."""

import pytest
from django.db import connection

from reports.models import Report
from reports.tests.sending import (
    assert_problem,
    make_sender,
    post_over_http,
    report_body,
    web_process,
)

pytestmark = pytest.mark.django_db(transaction=True)


def end_other_connections() -> None:
    """What a restart of PostgreSQL does to the connections that a web process keeps."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_refused_connection_is_503_and_the_same_request_later_is_stored() -> None:
    sender = make_sender("chat-app")
    body = report_body()

    with web_process(DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing") as address:
        answer = post_over_http(address, sender.key, body, key="k-1")

    problem = assert_problem(answer, 503, "database_unavailable")
    assert "same Idempotency-Key" in problem["detail"]
    assert int(answer.headers["Retry-After"]) > 0
    assert not Report.objects.exists()
    assert sender.post(body, key="k-1").status_code == 202


def test_a_connection_that_died_meanwhile_costs_no_request() -> None:
    sender = make_sender("chat-app")
    with web_process() as address:
        assert post_over_http(address, sender.key, report_body()).status_code == 202
        end_other_connections()

        answers = [post_over_http(address, sender.key, report_body()) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [202] * 6
    assert Report.objects.count() == 7
