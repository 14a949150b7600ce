"""A roll-back says again what the version of the same content had said, and asks no model."""

import pytest

from classifier.batches.carry import carry_over
from classifier.batches.control import cancel_batch
from classifier.models import Batch, BatchFlow, Classification, Disagreement, Job, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again, disagreement_about, judged_safe, next_version
from classifier.tests.situations import claim, load_version, record, send_text, versions_of
from conftest import check_constraints_now
from reports.models import Report, Severity
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db


def roll_back(policy: PolicyVersion, *reports: Report) -> Batch:
    """A batch under a new version with this one's content, its jobs planned."""
    version = load_version(prompt=policy.prompt)
    assert version.content_hash == policy.content_hash
    batch = make_batch(version, state=Batch.State.PLANNING)
    for report in reports:
        Job.objects.create(report=report, policy_version=version, lane="batch", batch=batch)
    return batch


def test_the_old_verdict_becomes_current_again_and_costs_nothing(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), category="hate")
    batch = roll_back(policy, report)

    assert [carry_over(batch_id=batch.pk) for _call in range(2)] == [1, 0]

    assert versions_of(report) == {1: True, 2: True, 3: False}
    first = Classification.objects.get(policy_version=policy)
    row = Classification.objects.get(superseded=False)
    assert (row.carried_from, row.category, row.summary, row.prompt_tokens) == (
        first,
        first.category,
        first.summary,
        first.prompt_tokens,
    )
    batch.refresh_from_db()
    assert (batch.carried, batch.prompt_tokens, batch.completion_tokens) == (1, 0, 0)
    job = Job.objects.get(batch=batch)
    assert (job.done, job.claims) == (True, 0)
    flow = BatchFlow.objects.get(batch=batch)
    assert (flow.before, flow.after, flow.reports) == ("hate", "none", 1)
    check_constraints_now()


def test_people_see_of_it_what_they_see_of_an_answer(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    disputed = judged_safe(client_of_sender, policy)
    ask_again(disputed, make_batch(next_version()), category="hate")
    batch = roll_back(policy, disputed)

    carry_over(batch_id=batch.pk)

    disputed.refresh_from_db()
    assert (disputed.status, disputed.rank) == (Report.Status.JUDGED_SAFE, Severity.NONE)
    assert disagreement_about(disputed).state == Disagreement.State.SETTLED


def test_what_the_content_never_judged_is_still_to_be_asked(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = send_text(client_of_sender)
    record(claim(report, next_version()))
    batch = roll_back(policy, report)

    assert carry_over(batch_id=batch.pk) == 0

    assert versions_of(report) == {2: False}
    assert not Job.objects.get(batch=batch).done


def test_more_than_a_piece_are_carried_over_piece_by_piece(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(3)]
    next_version()
    batch = roll_back(policy, *reports)

    assert carry_over(batch_id=batch.pk, piece=2) == 3
    assert carry_over(batch_id=batch.pk, piece=2) == 0
    assert Batch.objects.get(pk=batch.pk).carried == 3


def test_nothing_more_is_carried_over_once_somebody_has_cancelled(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(3)]
    next_version()
    batch = roll_back(policy, *reports)

    def cancel() -> None:
        cancel_batch(batch_id=batch.pk, actor_name="dana")

    assert carry_over(batch_id=batch.pk, between=cancel, piece=1) == 1
    assert carry_over(batch_id=batch.pk, piece=1) == 0
