"""Leaving a model alone: one rest for all workers, and one call that finds out when it is over."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F, Value
from pytest_django import Settings

from classifier import cooldown
from classifier.cooldown import (
    FAULTS_UNTIL_REST,
    FIRST_REST_SECONDS,
    FREE,
    LONGEST_REST_SECONDS,
    LOOK_AGAIN_SECONDS,
    Turn,
    TurnLostError,
    ask_again_now,
    keep_turn,
    note_answer,
    take_turn,
)
from classifier.models import ProviderModel, WaitingReason
from classifier.tests.resting import MOST, Reason, fail, fresh, put_to_rest
from classifier.tests.situations import (
    at_once,
    end_rest,
    know_model,
    rest_left,
)
from reports.models import AuditEntry

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def model() -> ProviderModel:
    return know_model("http://127.0.0.1:9/v1")


def turn_at_the_end_of_the_rest(model: ProviderModel) -> Turn:
    end_rest()
    turn = take_turn(fresh(model))
    assert turn.holds
    return turn


def is_at_ease(model: ProviderModel) -> bool:
    row = fresh(model)
    rest = (row.rests, row.rest_reason, row.rests_since, row.rests_until, row.turn_until)
    return rest == (0, "", None, None, None)


# --- When a rest begins


@pytest.mark.parametrize("reason", sorted(cooldown.RESTS_AT_ONCE))
def test_a_fault_that_every_report_would_meet_begins_a_rest_at_once(
    reason: WaitingReason, model: ProviderModel
) -> None:
    rest = fail(model, reason)

    assert rest is not None
    assert FIRST_REST_SECONDS - 1 < rest <= FIRST_REST_SECONDS * MOST
    assert (fresh(model).rest_reason, fresh(model).rests) == (reason, 1)
    turn = take_turn(fresh(model))
    assert (turn.granted, turn.holds) == (False, False)
    assert rest - 1 < turn.wait <= rest


@pytest.mark.parametrize("reason", sorted(cooldown.RESTS_IN_A_ROW))
def test_other_faults_begin_a_rest_when_five_came_in_a_row(
    reason: WaitingReason, model: ProviderModel
) -> None:
    rests = [fail(model, reason) for _fault in range(FAULTS_UNTIL_REST)]

    assert rests[:-1] == [None] * (FAULTS_UNTIL_REST - 1)
    assert rests[-1] is not None
    assert fresh(model).rest_reason == reason


def test_faults_with_an_answer_between_them_are_not_in_a_row(model: ProviderModel) -> None:
    for _round in range(3):
        for _fault in range(FAULTS_UNTIL_REST - 1):
            assert fail(model) is None
        note_answer(model=fresh(model), turn=FREE)

    assert is_at_ease(model)
    assert fresh(model).faults == 0


def test_a_wish_to_wait_begins_a_rest_whatever_the_fault(model: ProviderModel) -> None:
    rest = fail(model, retry_after=7)

    assert rest is not None
    assert 6.5 < rest <= 7


def test_of_several_wishes_to_wait_the_latest_time_counts(model: ProviderModel) -> None:
    for asked, left in ((7, 7), (3, 7), (30, 30), (1, 30)):
        rest = fail(model, Reason.PROVIDER_RATE_LIMITED, retry_after=asked)

        assert rest is not None
        assert left - 1 < rest <= left

    assert fresh(model).rests == 1


def test_another_model_goes_on_being_asked(model: ProviderModel) -> None:
    other = know_model(model.base_url, name="another-model")

    put_to_rest(model)

    assert take_turn(fresh(other)) == FREE


# --- How it grows


def test_a_rest_doubles_with_every_turn_that_found_nothing_up_to_its_bound(
    model: ProviderModel,
) -> None:
    put_to_rest(model)
    expected = FIRST_REST_SECONDS
    for _turn in range(9):
        expected = min(expected * 2, LONGEST_REST_SECONDS)
        rest = fail(model, turn=turn_at_the_end_of_the_rest(model))

        assert rest is not None
        assert expected - 1 < rest <= expected * MOST

    assert expected == LONGEST_REST_SECONDS


def test_eight_calls_that_fail_at_the_same_moment_are_one_rest(model: ProviderModel) -> None:
    rests = at_once([lambda: fail(model, Reason.PROVIDER_CREDENTIALS)] * 8)

    assert all(rest is not None and rest <= FIRST_REST_SECONDS * MOST for rest in rests)
    assert fresh(model).rests == 1
    assert fresh(model).faults == 8


def test_late_failures_of_old_calls_do_not_make_the_rest_grow(model: ProviderModel) -> None:
    put_to_rest(model)
    fail(model, turn=turn_at_the_end_of_the_rest(model))

    for _old_call in range(7):
        fail(model, Reason.PROVIDER_QUOTA)

    assert fresh(model).rests == 2
    assert rest_left(model) <= 2 * FIRST_REST_SECONDS * MOST


# --- Who finds out


@pytest.mark.parametrize("mode", ["json_schema", ""], ids=["after a rest", "not yet probed"])
def test_of_sixteen_one_gets_the_turn(mode: str, model: ProviderModel) -> None:
    put_to_rest(model)
    end_rest()
    ProviderModel.objects.update(mode=mode)

    turns = at_once([lambda: take_turn(fresh(model))] * 16)

    assert sorted(turn.granted for turn in turns) == [False] * 15 + [True]
    assert [turn.holds for turn in turns] == [turn.granted for turn in turns]
    assert {turn.wait for turn in turns if not turn.granted} == {LOOK_AGAIN_SECONDS}


def test_a_turn_outlives_its_call_and_ends_by_itself_when_its_holder_died(
    model: ProviderModel, settings: Settings
) -> None:
    settings.MODEL_DEADLINE_SECONDS = 10
    put_to_rest(model)
    turn = turn_at_the_end_of_the_rest(model)

    assert not take_turn(fresh(model)).granted
    ProviderModel.objects.update(turn_until=F("turn_until") - in_seconds(13))

    assert take_turn(fresh(model)).holds
    with pytest.raises(TurnLostError):
        keep_turn(model, turn)


def test_a_turn_is_kept_for_one_call_more(model: ProviderModel, settings: Settings) -> None:
    settings.MODEL_DEADLINE_SECONDS = 10
    put_to_rest(model)
    turn = turn_at_the_end_of_the_rest(model)
    ProviderModel.objects.update(turn_until=F("turn_until") - in_seconds(9))
    old = replace(turn, until=fresh(model).turn_until)

    kept = keep_turn(model, old)

    assert kept.until is not None
    assert old.until is not None
    assert kept.until > old.until + timedelta(seconds=8)
    assert not take_turn(fresh(model)).granted


def in_seconds(seconds: float) -> Value:
    return Value(timedelta(seconds=seconds))


def test_a_turn_that_was_given_back_is_anothers(model: ProviderModel) -> None:
    put_to_rest(model)
    turn = turn_at_the_end_of_the_rest(model)

    cooldown.give_back(model=fresh(model), turn=turn)

    assert take_turn(fresh(model)).holds


def test_while_one_finds_out_no_other_is_let_through_by_a_fault_of_an_old_call(
    model: ProviderModel,
) -> None:
    put_to_rest(model)
    turn_at_the_end_of_the_rest(model)

    fail(model, Reason.PROVIDER_TIMEOUT)

    end_rest()
    assert not take_turn(fresh(model)).granted


# --- How it ends


def test_an_answer_ends_the_rest(model: ProviderModel) -> None:
    put_to_rest(model)

    note_answer(model=fresh(model), turn=turn_at_the_end_of_the_rest(model))

    assert is_at_ease(model)
    assert take_turn(fresh(model)) == FREE
    assert fail(model, Reason.PROVIDER_QUOTA) is not None
    assert fresh(model).rests == 1


def test_who_found_out_does_not_end_a_rest_that_an_older_call_was_told_of_meanwhile(
    model: ProviderModel,
) -> None:
    put_to_rest(model)
    turn = turn_at_the_end_of_the_rest(model)
    fail(model, Reason.PROVIDER_RATE_LIMITED, retry_after=3600)

    note_answer(model=fresh(model), turn=turn)

    assert 3590 < rest_left(model) <= 3600
    assert fresh(model).turn_until is None


def test_a_person_ends_the_turn_of_a_worker_that_died(model: ProviderModel) -> None:
    ProviderModel.objects.update(mode="")
    assert take_turn(fresh(model)).holds
    assert not take_turn(fresh(model)).granted

    assert ask_again_now(model=model, actor_name="test")

    assert take_turn(fresh(model)).holds


def test_a_late_answer_from_before_the_rest_does_not_end_it(model: ProviderModel) -> None:
    asked_before = fresh(model)
    turn = take_turn(asked_before)
    put_to_rest(model)

    note_answer(model=asked_before, turn=turn)
    note_answer(model=fresh(model), turn=turn)

    assert rest_left(model) > FIRST_REST_SECONDS - 1
    assert not take_turn(fresh(model)).granted


def test_a_person_ends_a_rest_once_and_it_is_written_down(model: ProviderModel) -> None:
    operator = User.objects.create_user("operator")
    put_to_rest(model)

    assert ask_again_now(model=model, actor=operator)
    assert not ask_again_now(model=model, actor=operator)

    assert is_at_ease(model)
    entry = AuditEntry.objects.get(action="rest_ended")
    assert entry.actor == operator


def test_of_four_people_who_end_a_rest_at_once_one_did(model: ProviderModel) -> None:
    operator = User.objects.create_user("operator")
    put_to_rest(model)

    ended = at_once([lambda: ask_again_now(model=model, actor=operator)] * 4)

    assert sorted(ended) == [False, False, False, True]
    assert AuditEntry.objects.filter(action="rest_ended").count() == 1
