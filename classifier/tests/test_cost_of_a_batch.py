"""What a batch costs: the provider's batches are cheaper, calls are not; a limit counts what is out."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from classifier.batches.control import BatchStateError, resume_batch
from classifier.batches.ending import stop_at_cost
from classifier.batches.progress import read_progress
from classifier.models import Batch, PolicyVersion, ProviderBatch, ProviderModel
from classifier.tests.batches import add_flow, add_provider_batch, make_batch
from classifier.tests.situations import know_model

pytestmark = pytest.mark.django_db

PROVIDER = "http://127.0.0.1:9/v1"
STATE = ProviderBatch.State


@pytest.fixture(autouse=True)
def _price(settings: Settings) -> None:
    """1 for a million tokens read, half of it by the provider's batches, which it takes."""
    settings.OPENAI_BASE_URL = PROVIDER
    know_model(
        PROVIDER,
        takes_batches=True,
        price_prompt=Decimal(1),
        price_completion=Decimal(0),
        price_batch_share=Decimal("0.5"),
        price_evidence="https://provider.example/prices",
        price_until=timezone.localdate() + timedelta(days=1),
    )


def batch_with_answers(policy: PolicyVersion, count: int, **fields: Any) -> Batch:
    """Ten million tokens were read for them."""
    batch = make_batch(policy, prompt_tokens=10_000_000, **fields)
    add_flow(batch, "none", "spam", count)
    return batch


def cost_of(batch: Batch) -> Decimal | None:
    return read_progress(Batch.objects.get(pk=batch.pk)).cost


def test_calls_cost_the_whole_price_though_the_provider_takes_batches(
    policy: PolicyVersion,
) -> None:
    batch = batch_with_answers(policy, 40, max_cost=Decimal(8))

    assert cost_of(batch) == 10
    assert stop_at_cost(batch)
    batch.refresh_from_db()
    assert (batch.state, batch.note) == (
        Batch.State.STOPPED,
        "it costs 10.0000, with what is out, and the limit is 8.0000",
    )


def test_what_the_providers_batches_answered_costs_its_share(policy: PolicyVersion) -> None:
    batch = batch_with_answers(policy, 40, max_cost=Decimal(9))
    add_provider_batch(batch, STATE.DONE, 20, remote_completed=12)
    add_provider_batch(batch, STATE.RECORDED, 8, remote_status="completed")

    assert cost_of(batch) == Decimal("7.5")
    assert not stop_at_cost(batch)


def test_verdicts_that_were_carried_over_are_no_answers(policy: PolicyVersion) -> None:
    batch = batch_with_answers(policy, 60, carried=40)
    add_provider_batch(batch, STATE.DONE, 10, remote_completed=10)

    assert cost_of(batch) == Decimal("7.5")


def test_a_file_that_the_provider_did_not_take_made_nothing_cheaper(
    policy: PolicyVersion,
) -> None:
    batch = batch_with_answers(policy, 40)
    add_provider_batch(batch, STATE.DONE, 40, remote_status="failed", error="invalid_request")

    assert cost_of(batch) == 10


def test_lines_that_came_back_more_than_once_are_no_more_than_all(policy: PolicyVersion) -> None:
    batch = batch_with_answers(policy, 40)
    for _twice in range(2):
        add_provider_batch(batch, STATE.DONE, 40, remote_completed=40)

    assert cost_of(batch) == 5


@pytest.mark.parametrize("state", [STATE.SUBMITTED, STATE.ENDED])
def test_a_limit_counts_what_is_not_recorded_yet(policy: PolicyVersion, state: str) -> None:
    batch = batch_with_answers(policy, 40, max_cost=Decimal(12))
    assert not stop_at_cost(batch)

    add_provider_batch(batch, state, 10, estimated_tokens=4_000_000)

    assert stop_at_cost(batch)


def test_a_batch_whose_price_ran_out_goes_on_under_its_limit_once_there_is_a_new_one(
    policy: PolicyVersion,
) -> None:
    batch = batch_with_answers(policy, 40, max_cost=Decimal(12))
    ProviderModel.objects.update(price_until=timezone.localdate() - timedelta(days=1))
    assert stop_at_cost(batch)
    with pytest.raises(BatchStateError, match="it is out of date: record one first"):
        resume_batch(batch_id=batch.pk, actor_name="dana", max_cost=Decimal(12))

    ProviderModel.objects.update(price_until=timezone.localdate())

    assert resume_batch(batch_id=batch.pk, actor_name="dana", max_cost=Decimal(12))
    batch.refresh_from_db()
    assert (batch.state, batch.max_cost) == (Batch.State.RUNNING, Decimal(12))
    assert not stop_at_cost(batch)
