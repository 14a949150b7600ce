"""Between two pieces reconciling gives way to arrivals, says so, and shows that it lives."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db.models import F
from django.utils import timezone

from classifier.batches.between import BetweenPieces
from classifier.models import Heartbeat, PolicyVersion
from classifier.tests.situations import claim, make_many, record
from reports.models import Report

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_waits_for_as_long_as_an_arrival_waits_too_long_and_says_when(
    policy: PolicyVersion, caplog: pytest.LogCaptureFixture
) -> None:
    make_many("forum", 1, age_seconds=31)
    waited: list[float] = []

    def somebody_asks_it(seconds: float) -> None:
        waited.append(seconds)
        record(claim(Report.objects.get(), policy))

    between = BetweenPieces(wait=somebody_asks_it, look_every=2)
    with caplog.at_level("INFO"):
        between()
        assert (waited, caplog.messages) == ([], [])
        between()
        between()
        between()

    assert waited == [1.0]
    assert caplog.messages == [
        "history waits: arrivals that could be asked have waited for more than 30 s",
        "history goes on after 0 s",
    ]


def test_a_round_without_a_batch_leaves_a_heartbeat() -> None:
    call_command("reconcile", "--nice=0")
    Heartbeat.objects.update(at=F("at") - timedelta(hours=1))

    call_command("reconcile", "--nice=0")

    age = timezone.now() - Heartbeat.objects.get(name="reconcile").at
    assert age < timedelta(minutes=1)
