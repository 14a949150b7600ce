"""Before its end a batch plans once more what the version before had judged meanwhile."""

from typing import Any

import pytest
from django.db import transaction

from classifier.batches.selection import Selection
from classifier.batches.write_jobs import plan_again
from classifier.jobs import Claimed
from classifier.models import Batch, Classification, Job, PolicyVersion
from classifier.tests.history import next_version, send_judged, start, write_all_jobs
from classifier.tests.reconciling import one_round, rounds_until_done
from classifier.tests.situations import claim, record, send_text
from dev.standin.client import Standin
from reports.tests.outcomes import resolve
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def late(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> list[Claimed]:  # noqa: ARG001 - it answers
    """Workers that ask under the first version about a report before, and one behind, all history."""
    before = claim(send_text(client_of_sender), policy)
    send_judged(client_of_sender, 2, policy=policy)
    return [before, claim(send_text(client_of_sender), policy)]


@pytest.fixture
def newer(late: list[Claimed]) -> PolicyVersion:  # noqa: ARG001 - claimed before it is active
    return next_version()


def test_what_an_older_version_judged_after_it_was_planned_is_asked_too(
    late: list[Claimed], newer: PolicyVersion
) -> None:
    batch = start(newer)
    one_round()
    batch.refresh_from_db()
    assert (batch.state, batch.wanted) == (Batch.State.RUNNING, 2)

    for claimed in late:
        record(claimed)
    rounds_until_done(batch)

    assert (batch.state, batch.wanted) == (Batch.State.DONE, 4)
    current = Classification.objects.filter(superseded=False)
    assert list(current.values_list("policy_version", flat=True)) == [newer.pk] * 4


def planned(newer: PolicyVersion, **further: Any) -> Batch:
    """A batch whose jobs are all written and ended."""
    batch = start(newer, **further)
    write_all_jobs(batch)
    Job.objects.filter(batch=batch).update(parked=True, reason="too_long")
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.RUNNING)
    return batch


def test_what_a_batch_could_not_get_judged_is_not_planned_again(newer: PolicyVersion) -> None:
    assert not plan_again(batch_id=planned(newer).pk)


@pytest.mark.parametrize("state", ["cancelling", "stopped"])
def test_only_a_running_batch_plans_again(
    late: list[Claimed], newer: PolicyVersion, state: str
) -> None:
    batch = planned(newer)
    record(late[0])
    Batch.objects.filter(pk=batch.pk).update(state=state)

    assert not plan_again(batch_id=batch.pk)

    assert Batch.objects.get().state == state


def test_a_batch_of_so_many_reports_takes_no_more(
    late: list[Claimed], newer: PolicyVersion
) -> None:
    batch = planned(newer, selection=Selection(limit=2))
    record(late[0])

    assert not plan_again(batch_id=batch.pk)


def test_a_backfill_does_not_run_after_what_people_go_on_deciding(
    client_of_sender: Client, newer: PolicyVersion
) -> None:
    decided = [send_text(client_of_sender) for _each in range(2)]
    with transaction.atomic():
        resolve(decided[0])
    batch = planned(newer, purpose=Batch.Purpose.BACKFILL)
    with transaction.atomic():
        resolve(decided[1])

    assert not plan_again(batch_id=batch.pk)


def test_a_nightly_one_plans_again_and_then_nothing_is_left(
    late: list[Claimed], newer: PolicyVersion
) -> None:
    batch = planned(newer, purpose=Batch.Purpose.NIGHTLY)
    record(late[0])

    assert plan_again(batch_id=batch.pk)
    write_all_jobs(batch)
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.RUNNING)

    assert Job.objects.filter(batch=batch).count() == 3
    assert not plan_again(batch_id=batch.pk)
