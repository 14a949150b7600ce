"""A batch ends when a person or its cost says so, at whatever step it stands; nothing is lost."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from classifier.batches.control import cancel_batch, resume_batch
from classifier.models import (
    Batch,
    BatchLine,
    Classification,
    Job,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
)
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)

REPORTS = 4


@pytest.fixture
def newer(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> PolicyVersion:
    """A version that four reports of history are to be asked under, at a known price."""
    send_judged(client_of_sender, REPORTS, policy=policy)
    ProviderModel.objects.filter(base_url=standin.base_url).update(
        price_prompt=1000,
        price_completion=1000,
        price_batch_share=1,
        price_evidence="https://example.org/prices",
        price_until=timezone.now().date() + timedelta(days=1),
    )
    return next_version()


def until(state: str) -> None:
    """Round after round until a file stands at this step."""
    for _round in range(20):
        one_round()
        if ProviderBatch.objects.filter(state=state).exists():
            return
    raise AssertionError(f"no file came to be {state}")


@pytest.mark.parametrize("state", ["planned", "uploaded", "submitted"])
def test_called_in_at_any_step_it_leaves_every_report_to_the_next_batch(
    newer: PolicyVersion, standin: Standin, state: str
) -> None:
    standin.behave(batches={"seconds": 30, "answered": 0.5})
    batch = start(newer)
    until(state)

    cancel_batch(batch_id=batch.pk, actor_name="a test")
    rounds_until_done(batch)

    assert batch.state == Batch.State.CANCELLED
    jobs = Job.objects.filter(batch=batch)
    answered = jobs.filter(done=True).count()
    assert jobs.filter(parked=True, reason="batch_cancelled").count() == REPORTS - answered
    assert not BatchLine.objects.filter(outcome="").exists()
    one_round()
    assert standin.standing()["files"] == []

    standin.behave()
    rounds_until_done(start(newer))
    current = Classification.objects.filter(superseded=False, policy_version=newer)
    assert current.count() == REPORTS


def test_a_batch_that_is_called_in_while_it_is_planned_asks_nothing(
    newer: PolicyVersion, standin: Standin
) -> None:
    batch = start(newer)
    cancel_batch(batch_id=batch.pk, actor_name="a test")

    rounds_until_done(batch)

    assert (batch.state, batch.wanted) == (Batch.State.CANCELLED, 0)
    assert standin.standing()["batches"] == []


def test_it_stops_before_it_sends_what_would_cost_more_than_allowed(
    newer: PolicyVersion, standin: Standin
) -> None:
    batch = start(newer, max_cost=Decimal(4))
    for _round in range(8):
        one_round()

    batch.refresh_from_db()
    assert batch.state == Batch.State.STOPPED
    assert "the limit is 4" in batch.note
    assert standin.standing()["files"] == []

    resume_batch(batch_id=batch.pk, actor_name="a test", max_cost=Decimal(1000))
    rounds_until_done(batch)
    assert batch.state == Batch.State.DONE
    assert Classification.objects.filter(superseded=False, policy_version=newer).count() == REPORTS


def test_a_price_out_of_date_stops_a_batch_whose_cost_is_limited(newer: PolicyVersion) -> None:
    batch = start(newer, max_cost=Decimal(1000))
    ProviderModel.objects.update(price_until=timezone.now().date() - timedelta(days=1))
    one_round()
    one_round()

    batch.refresh_from_db()
    assert batch.state == Batch.State.STOPPED
    assert "out of date" in batch.note
