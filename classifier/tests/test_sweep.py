"""The sweep tops a short queue up from the backlog, by floor and fairly, and never beyond its bound."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from celery import current_app
from django.db import connection
from django.db.models import F, Value
from django.db.models.functions import Now
from django.utils import timezone
from pytest_django import Settings

from classifier.jobs import NUDGE_LOST_SECONDS
from classifier.models import Heartbeat, Job, PolicyVersion
from classifier.sweep import GRACE_SECONDS, Swept, sweep_once
from classifier.tests.situations import (
    at_once,
    empty_queue,
    make_many,
    other_connection,
    queued,
)
from reports.models import Report
from reports.nudge import Lane, publish, queue_length

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("policy")]


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    empty_queue()
    yield
    empty_queue()


@pytest.fixture
def bound(settings: Settings) -> int:
    settings.QUEUE_BOUND = 10
    return 10


def take(count: int) -> None:
    """A worker takes the next nudges out of the queue and dies with them."""
    with current_app.connection_for_write() as broker:
        broker.default_channel.client.rpop(Lane.LIVE.value, count)  # type: ignore[attr-defined]


def something_waits() -> None:
    """The queue is not empty, so nudges that went out before are not taken for lost."""
    publish(report_id=0, lane=Lane.LIVE)


def ids_of(sender: str) -> list[int]:
    rows = Report.objects.filter(sender__name=sender).order_by("received_at", "id")
    return list(rows.values_list("pk", flat=True))


def make_job(report_id: int, **changes: object) -> Job:
    policy = PolicyVersion.objects.get()
    return Job.objects.create(report_id=report_id, policy_version=policy, **changes)


def in_seconds(seconds: float) -> object:
    return Now() + Value(timedelta(seconds=seconds))


# --- The bound


def test_ten_sweeps_over_three_thousand_leave_the_queue_at_its_bound(settings: Settings) -> None:
    settings.QUEUE_BOUND = 200
    make_many("chat-app", 3_000)

    swept = [sweep_once().nudged for _tick in range(10)]

    assert swept == [200] + [0] * 9
    assert queue_length(Lane.LIVE) == 200
    assert sorted(queued()) == ids_of("chat-app")[:200]


def test_what_workers_took_is_topped_up_with_others(bound: int) -> None:
    make_many("chat-app", 25)
    sweep_once()
    take(4)

    assert sweep_once() == Swept(nudged=4)

    assert queued() == ids_of("chat-app")[4:14]
    assert queue_length(Lane.LIVE) == bound


def test_a_queue_beyond_its_bound_gets_nothing(bound: int) -> None:
    make_many("chat-app", 5)
    for _nudge in range(bound + 3):
        something_waits()

    assert sweep_once().nudged == 0


def test_a_short_backlog_is_nudged_once(bound: int) -> None:
    make_many("chat-app", 3)

    assert [sweep_once().nudged for _tick in range(3)] == [3, 0, 0]
    assert len(queued()) == 3 < bound


# --- The order


def test_the_highest_floor_goes_first_whoever_sent_it(bound: int) -> None:
    make_many("chat-app", 20, age_seconds=900)
    make_many("forum", 2, floor=4)
    make_many("games", 3, floor=1)

    sweep_once()

    assert queued()[:5] == ids_of("forum") + ids_of("games")
    assert queued()[5:] == ids_of("chat-app")[: bound - 5]


def test_within_a_floor_the_senders_take_turns() -> None:
    make_many("flooding", 100, age_seconds=900)
    make_many("forum", 3)
    make_many("games", 1)

    sweep_once()

    flooding, forum, games = ids_of("flooding"), ids_of("forum"), ids_of("games")
    assert queued()[:8] == [
        flooding[0], forum[0], games[0], flooding[1], forum[1], flooding[2], forum[2], flooding[3],
    ]  # fmt: skip


# --- What is due


def test_a_fresh_report_is_left_to_its_own_nudge() -> None:
    something_waits()
    make_many("chat-app", 2, age_seconds=GRACE_SECONDS - 5)
    make_many("forum", 1, age_seconds=GRACE_SECONDS + 1)

    assert sweep_once().nudged == 1

    assert queued()[1:] == ids_of("forum")


def test_a_nudged_report_is_nudged_again_when_the_nudge_is_lost() -> None:
    something_waits()
    make_many("chat-app", 2)
    sweep_once()

    Job.objects.update(nudged_at=in_seconds(5 - NUDGE_LOST_SECONDS))
    assert sweep_once().nudged == 0

    Job.objects.update(nudged_at=in_seconds(-1 - NUDGE_LOST_SECONDS))
    assert sweep_once().nudged == 2


def test_after_a_flushed_broker_everything_is_nudged_again(bound: int) -> None:
    make_many("chat-app", 5)
    make_many("forum", 5, age_seconds=0)
    sweep_once()
    take(bound)

    assert sweep_once().nudged == bound

    assert sorted(queued()) == sorted(ids_of("chat-app") + ids_of("forum"))


def test_what_waits_is_parked_or_is_worked_on_is_left_alone() -> None:
    make_many("chat-app", 4)
    not_due, parked, leased, due = ids_of("chat-app")
    make_job(not_due, reason="provider_timeout", not_before=in_seconds(60))
    make_job(parked, reason="too_long", parked=True)
    make_job(leased, attempts=1, claims=1, lease_until=in_seconds(60))

    assert sweep_once().nudged == 1

    assert queued() == [due]


def test_what_is_due_again_is_nudged() -> None:
    make_many("chat-app", 3)
    waited, lapsed, replayed = ids_of("chat-app")
    make_job(waited, reason="provider_timeout", not_before=in_seconds(-1))
    make_job(lapsed, attempts=2, claims=2, lease_until=in_seconds(-1))
    make_job(replayed, reason="too_long")

    assert sweep_once().nudged == 3

    job = Job.objects.get(report=lapsed)
    assert (job.attempts, job.claims) == (2, 2)  # a nudge is no claim


def test_judged_and_resolved_reports_are_not_nudged() -> None:
    make_many("chat-app", 2)
    judged, _pending = ids_of("chat-app")
    Report.objects.filter(pk=judged).update(status=Report.Status.JUDGED_SAFE)

    assert sweep_once().nudged == 1

    Report.objects.filter(pk=judged).update(status=Report.Status.PENDING)


def test_without_an_active_policy_nothing_is_nudged() -> None:
    make_many("chat-app", 2)
    PolicyVersion.objects.update(state=PolicyVersion.State.RETIRED)

    assert sweep_once() == Swept(nudged=0, parked=0)


# --- What has no attempts left


def test_a_job_whose_last_holder_died_is_parked() -> None:
    make_many("chat-app", 3)
    died, works, has_more = ids_of("chat-app")
    last = Job.MAX_ATTEMPTS
    make_job(died, attempts=last, claims=last, lease_until=in_seconds(-1))
    make_job(works, attempts=last, claims=last, lease_until=in_seconds(60))
    make_job(has_more, attempts=last - 1, claims=last, lease_until=in_seconds(-1))

    assert sweep_once() == Swept(nudged=1, parked=1)

    parked = Job.objects.get(parked=True)
    assert (parked.report_id, parked.reason, parked.lease_until) == (died, "holder_died", None)
    assert queued() == [has_more]


# --- One at a time


def test_while_another_has_the_turn_nothing_is_done() -> None:
    make_many("chat-app", 2)
    with other_connection() as other:
        other.execute("SELECT pg_advisory_lock(hashtext('sweep'))")

        assert sweep_once() == Swept(had_turn=False)
        assert (queued(), Heartbeat.objects.count()) == ([], 0)
        # Given back here: a closed connection gives it back only when its server process has ended.
        other.execute("SELECT pg_advisory_unlock(hashtext('sweep'))")

    assert sweep_once().nudged == 2


def test_a_turn_ends_with_its_sweep() -> None:
    sweep_once()

    with other_connection() as other:
        assert other.execute("SELECT pg_try_advisory_lock(hashtext('sweep'))").fetchone() == (True,)


@pytest.mark.django_db(transaction=True)
def test_four_sweeps_at_once_nudge_every_report_once(settings: Settings) -> None:
    settings.QUEUE_BOUND = 50
    make_many("chat-app", 30)

    swept = at_once([sweep_once] * 4)

    assert sum(each.nudged for each in swept) == 30
    assert sorted(queued()) == ids_of("chat-app")


def test_every_turn_leaves_a_heartbeat() -> None:
    sweep_once()
    Heartbeat.objects.update(at=F("at") - timedelta(hours=1))

    sweep_once()

    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    assert now - Heartbeat.objects.get(name="sweep").at < timedelta(minutes=1)
    assert timezone.is_aware(now)
