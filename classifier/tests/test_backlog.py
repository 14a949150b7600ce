"""A backlog of fifty thousand: the queue stays short, a threat goes first, a small sender is not starved."""

from collections.abc import Iterator

import pytest

from classifier.models import Classification
from classifier.pipeline import classify_report
from classifier.sweep import sweep_once
from classifier.tests.situations import empty_queue, make_many, queued
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client, body_saying

BACKLOG = 50_000
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("policy", "standin"),
]


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


def work_off(count: int) -> list[int]:
    """Take the first nudges of the queue, as a worker does; the reports in the order of verdicts."""
    for report_id in queued()[:count]:
        classify_report(report_id=report_id, lane=Lane.LIVE)
    return list(Classification.objects.order_by("id").values_list("report_id", flat=True))


def test_ten_sweeps_over_fifty_thousand_keep_the_queue_short_and_a_late_threat_goes_first(
    client_of_sender: Client,
) -> None:
    make_many("big-app", BACKLOG)
    for _ in range(10):
        sweep_once()
    assert len(queued()) == len(set(queued())) == 1_000

    threat = client_of_sender.send(body_saying("I will kill you tomorrow", reason="spam"))

    assert len(queued()) <= 1_001
    assert work_off(3)[0] == threat.pk
    assert Report.objects.pending().count() == BACKLOG - 2


def test_ten_reports_of_a_small_sender_do_not_wait_for_fifty_thousand_of_another() -> None:
    make_many("big-app", BACKLOG)
    make_many("small-app", 10)
    sweep_once()

    done = Report.objects.filter(pk__in=work_off(20))

    assert done.filter(sender__name="small-app").count() == 10
