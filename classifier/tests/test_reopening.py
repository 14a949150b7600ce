"""`reopen_disagreements`: the worst come back to people, never more than was allowed."""

from functools import partial

import pytest
from django.apps import apps

from classifier.batches.control import BatchStateError, cancel_batch
from classifier.batches.drive import drive
from classifier.batches.reopen import CHUNK, reopen_default, reopen_disagreements, reopen_more
from classifier.disagreements import settle_open
from classifier.models import Batch, Disagreement, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import (
    ask_again,
    disagreement_about,
    found_harmless,
    judged_safe,
    next_version,
)
from classifier.tests.situations import at_once, claim, make_many, record
from conftest import check_constraints_now
from reports.models import AuditEntry, Item, Report
from reports.tests.outcomes import resolve
from reports.tests.sending import Client

STATE = Disagreement.State
SPAM, HATE, THREAT = "spam", "hate", "credible_threat"  # low, high, critical


def reopen(batch: Batch, at_most: int) -> int:
    return reopen_disagreements(batch_id=batch.pk, at_most=at_most, actor_name="dana")


def in_review() -> set[int]:
    return set(Report.objects.filter(status="needs_review").values_list("pk", flat=True))


@pytest.mark.django_db
def test_the_most_severe_come_first_then_what_nobody_saw_then_the_oldest(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    made = [judged_safe, found_harmless, found_harmless, judged_safe, judged_safe]
    mild, decided, worst, first, second = (make(client_of_sender, policy) for make in made)
    batch = make_batch(next_version())
    for report, category in (
        (mild, SPAM),
        (decided, HATE),
        (worst, THREAT),
        (first, HATE),
        (second, HATE),
    ):
        ask_again(report, batch, category=category)

    order = []
    for bound in range(1, 7):
        before = in_review()
        assert reopen(batch, bound) == (bound < 6)
        order += sorted(in_review() - before)

    assert order == [each.pk for each in (worst, first, second, decided, mild)]
    assert Batch.objects.get().reopened == 5
    assert set(Disagreement.objects.values_list("state", flat=True)) == {STATE.REOPENED}
    check_constraints_now()


@pytest.mark.django_db
def test_a_decided_report_comes_back_and_what_the_person_decided_stands(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = found_harmless(client_of_sender, policy)
    decisions = list(apps.get_model("reviews", "Decision").objects.values())
    batch = make_batch(next_version())
    ask_again(report, batch, category=HATE)
    report.refresh_from_db()
    assert (report.status, report.item.list) == ("resolved", "resolved")

    assert reopen(batch, 1) == 1

    report.refresh_from_db()
    item = Item.objects.get()
    assert (report.status, report.rank) == ("needs_review", 3)
    assert (item.list, item.rank, item.resolved_at) == ("needs_review", 3, None)
    assert list(apps.get_model("reviews", "Decision").objects.values()) == decisions
    ended = disagreement_about(report)
    assert (ended.state, ended.ended_at is None) == (STATE.REOPENED, False)
    entry = AuditEntry.objects.get(action="reopened_by_newer_verdict")
    assert (entry.actor_name, entry.object_id) == ("dana", str(report.pk))
    assert entry.detail == {"batch": batch.pk, "policy_version": 2}


@pytest.mark.django_db
def test_without_a_bound_only_what_nobody_saw_and_is_critical_comes_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    made = [(judged_safe, THREAT), (judged_safe, HATE), (found_harmless, THREAT)]
    reports = [(make(client_of_sender, policy), category) for make, category in made]
    batch = make_batch(next_version())
    for report, category in reports:
        ask_again(report, batch, category=category)

    counts = [reopen_default(batch_id=batch.pk, actor_name="dana") for _call in range(2)]

    assert counts == [1, 0]
    assert in_review() == {reports[0][0].pk}


@pytest.mark.django_db
def test_the_batch_s_own_bound_holds_whatever_is_asked(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(3)]
    batch = make_batch(next_version(), reopen_at_most=2)
    for report in reports:
        ask_again(report, batch, category=HATE)

    assert (reopen(batch, 9), reopen(batch, 9)) == (2, 0)


@pytest.mark.django_db
def test_another_batch_s_disagreements_are_left_alone(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = judged_safe(client_of_sender, policy)
    version = next_version()
    batch, other = make_batch(version), make_batch(version)
    ask_again(report, batch, category=HATE)

    assert reopen(other, 9) == 0


@pytest.mark.django_db
def test_more_than_a_chunk_are_reopened_and_each_has_its_audit_row(policy: PolicyVersion) -> None:
    make_many("crowd", CHUNK + 5)
    batch = make_batch(next_version())
    for report in Report.objects.all():
        record(claim(report, policy))
        ask_again(report, batch, category=SPAM)

    assert reopen(batch, CHUNK + 3) == CHUNK + 3

    audited = AuditEntry.objects.filter(action="reopened_by_newer_verdict")
    assert set(audited.values_list("object_id", flat=True)) == {str(each) for each in in_review()}
    assert audited.count() == CHUNK + 3


@pytest.mark.django_db
def test_what_a_person_or_a_newer_verdict_settled_is_not_reopened(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    decided, judged = (judged_safe(client_of_sender, policy) for _each in range(2))
    batch = make_batch(next_version())
    for report in (decided, judged):
        ask_again(report, batch, category=THREAT)
    resolve(decided)
    settle_open([decided.pk])
    ask_again(judged, make_batch(next_version()), category="none")

    assert reopen(batch, 9) == 0
    assert in_review() == set()


def ended(batch: Batch) -> Batch:
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.DONE, ended_at=batch.created_at)
    return batch


def more(batch: Batch, at_most: int) -> int:
    return reopen_more(batch_id=batch.pk, at_most=at_most, actor_name="dana")


@pytest.mark.django_db
@pytest.mark.parametrize("bound", [None, 1])
def test_of_a_batch_that_ended_more_come_back_and_its_bound_grows_with_them(
    client_of_sender: Client, policy: PolicyVersion, bound: int | None
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(4)]
    batch = ended(make_batch(next_version(), reopen_at_most=bound))
    for report, category in zip(reports, (SPAM, HATE, HATE, THREAT), strict=True):
        ask_again(report, batch, category=category)
    reopen(batch, 1)
    assert in_review() == {reports[3].pk}

    assert more(batch, 2) == 2

    assert in_review() == {each.pk for each in reports[1:]}
    batch.refresh_from_db()
    assert (batch.reopened, batch.reopen_at_most) == (3, 3)
    entry = AuditEntry.objects.get(action="batch_reopens_more")
    assert (entry.actor_name, entry.object_id) == ("dana", str(batch.pk))
    assert entry.detail == {"before": bound, "after": 3}
    assert [more(batch, 5) for _call in range(2)] == [1, 0]
    assert AuditEntry.objects.filter(action="batch_reopens_more").count() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("state", ["planning", "running", "stopped", "cancelling"])
def test_before_it_ended_no_more_come_back_than_it_was_started_with(
    client_of_sender: Client, policy: PolicyVersion, state: str
) -> None:
    report = judged_safe(client_of_sender, policy)
    batch = make_batch(next_version(), state=state)
    ask_again(report, batch, category=HATE)

    with pytest.raises(BatchStateError, match="has not ended"):
        more(batch, 1)

    assert in_review() == set()
    assert Batch.objects.get().reopen_at_most is None


@pytest.mark.django_db
@pytest.mark.parametrize(("bound", "reopened"), [(None, 1), (2, 2)])
def test_a_cancelled_batch_brings_back_what_it_found(
    client_of_sender: Client, policy: PolicyVersion, bound: int | None, reopened: int
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(3)]
    batch = make_batch(next_version(), reopen_at_most=bound)
    for report, category in zip(reports, (SPAM, HATE, THREAT), strict=True):
        ask_again(report, batch, category=category)
    cancel_batch(batch_id=batch.pk, actor_name="dana")

    drive(between=lambda: None)

    batch.refresh_from_db()
    assert batch.state == Batch.State.CANCELLED
    assert in_review() == {each.pk for each in reports[-reopened:]}


@pytest.mark.django_db(transaction=True)
def test_four_at_once_reopen_no_more_than_the_bound(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = [judged_safe(client_of_sender, policy) for _each in range(8)]
    batch = make_batch(next_version())
    for report in reports:
        ask_again(report, batch, category=HATE)

    counts = at_once([partial(reopen, batch, 5)] * 4)

    assert sum(counts) == Batch.objects.get().reopened == len(in_review()) == 5
    assert AuditEntry.objects.filter(action="reopened_by_newer_verdict").count() == 5
