"""A batch's plan and its jobs: history only, each report once, in pieces that a dead planner leaves."""

import pytest
from django.db import connection, transaction

from classifier.batches.plan import plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import BatchNotStartedError, SameBatchRunsError
from classifier.batches.write_jobs import write_jobs
from classifier.models import Batch, Job, PolicyVersion
from classifier.tests.history import EVERYTHING, next_version, send_judged, start, write_all_jobs
from classifier.tests.situations import send_text
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db

Purpose = Batch.Purpose


def test_a_plan_counts_history_and_leaves_pending_reports_to_the_live_lane(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 3, policy=policy)
    send_text(client_of_sender, "Nobody has judged this one yet.")
    newer = next_version()

    plan = plan_batch(purpose=Purpose.POLICY_MIGRATION, policy=newer, selection=EVERYTHING)

    assert (plan.reports, plan.carried, plan.never) == (3, 0, 0)
    assert sum(plan.by_language.values()) == 3
    assert plan.by_status == {"judged_safe": 3}
    assert plan.oldest is not None
    assert plan.newest is not None
    assert plan.oldest <= plan.newest
    assert plan.through == ""
    assert not Job.objects.filter(policy_version=newer).exists()


def test_under_the_version_that_judged_them_there_is_nothing_to_ask(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 2, policy=policy)

    with pytest.raises(BatchNotStartedError, match="nothing to ask"):
        start(policy)


def test_every_selected_report_has_one_job_whatever_the_size_of_the_pieces(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    reports = send_judged(client_of_sender, 8, policy=policy)
    batch = start(next_version())

    write_all_jobs(batch, piece=3)

    jobs = Job.objects.filter(batch=batch)
    assert sorted(jobs.values_list("report_id", flat=True)) == [each.pk for each in reports]
    assert set(jobs.values_list("lane", "through", "done")) == {("batch", "calls", False)}
    assert (batch.wanted, batch.planned_up_to) == (8, batch.last_report)


def test_a_piece_whose_transaction_failed_is_written_by_whoever_plans_on(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 5, policy=policy)
    batch = start(next_version())
    write_jobs(batch_id=batch.pk, through=Job.Through.CALLS, piece=2)
    with pytest.raises(KeyboardInterrupt), transaction.atomic():
        write_jobs(batch_id=batch.pk, through=Job.Through.CALLS, piece=2)
        raise KeyboardInterrupt

    write_all_jobs(batch, piece=2)

    assert Job.objects.filter(batch=batch).count() == batch.wanted == 5


def test_a_limit_takes_the_oldest(client_of_sender: Client, policy: PolicyVersion) -> None:
    reports = send_judged(client_of_sender, 5, policy=policy)
    batch = start(next_version(), Selection(limit=3))

    write_all_jobs(batch, piece=2)

    jobs = Job.objects.filter(batch=batch).order_by("report_id")
    assert list(jobs.values_list("report_id", flat=True)) == [each.pk for each in reports[:3]]


def test_what_arrives_after_the_start_is_not_of_the_batch(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    batch = start(next_version())
    send_judged(client_of_sender, 2, policy=policy)

    write_all_jobs(batch)

    assert batch.wanted == 2


def test_the_same_batch_is_not_started_twice(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 2, policy=policy)
    newer = next_version()
    first = start(newer)

    with pytest.raises(SameBatchRunsError) as refused:
        start(newer)

    assert refused.value.batch == first
    assert Batch.objects.count() == 1


def test_jobs_of_a_running_batch_are_nobody_elses(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 4, policy=policy)
    newer = next_version()
    first = start(newer, Selection(limit=3))
    write_all_jobs(first)

    second = start(newer)
    write_all_jobs(second)

    assert (first.wanted, second.wanted) == (3, 1)


def test_history_is_asked_under_the_active_version_only(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    send_judged(client_of_sender, 1, policy=policy)
    newer = next_version()
    PolicyVersion.objects.filter(pk=newer.pk).update(state="retired")

    with pytest.raises(BatchNotStartedError, match="is retired"):
        start(newer)


def test_what_a_model_refused_is_counted_apart_and_gets_no_job(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    refused, _other = send_judged(client_of_sender, 2, policy=policy)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE reports_report SET floor_rules = '[\"model_refused\"]' WHERE id = %s",
            [refused.pk],
        )
    batch = start(next_version())
    write_all_jobs(batch)

    plan = plan_batch(purpose=Purpose.NIGHTLY, policy=batch.policy_version, selection=EVERYTHING)

    assert plan.never == 1
    assert not Job.objects.filter(batch=batch, report=refused).exists()


def test_a_limited_cost_needs_a_price(client_of_sender: Client, policy: PolicyVersion) -> None:
    send_judged(client_of_sender, 1, policy=policy)

    with pytest.raises(BatchNotStartedError, match="record_price"):
        start(next_version(), max_cost=5)
