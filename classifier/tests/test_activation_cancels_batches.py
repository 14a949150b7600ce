"""History is asked under the active version only: activating another one calls in what is out."""

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from classifier.batches.write_jobs import write_jobs
from classifier.models import Batch, Job, PolicyVersion
from classifier.policies import versions
from classifier.recording import Recorded
from classifier.tests.batches import make_batch
from classifier.tests.situations import (
    at_once,
    claim,
    load_version,
    other_connection,
    record,
    send_text,
    wait_until,
)
from reports.models import AuditEntry
from reports.tests.sending import Client


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    return User.objects.create(username="dana")


def make_candidate(actor: User) -> PolicyVersion:
    draft = load_version(prompt="Judge anew.", activate=False)
    return versions.make_candidate(number=draft.number, actor=actor)


def test_activation_cancels_what_is_asked_under_other_versions_and_nothing_else(
    policy: PolicyVersion, dana: User
) -> None:
    candidate = make_candidate(dana)
    cut_off = [make_batch(policy, state=state) for state in ("planning", "running", "stopped")]
    called_in = make_batch(policy, state="cancelling", note="by dana")
    ended = make_batch(policy, state="done", ended_at=policy.activated_at)
    own = make_batch(candidate)

    versions.activate(number=candidate.number, actor=dana)

    found = {batch.pk: (batch.state, batch.note) for batch in Batch.objects.all()}
    why = "policy version 2 became active"
    assert [found[batch.pk] for batch in cut_off] == [("cancelling", why)] * 3
    assert found[called_in.pk] == ("cancelling", "by dana")
    assert found[ended.pk] == ("done", "")
    assert found[own.pk] == ("running", "")
    detail = AuditEntry.objects.filter(action="policy_activated").latest("pk").detail
    assert detail == {"batches_cancelled": [batch.pk for batch in cut_off]}


def test_a_version_from_a_file_cancels_them_as_well(policy: PolicyVersion) -> None:
    batch = make_batch(policy)

    load_version(prompt="Judge anew.")

    batch.refresh_from_db()
    assert batch.state == Batch.State.CANCELLING


@pytest.mark.django_db(transaction=True)
def test_who_records_for_a_batch_and_who_activates_do_not_lock_each_other_out(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    """The recorder holds the batch's row and needs the version's at its commit, for the foreign key."""
    claimed = claim(send_text(client_of_sender), policy)
    batch = make_batch(policy)
    candidate = make_candidate(dana)

    def activation_waits() -> bool:
        with other_connection() as other:
            found = other.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock' AND query LIKE '%%classifier_batch%%'"
            ).fetchone()
        return found is not None and found[0] == 1

    def record_one() -> None:
        with transaction.atomic():
            Batch.objects.filter(pk=batch.pk).update(prompt_tokens=1)
            wait_until(activation_waits)
            assert record(claimed) == Recorded.CURRENT

    def start() -> None:
        # The recorder must have its batch first.
        wait_until(lambda: _held("classifier_batch"))
        versions.activate(number=candidate.number, actor=dana)

    at_once([record_one, start])

    batch.refresh_from_db()
    assert (batch.state, batch.prompt_tokens) == (Batch.State.CANCELLING, 1)
    assert PolicyVersion.objects.active() == candidate


@pytest.mark.django_db(transaction=True)
def test_who_plans_a_batch_does_not_wait_for_the_version_with_the_batch_in_hand(
    policy: PolicyVersion,
) -> None:
    """Activation has the version's row and waits for the batch's: the other way round is a deadlock."""
    batch = make_batch(policy, state="planning", planned_up_to=0)

    with other_connection() as other, connection.cursor() as cursor:
        other.execute("UPDATE classifier_policyversion SET state = state WHERE state = 'active'")
        cursor.execute("SET lock_timeout = '1s'")
        assert write_jobs(batch_id=batch.pk, through=Job.Through.CALLS)
        cursor.execute("SET lock_timeout = DEFAULT")


def _held(table: str) -> bool:
    """Somebody has written to the table and not committed yet."""
    with other_connection() as other:
        found = other.execute(
            "SELECT count(*) FROM pg_locks WHERE relation = %s::regclass"
            " AND mode = 'RowExclusiveLock' AND granted",
            [table],
        ).fetchone()
    return found is not None and found[0] > 0
