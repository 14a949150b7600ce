"""A provider that says what no column can hold, or what cannot be: it ends no process, it delays."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from classifier.models import Batch, PolicyVersion, ProviderBatch
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until, rounds_until_done
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Three reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 3, policy=policy)
    return start(next_version())


def submitted(standin: Standin) -> dict[str, Any]:
    """The batch as the provider shows it, once it has it."""
    rounds_until("submitted")
    found: dict[str, Any] = standin.standing()["batches"][0]
    return found | {"status": "in_progress"}


@pytest.mark.parametrize(
    ("absurd", "field", "kept"),
    [
        ({"request_counts": {"total": 10**12, "completed": 2**31}}, "remote_total", None),
        ({"output_file_id": "f" * 300}, "output_file_id", ""),
        ({"error_file_id": "f" * 201}, "error_file_id", ""),
    ],
)
def test_what_no_column_holds_counts_as_not_said(
    batch: Batch, standin: Standin, absurd: dict[str, Any], field: str, kept: object
) -> None:
    told = submitted(standin)
    standin.fail("retrieve", {"kind": "body", "body": json.dumps(told | absurd)}, effect=False)

    one_round()

    polled = ProviderBatch.objects.get()
    assert (polled.polls, polled.remote_status, getattr(polled, field)) == (1, "running", kept)
    assert rounds_until_done(batch).state == Batch.State.DONE


def test_tokens_beyond_all_sense_are_not_counted(batch: Batch, standin: Standin) -> None:
    usage = {
        "prompt_tokens": 5,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 10**60},
    }
    cut = {"index": 0, "finish_reason": "length"} | {
        "message": {"role": "assistant", "content": "{"}
    }
    standin.script({"kind": "envelope", "fields": {"usage": usage, "choices": [cut]}}, times=1)

    assert rounds_until_done(batch).state == Batch.State.DONE

    assert 0 < batch.prompt_tokens < 10**6


def test_a_fault_that_nobody_thought_of_puts_off_its_own_file_only(
    batch: Batch, standin: Standin
) -> None:
    told = submitted(standin)
    first = ProviderBatch.objects.get()
    # As when a provider names one batch twice: the row's constraint refuses what is told.
    second = ProviderBatch.objects.create(
        batch=batch, state="uploaded", input_file_id="file-2", lines=1
    )
    standin.fail("create", {"kind": "body", "body": json.dumps(told)}, effect=False)

    one_round()

    second.refresh_from_db()
    first.refresh_from_db()
    assert (second.state, second.error) == ("uploaded", "IntegrityError")
    assert second.next_step_at > timezone.now()
    assert first.polls == 1


@pytest.mark.usefixtures("batch")
def test_a_wish_to_wait_for_days_is_heard_for_minutes(standin: Standin) -> None:
    submitted(standin)
    wish = {"kind": "error", "status": 429, "headers": {"retry-after": str(20 * 24 * 3600)}}
    standin.fail("retrieve", wish, effect=False)

    one_round()

    waits = ProviderBatch.objects.get().next_step_at - timezone.now()
    assert timedelta(minutes=5) < waits < timedelta(minutes=11)
