"""A batch through the provider's Batch API, over real HTTP: each report gets one verdict or a reason."""

from collections import Counter

import pytest

from classifier.batches import ending
from classifier.batches.cut import choose_lines
from classifier.models import (
    Batch,
    BatchLine,
    Classification,
    Disagreement,
    Job,
    PolicyVersion,
    ProviderBatch,
)
from classifier.provider import Fault, ProviderError
from classifier.tests.history import next_version, send_judged, start
from classifier.tests.reconciling import one_round, rounds_until_done
from classifier.tests.situations import claim, record, send_text
from dev.standin.client import Standin
from reports.models import Report
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def batch(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> Batch:  # noqa: ARG001 - it answers
    """Six reports of history to be asked under a newer version, started."""
    send_judged(client_of_sender, 6, policy=policy)
    return start(next_version())


def current_versions() -> Counter[tuple[int, int]]:
    """How many current classifications each report has, by report and version."""
    rows = Classification.objects.filter(superseded=False)
    return Counter(rows.values_list("report_id", "policy_version_id"))


def assert_each_has_one_current_verdict(batch: Batch) -> None:
    reports = Report.objects.values_list("pk", flat=True)
    assert current_versions() == Counter((pk, batch.policy_version_id) for pk in reports)


def outcomes() -> Counter[str]:
    return Counter(BatchLine.objects.values_list("outcome", flat=True))


def test_every_report_is_judged_anew_and_nothing_is_left_at_the_provider(
    batch: Batch, standin: Standin
) -> None:
    rounds_until_done(batch)

    assert batch.state == Batch.State.DONE
    assert_each_has_one_current_verdict(batch)
    assert outcomes() == {"recorded": 6}
    assert set(Job.objects.filter(batch=batch).values_list("done", flat=True)) == {True}
    assert ProviderBatch.objects.get().state == ProviderBatch.State.DONE
    standing = standin.standing()
    assert standing["files"] == []
    assert len(standing["batches"]) == 1
    assert batch.prompt_tokens > 0


def test_a_second_round_after_the_end_asks_nothing(batch: Batch, standin: Standin) -> None:
    rounds_until_done(batch)
    one_round()
    before = standin.standing()["counts"]

    assert not one_round()

    assert standin.standing()["counts"] == before


def test_the_custom_id_is_all_that_the_provider_learns_of_a_report(
    batch: Batch, standin: Standin
) -> None:
    rounds_until_done(batch)

    report_ids = {str(each) for each in Report.objects.values_list("public_id", flat=True)}
    for call in standin.calls():
        assert not any(each in str(call) for each in report_ids)
    assert not report_ids & {str(each) for each in BatchLine.objects.values_list("pk", flat=True)}


@pytest.mark.parametrize("answered", [0, 0.5])
@pytest.mark.parametrize("ends", ["expired", "cancelled", "failed"])
def test_what_a_cut_end_leaves_is_sent_again_and_then_asked_by_calls(
    batch: Batch, standin: Standin, ends: str, answered: float
) -> None:
    standin.behave(batches={"ends": ends, "answered": answered})
    for _round in range(40):
        one_round()

    jobs = Job.objects.filter(batch=batch)
    for job in jobs:
        assert job.done or (job.through, job.submissions) == ("calls", 3)
    assert jobs.filter(done=True).count() == Counter(outcomes())["recorded"]
    assert BatchLine.objects.filter(outcome="").count() == 0


def test_lines_of_nobody_broken_ones_and_second_ones_void_no_other(
    batch: Batch, standin: Standin
) -> None:
    standin.behave(batches={"duplicates": 2, "unknown": 2, "broken": 2})

    rounds_until_done(batch)

    assert_each_has_one_current_verdict(batch)
    assert outcomes() == {"recorded": 6}


def test_failed_lines_are_sent_again_with_the_next_file(batch: Batch, standin: Standin) -> None:
    standin.behave(batches={"fails": 0.5})
    while not BatchLine.objects.exclude(outcome="").exists():
        one_round()
    standin.behave()

    rounds_until_done(batch)

    assert_each_has_one_current_verdict(batch)
    assert outcomes()["failed"] > 0
    assert ProviderBatch.objects.count() == 2


def test_what_a_filter_blocked_is_a_persons_and_asked_nowhere_again(
    batch: Batch, standin: Standin
) -> None:
    standin.behave(batches={"fails": 1, "fail_status": 400, "fail_code": "content_filter"})

    rounds_until_done(batch)

    assert outcomes() == {"refused": 6}
    jobs = Job.objects.filter(batch=batch)
    assert set(jobs.values_list("parked", "reason")) == {(True, "content_filtered")}
    assert set(Report.objects.values_list("status", flat=True)) == {"needs_review"}


def test_an_answer_that_the_reader_refuses_is_no_verdict(batch: Batch, standin: Standin) -> None:
    standin.script({"kind": "content", "content": "It is harmless."}, times=6)

    rounds_until_done(batch)

    assert_each_has_one_current_verdict(batch)
    assert outcomes() == {"refused": 6, "recorded": 6}


def test_a_violation_that_the_older_version_judged_safe_is_listed_and_moves_nothing(
    batch: Batch, standin: Standin
) -> None:
    standin.script({"kind": "verdict", "category": "harassment", "confidence": 0.9}, times=None)

    rounds_until_done(batch)

    assert Disagreement.objects.open().count() == 6
    assert set(Report.objects.values_list("status", flat=True)) == {"judged_safe"}


def test_a_file_too_large_for_the_provider_is_cut_in_smaller_ones(
    batch: Batch, standin: Standin
) -> None:
    standin.behave(batches={"token_limit": 4})

    rounds_until_done(batch)

    assert_each_has_one_current_verdict(batch)
    assert set(Job.objects.filter(batch=batch).values_list("submissions", flat=True)) == {0}
    assert max(each["lines"] for each in ProviderBatch.objects.values("lines")[1:]) <= 3


def test_a_report_that_one_line_cannot_ask_goes_by_calls_and_the_others_are_sent(
    client_of_sender: Client, policy: PolicyVersion, standin: Standin
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    # Half as much again as one call reads, however the model's counts come out.
    chapters = [{"text": "A long story. " * 1_400} for _chapter in range(6)]
    long = send_text(client_of_sender, messages=chapters)
    record(claim(long, policy))
    batch = start(next_version())
    for _round in range(10):
        one_round()

    assert outcomes() == {"recorded": 2, "not_sent": 1}
    assert set(BatchLine.objects.filter(outcome="not_sent").values_list("reason", flat=True)) == {
        "too_long"
    }
    left = Job.objects.get(batch=batch, done=False)
    assert (left.report_id, left.through, left.parked) == (long.pk, "calls", False)
    assert standin.standing()["counts"]["create"] == 1


def test_without_a_batch_api_the_batch_goes_by_calls(batch: Batch, standin: Standin) -> None:
    standin.behave(batches={"offered": False})

    one_round()

    batch.refresh_from_db()
    assert batch.state == Batch.State.RUNNING
    assert set(Job.objects.filter(batch=batch).values_list("through", flat=True)) == {"calls"}
    assert not ProviderBatch.objects.exists()


def test_while_nobody_knows_whether_it_takes_batches_the_batch_says_what_it_waits_for(
    batch: Batch, standin: Standin
) -> None:
    standin.fail("list_batches", {"kind": "error", "status": 503}, times=2)
    one_round()
    one_round()

    batch.refresh_from_db()
    assert (batch.state, batch.note) == (
        Batch.State.PLANNING,
        "the provider does not say whether it takes batches",
    )
    one_round()
    batch.refresh_from_db()
    assert (batch.state, batch.note) == (Batch.State.RUNNING, "")


def test_where_its_batch_api_ends_what_is_out_already_is_not_asked_by_calls_too(
    batch: Batch, standin: Standin
) -> None:
    one_round()
    out = choose_lines(batch_id=batch.pk, at_most=2)
    refused = choose_lines(batch_id=batch.pk, at_most=2)
    assert out is not None
    assert refused is not None
    standin.behave(batches={"offered": False})

    ending.refused(refused, ProviderError(Fault.REJECTED, status=404))

    jobs = Job.objects.filter(batch=batch)
    assert jobs.filter(through="provider_batch").count() == 2
    by_calls = set(jobs.filter(through="calls").values_list("pk", flat=True))
    assert by_calls.isdisjoint(out.all_lines.values_list("job", flat=True))
