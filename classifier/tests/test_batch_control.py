"""Cancel and resume: each a transaction with its audit row, and a second time changes nothing."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.utils import timezone
from pytest_django import Settings

from classifier.batches.control import BatchStateError, cancel_batch, resume_batch
from classifier.batches.ending import cancel_rest
from classifier.models import Batch, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.situations import at_once, know_model, load_version
from reports.models import AuditEntry

State = Batch.State


def audit() -> list[tuple[str, str, dict[str, object]]]:
    rows = AuditEntry.objects.filter(object_type="batch").order_by("id")
    return list(rows.values_list("actor_name", "action", "detail"))


def ended(policy: PolicyVersion, state: str) -> Batch:
    batch = make_batch(policy)
    Batch.objects.filter(pk=batch.pk).update(state=state, ended_at=batch.created_at)
    return batch


def stopped(policy: PolicyVersion, **fields: object) -> Batch:
    values = {"state": State.STOPPED, "max_cost": Decimal(10), "note": "The limit is reached."}
    return make_batch(policy, **{**values, **fields})


# --- Cancel


@pytest.mark.parametrize("state", [State.PLANNING, State.RUNNING, State.STOPPED])
def test_an_unfinished_batch_is_cancelled_once(policy: PolicyVersion, state: str) -> None:
    batch = make_batch(policy, state=state, note="Why it stands.")

    assert cancel_batch(batch_id=batch.pk, actor_name="dana")
    assert not cancel_batch(batch_id=batch.pk, actor_name="omar")

    batch.refresh_from_db()
    assert (batch.state, batch.note, batch.ended_at) == (State.CANCELLING, "", None)
    assert audit() == [
        (
            "dana",
            "batch_cancelled",
            {"before": state, "after": "cancelling", "max_cost": None},
        )
    ]


def test_who_cancelled_and_when_it_was_over_are_two_different_entries(
    policy: PolicyVersion,
) -> None:
    batch = make_batch(policy)
    cancel_batch(batch_id=batch.pk, actor_name="dana")
    batch.refresh_from_db()

    assert cancel_rest(batch, lambda: None)

    assert [(name, action) for name, action, _detail in audit()] == [
        ("dana", "batch_cancelled"),
        ("reconcile", "batch_cancel_ended"),
    ]


def test_a_cancelled_batch_is_cancelled_already(policy: PolicyVersion) -> None:
    assert not cancel_batch(batch_id=ended(policy, State.CANCELLED).pk, actor_name="dana")
    assert audit() == []


def test_a_batch_that_is_done_cannot_be_cancelled(policy: PolicyVersion) -> None:
    batch = ended(policy, State.DONE)

    with pytest.raises(BatchStateError, match="is done: there is nothing to cancel"):
        cancel_batch(batch_id=batch.pk, actor_name="dana")

    batch.refresh_from_db()
    assert batch.state == State.DONE
    assert audit() == []


@pytest.mark.django_db(transaction=True)
def test_of_two_that_cancel_at_once_one_does(policy: PolicyVersion) -> None:
    batch = make_batch(policy)

    done = at_once(
        [partial(cancel_batch, batch_id=batch.pk, actor_name=name) for name in ("dana", "omar")]
    )

    assert sorted(done) == [False, True]
    assert len(audit()) == 1


# --- Resume


@pytest.mark.parametrize(
    ("planned_up_to", "state"), [(999, State.PLANNING), (1_000, State.RUNNING)]
)
@pytest.mark.parametrize("limit", [None, Decimal("10.0001")])
def test_a_stopped_batch_goes_on_where_it_stood(
    policy: PolicyVersion, planned_up_to: int, state: str, limit: Decimal | None
) -> None:
    batch = stopped(policy, planned_up_to=planned_up_to)

    assert resume_batch(batch_id=batch.pk, actor_name="dana", max_cost=limit)
    assert not resume_batch(batch_id=batch.pk, actor_name="dana", max_cost=limit)

    batch.refresh_from_db()
    assert (batch.state, batch.max_cost, batch.note) == (state, limit, "")
    told = None if limit is None else "10.0001"
    assert audit() == [
        ("dana", "batch_resumed", {"before": "stopped", "after": state, "max_cost": told})
    ]


@pytest.mark.parametrize("limit", [Decimal(9), Decimal(10)])
def test_a_limit_that_is_not_higher_would_stop_it_again(
    policy: PolicyVersion, settings: Settings, limit: Decimal
) -> None:
    know_model(
        settings.OPENAI_BASE_URL,
        price_prompt=1,
        price_completion=1,
        price_evidence="https://provider.example/prices",
        price_until=timezone.localdate() + timedelta(days=1),
        price_batch_share=1,
    )
    batch = stopped(policy, prompt_tokens=10_000_000)

    with pytest.raises(
        BatchStateError, match=r"stopped at 10\.0000: the new limit has to be higher"
    ):
        resume_batch(batch_id=batch.pk, actor_name="dana", max_cost=limit)

    batch.refresh_from_db()
    assert (batch.state, batch.max_cost) == (State.STOPPED, Decimal(10))
    assert audit() == []


def test_only_under_the_active_version_a_batch_goes_on(policy: PolicyVersion) -> None:
    batch = stopped(policy)
    load_version(prompt="Judge anew.")
    Batch.objects.filter(pk=batch.pk).update(state=State.STOPPED)

    with pytest.raises(BatchStateError, match="under policy version 1, which is not active"):
        resume_batch(batch_id=batch.pk, actor_name="dana")


def test_a_running_batch_gets_no_other_limit_by_resuming(policy: PolicyVersion) -> None:
    batch = make_batch(policy, max_cost=Decimal(10))

    with pytest.raises(BatchStateError, match="is not stopped, but: running"):
        resume_batch(batch_id=batch.pk, actor_name="dana")

    batch.refresh_from_db()
    assert batch.max_cost == Decimal(10)


@pytest.mark.parametrize("state", [State.CANCELLED, State.DONE])
def test_a_batch_that_ended_does_not_go_on(policy: PolicyVersion, state: str) -> None:
    with pytest.raises(BatchStateError, match="is not stopped, but: "):
        resume_batch(batch_id=ended(policy, state).pk, actor_name="dana")


def test_a_batch_being_cancelled_does_not_go_on(policy: PolicyVersion) -> None:
    batch = make_batch(policy, state=State.CANCELLING)

    with pytest.raises(BatchStateError, match="is not stopped, but: being cancelled"):
        resume_batch(batch_id=batch.pk, actor_name="dana")
