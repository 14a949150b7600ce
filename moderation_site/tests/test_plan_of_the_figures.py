"""The figures of the latency budget cost what the last minutes hold, however many reports there are."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from classifier.models import PolicyVersion
from classifier.tests.situations import make_many
from moderation_site import metrics
from reports.tests.sending import Client
from reviews.tests.people import fill_list


@pytest.fixture
def _many_reports(policy: PolicyVersion, client_of_sender: Client) -> None:
    """One a second until now, all resolved; and some that wait, a few of them for too long."""
    fill_list(client_of_sender, policy, "resolved", 5_000)
    make_many("waits", 200, age_seconds=10)
    make_many("waits-too-long", 20, age_seconds=310)
    with connection.cursor() as cursor:
        # What earlier tests left in the indexes counts for the planner as if it were there.
        cursor.execute("REINDEX TABLE reports_report")
        cursor.execute("ANALYZE reports_report, reports_sender")


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", []):
        yield from nodes(each)


def scan_of_reports(query: str) -> dict[str, Any]:
    """The one node of the query's plan that reads reports, with what it came upon."""
    with connection.cursor() as cursor:
        # So few rows might be read in another way for less.
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
        (found,) = cursor.fetchone()
    plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
    (scan,) = (each for each in nodes(plan) if each.get("Relation Name") == "reports_report")
    return scan


@pytest.mark.usefixtures("_many_reports")
def test_reports_that_became_due_are_found_by_when_they_came() -> None:
    scan = scan_of_reports(metrics._DUE)

    assert scan["Index Name"] == "report_by_arrival"
    assert "received_at >" in scan["Index Cond"]
    # One a second was due in ten minutes, and 20 of the other sender's; five more minutes are read.
    assert scan["Actual Rows"] * scan["Actual Loops"] == pytest.approx(620, abs=30)
    assert scan["Rows Removed by Filter"] * scan["Actual Loops"] < 600


@pytest.mark.usefixtures("_many_reports")
def test_overdue_reports_are_found_among_those_that_wait() -> None:
    scan = scan_of_reports(metrics._OVERDUE)

    assert scan["Index Name"] == "report_waiting_by_sender"
    # Rows are told as the average of the loops, which may be one for each sender.
    assert round(scan["Actual Rows"] * scan["Actual Loops"]) == 20
    assert scan["Rows Removed by Filter"] * scan["Actual Loops"] == pytest.approx(200, abs=3)


@pytest.mark.parametrize("query", [metrics._DUE, metrics._OVERDUE])
def test_no_clock_that_moves_within_a_statement_keeps_an_index_from_being_used(query: str) -> None:
    assert "clock_timestamp" not in query
