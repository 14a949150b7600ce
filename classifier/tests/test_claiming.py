"""A job is in one worker's hands at a time; who lost it changes nothing any more."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from classifier.cooldown import LONGEST_REST_SECONDS
from classifier.jobs import (
    LONGEST_WAIT_SECONDS,
    PARKED_AT_ONCE,
    RAISES_FLOOR,
    Claimed,
    claim_job,
    hold_back,
    park_dead,
    put_off,
)
from classifier.models import Job, PolicyVersion, WaitingReason
from classifier.recording import record_answer
from classifier.replay import Selection, execute_replay, plan_replay
from classifier.rules import Judgement
from classifier.sweep import choose
from classifier.tests.situations import (
    at_once,
    claim,
    end_lease,
    end_wait,
    job_of,
    load_version,
    make_asked,
    other_connection,
    seconds_until_due,
    send_text,
)
from reports.models import Report, Severity
from reports.nudge import Lane
from reports.tests.sending import Client

JITTER = 1.2  # the longest wait may be stretched by this


@pytest.fixture
def report(client_of_sender: Client, policy: PolicyVersion) -> Report:
    assert policy.state == PolicyVersion.State.ACTIVE
    return send_text(client_of_sender)


def claim_if_free(report: Report, policy: PolicyVersion) -> Claimed | None:
    return claim_job(report_id=report.pk, policy=policy, lane=Lane.LIVE)


def facts(job: Job) -> dict[str, Any]:
    return {field.attname: getattr(job, field.attname) for field in Job._meta.concrete_fields}


def finish(claimed: Claimed) -> None:
    record_answer(
        claimed=claimed,
        asked=make_asked(),
        judgement=Judgement(safe=True, severity=Severity.NONE, rules=()),
    )


# --- Who gets it


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("lapsed", [False, True], ids=["a new job", "a lapsed lease"])
def test_of_sixteen_claims_at_once_one_wins(
    report: Report, policy: PolicyVersion, *, lapsed: bool
) -> None:
    if lapsed:
        claim(report, policy)
        end_lease(report)

    claims = at_once([lambda: claim_if_free(report, policy)] * 16)

    (winner,) = [each for each in claims if each is not None]
    assert winner.number == (2 if lapsed else 1)
    job = job_of(report)
    assert (job.claims, job.attempts) == (winner.number, winner.number)


def test_a_lease_that_runs_refuses_others(report: Report, policy: PolicyVersion) -> None:
    claim(report, policy)

    assert claim_if_free(report, policy) is None


def test_a_lease_lasts_as_long_as_the_settings_say(
    report: Report, policy: PolicyVersion, settings: Settings
) -> None:
    settings.LEASE_SECONDS = -1.0
    claim(report, policy)

    assert claim(report, policy).number == 2


def test_a_lapsed_lease_is_taken_over_under_a_higher_number(
    report: Report, policy: PolicyVersion
) -> None:
    first = claim(report, policy)
    end_lease(report)

    second = claim(report, policy)

    assert (first.job_id, second.job_id) == (second.job_id, first.job_id)
    assert (first.number, second.number) == (1, 2)


def test_a_job_that_must_wait_is_refused_until_then(report: Report, policy: PolicyVersion) -> None:
    put_off(claimed=claim(report, policy), reason=WaitingReason.PROVIDER_UNAVAILABLE)

    assert claim_if_free(report, policy) is None
    end_wait(report)
    assert claim(report, policy).number == 2


@pytest.mark.parametrize("reason", sorted(PARKED_AT_ONCE))
def test_a_parked_job_is_refused(
    report: Report, policy: PolicyVersion, reason: WaitingReason
) -> None:
    put_off(claimed=claim(report, policy), reason=reason)
    end_wait(report)

    assert job_of(report).parked
    assert claim_if_free(report, policy) is None


def test_a_done_job_is_refused(report: Report, policy: PolicyVersion) -> None:
    finish(claim(report, policy))

    assert job_of(report).done
    assert claim_if_free(report, policy) is None


def test_a_judged_report_is_not_claimed_for_a_newer_version(
    report: Report, policy: PolicyVersion
) -> None:
    finish(claim(report, policy))
    newer = load_version(prompt="Judge anew.")

    assert claim_if_free(report, newer) is None
    assert Job.objects.count() == 1


def test_a_report_that_does_not_exist_is_not_claimed(policy: PolicyVersion) -> None:
    assert claim_job(report_id=404, policy=policy, lane=Lane.LIVE) is None


# --- Giving it back


def test_a_providers_fault_gives_the_attempt_back(report: Report, policy: PolicyVersion) -> None:
    assert put_off(claimed=claim(report, policy), reason=WaitingReason.PROVIDER_TIMEOUT)

    job = job_of(report)
    assert (job.attempts, job.faults, job.claims) == (0, 1, 1)
    assert (job.lease_until, job.parked, job.reason) == (None, False, "provider_timeout")


def test_a_refused_answer_spends_the_attempt(report: Report, policy: PolicyVersion) -> None:
    assert put_off(claimed=claim(report, policy), reason=WaitingReason.ANSWER_INVALID)

    job = job_of(report)
    assert (job.attempts, job.faults, job.parked) == (1, 0, False)


def test_waits_grow_to_the_longest(report: Report, policy: PolicyVersion) -> None:
    waits = []
    for _fault in range(25):
        put_off(claimed=claim(report, policy), reason=WaitingReason.PROVIDER_UNAVAILABLE)
        waits.append(seconds_until_due(report))
        end_wait(report)

    assert 4 < waits[0] <= 5 * JITTER
    for earlier, later in pairwise(waits[:6]):
        assert later > earlier * 1.5
    for wait in waits[6:]:
        assert LONGEST_WAIT_SECONDS - 2 < wait <= LONGEST_WAIT_SECONDS * JITTER


def test_the_models_rest_is_a_floor_under_the_reports_own_wait(
    report: Report, policy: PolicyVersion
) -> None:
    waits = []
    for rest in (1.0, 40.0, 2_000.0):
        put_off(claimed=claim(report, policy), reason=WaitingReason.PROVIDER_UNAVAILABLE, rest=rest)
        waits.append(seconds_until_due(report))
        end_wait(report)

    assert 4 < waits[0] <= 5 * JITTER
    assert 39 < waits[1] <= 40
    # The model's own row holds everybody up for longer than that.
    assert LONGEST_REST_SECONDS - 1 < waits[2] <= LONGEST_REST_SECONDS


def test_where_the_fault_is_not_the_reports_it_waits_as_long_as_the_model_rests(
    report: Report, policy: PolicyVersion
) -> None:
    for _fault in range(4):
        put_off(claimed=claim(report, policy), reason=WaitingReason.PROVIDER_RATE_LIMITED, rest=4.0)

        assert 0 < seconds_until_due(report) <= 4  # its own first wait is 5 s
        end_wait(report)


def test_a_report_held_back_spends_nothing(report: Report, policy: PolicyVersion) -> None:
    for _time in range(5):
        claimed = claim(report, policy)
        hold_back(claimed=claimed, reason=WaitingReason.PROVIDER_QUOTA, seconds=30)
        job = job_of(report)
        assert (job.attempts, job.faults, job.lease_until) == (0, 0, None)
        assert job.reason == WaitingReason.PROVIDER_QUOTA
        assert 29 < seconds_until_due(report) <= 30
        end_wait(report)


@pytest.mark.parametrize("reason", WaitingReason.values)
def test_whoever_lost_the_lease_changes_nothing(
    report: Report, policy: PolicyVersion, reason: str
) -> None:
    lost = claim(report, policy)
    end_lease(report)
    claim(report, policy)
    before = facts(job_of(report))

    assert not put_off(claimed=lost, reason=WaitingReason(reason), rest=70)

    assert facts(job_of(report)) == before
    report.refresh_from_db()
    assert (report.floor, report.rank, report.floor_rules) == (Severity.NONE, Severity.NONE, [])


def test_a_done_job_is_not_put_off(report: Report, policy: PolicyVersion) -> None:
    claimed = claim(report, policy)
    finish(claimed)

    assert not put_off(claimed=claimed, reason=WaitingReason.CONTENT_FILTERED)

    report.refresh_from_db()
    assert (report.status, report.floor) == (Report.Status.JUDGED_SAFE, Severity.NONE)
    assert job_of(report).done


@pytest.mark.parametrize("reason", sorted(RAISES_FLOOR))
def test_a_refusal_raises_the_report_and_its_item_once(
    report: Report, policy: PolicyVersion, reason: WaitingReason
) -> None:
    put_off(claimed=claim(report, policy), reason=reason)

    report.refresh_from_db()
    assert (report.floor, report.rank) == (Severity.HIGH, Severity.HIGH)
    assert report.floor_rules == [reason]
    assert (report.item.list, report.item.rank) == ("pending", Severity.HIGH)


@pytest.mark.parametrize("reason", sorted(RAISES_FLOOR))
def test_what_was_refused_or_filtered_is_asked_nowhere_again(
    report: Report, policy: PolicyVersion, reason: WaitingReason
) -> None:
    put_off(claimed=claim(report, policy), reason=reason)
    Job.objects.update(parked=False, not_before=None)
    other = load_version(prompt="Another policy, perhaps at another provider.")

    for version in (policy, other):
        assert claim_job(report_id=report.pk, policy=version, lane=Lane.LIVE) is None
        assert choose(policy=version, lane=Lane.LIVE, at_most=9, nudged_too=True) == []
        plan = plan_replay(Selection(), policy=version)
        assert (plan.report_ids, plan.never) == ([], 1)
        assert sum(execute_replay(plan, selection=Selection(), policy=version, actor_name="t")) == 0


def test_a_refusal_lowers_no_threat(policy: PolicyVersion, client_of_sender: Client) -> None:
    threat = send_text(client_of_sender, "I will kill you tomorrow.")

    put_off(claimed=claim(threat, policy), reason=WaitingReason.MODEL_REFUSED)

    threat.refresh_from_db()
    assert (threat.floor, threat.rank) == (Severity.CRITICAL, Severity.CRITICAL)
    assert threat.status == Report.Status.PENDING


# --- The bound


def test_attempts_never_exceed_the_bound(report: Report, policy: PolicyVersion) -> None:
    for _holder in range(Job.MAX_ATTEMPTS):
        claim(report, policy)
        end_lease(report)

    assert claim_if_free(report, policy) is None

    assert job_of(report).attempts == Job.MAX_ATTEMPTS
    assert park_dead() == 1
    job = job_of(report)
    assert (job.parked, job.reason, job.lease_until) == (True, "holder_died", None)
    assert park_dead() == 0


def test_faults_between_refusals_do_not_move_the_bound(
    report: Report, policy: PolicyVersion
) -> None:
    refused = WaitingReason.ANSWER_INVALID
    for reason in (refused, WaitingReason.PROVIDER_QUOTA, refused, WaitingReason.PROVIDER_TIMEOUT):
        put_off(claimed=claim(report, policy), reason=reason)
        assert not job_of(report).parked
        end_wait(report)

    put_off(claimed=claim(report, policy), reason=refused)

    job = job_of(report)
    assert (job.parked, job.attempts, job.claims) == (True, Job.MAX_ATTEMPTS, 5)


@pytest.mark.django_db(transaction=True)
def test_claims_that_waited_longer_than_a_lease_for_the_row_still_have_one_winner(
    client_of_sender: Client, policy: PolicyVersion, settings: Settings
) -> None:
    settings.LEASE_SECONDS = 0.5
    report = send_text(client_of_sender)

    def take() -> Claimed | None:
        return claim_job(report_id=report.pk, policy=policy, lane=Lane.LIVE)

    with other_connection() as other, ThreadPoolExecutor(4) as threads:
        other.execute("BEGIN")
        other.execute("SELECT FROM reports_report WHERE id = %s FOR UPDATE", [report.pk])
        waiting = [threads.submit(_closing(take)) for _ in range(4)]
        began = time.monotonic()
        while time.monotonic() - began < settings.LEASE_SECONDS + 0.3:
            assert not any(each.done() for each in waiting)
        settings.LEASE_SECONDS = 30.0  # the winner's fresh lease outlives the test
        other.execute("COMMIT")
        won = [each.result() for each in waiting]

    (winner,) = [each for each in won if each is not None]
    job = job_of(report)
    assert job.claims == winner.number
    assert job.lease_until is not None
    assert job.lease_until > timezone.now()


def _closing(take: Callable[[], Claimed | None]) -> Callable[[], Claimed | None]:
    def taken() -> Claimed | None:
        try:
            return take()
        finally:
            connection.close()

    return taken
