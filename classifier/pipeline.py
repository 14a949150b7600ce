"""One nudge, from claim to recorded verdict or named reason."""

import logging
from enum import StrEnum
from functools import partial

from classifier import cooldown, provider, rules
from classifier.asking import ClaimLostError, LimitLoweredError, ModelRestsError, ask_report
from classifier.batches.by_calls import claim_history, let_wait
from classifier.batches.pressure import live_lane_waits
from classifier.capabilities import learn_form, learn_from_error
from classifier.cooldown import FREE
from classifier.jobs import (
    Claimed,
    TooManyCallsError,
    claim_job,
    claim_more_urgent,
    extend_claim,
    hold_back,
    put_off,
)
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.probing import find_out
from classifier.prompt import free_texts
from classifier.questions import PolicyTooLongError, UnknownLimitError
from classifier.reader import FORMLESS, AnswerRefusedError, UnreadableReplyError
from classifier.recording import Recorded, record_answer
from classifier.windows import TooManyWindowsError
from reports.failpoints import Point, hit
from reports.models import Report, Severity
from reports.nudge import Lane, publish

log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """What one nudge came to."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"
    PUT_OFF = "put_off"
    HELD_BACK = "held_back"  # not asked: the model rests or is being probed, or others go first
    SPENT = "spent"  # nothing to do: held by another, ended, not due, or no pending report
    NO_POLICY = "no_policy"


def classify_report(*, report_id: int, lane: Lane) -> Outcome:
    """Do what the nudge hints at, if it is still to be done. Every ending is in the database."""
    hit(Point.TASK_START)
    policy = PolicyVersion.objects.active()
    if policy is None:
        log.error("no policy version is active; reports stay pending. Run `manage.py load_policy`.")
        return Outcome.NO_POLICY
    if lane is Lane.LIVE:
        claimed = _claim_arrival(report_id, policy)
    elif live_lane_waits():
        let_wait(report_id=report_id, policy=policy)
        return Outcome.HELD_BACK
    else:
        claimed = claim_history(report_id=report_id, policy=policy)
    if claimed is None:
        return Outcome.SPENT
    try:
        hit(Point.TASK_AFTER_CLAIM)
        return _ask_in_turn(claimed, ProviderModel.objects.of_policy(policy))
    except Exception:
        _put_off(claimed, WaitingReason.INTERNAL_ERROR)
        raise


def _claim_arrival(report_id: int, policy: PolicyVersion) -> Claimed | None:
    urgent = claim_more_urgent(than=report_id, policy=policy, lane=Lane.LIVE)
    if urgent is None:
        return claim_job(report_id=report_id, policy=policy, lane=Lane.LIVE)
    _nudge_again(report_id, Lane.LIVE)  # passed over: to the end of the queue
    return urgent


def _ask_in_turn(claimed: Claimed, model: ProviderModel) -> Outcome:
    """Ask where the model may be asked, which may have to be found out first."""
    turn = cooldown.take_turn(model)
    if turn.holds:
        turn = find_out(model, claimed.policy, turn, at_each_call=partial(extend_claim, claimed))
        longer = extend_claim(claimed)
        if longer is None:
            return Outcome.SPENT
        claimed = longer
    if not turn.granted:
        hold_back(claimed=claimed, reason=turn.reason, seconds=turn.wait)
        return Outcome.HELD_BACK
    try:
        return _ask(claimed, model)
    except (ModelRestsError, LimitLoweredError):
        turn = cooldown.take_turn(model)
        cooldown.give_back(model=model, turn=turn)
        hold_back(claimed=claimed, reason=turn.reason, seconds=turn.wait)
        return Outcome.HELD_BACK
    except ClaimLostError:
        log.info("report %s: the lease had run out, another holds it", claimed.report_id)
        return Outcome.SPENT


def _ask(claimed: Claimed, model: ProviderModel) -> Outcome:
    """Ask, and make of whatever comes back a verdict or a named reason."""
    try:
        return _ask_and_record(claimed, model)
    except provider.ProviderError as error:
        log.warning("report %s: %s", claimed.report_id, error)
        if learn_from_error(model, error):
            cooldown.note_answer(model=model, turn=FREE)
            hold_back(claimed=claimed, reason=WaitingReason.PROBING, seconds=0)
            return Outcome.HELD_BACK
        return _fault(claimed, model, WaitingReason(error.fault), error.retry_after)
    except AnswerRefusedError as error:
        log.warning("report %s: %s", claimed.report_id, error)
        # Of one report only the first time, replays included: its own text may be what the model
        # stumbles over, and a replay asks about all such reports in a row.
        formless = error.detail in FORMLESS and claimed.number == 1
        learn_form(model, thought=error.thought, formless=formless)
        return _fault(claimed, model, error.reason)
    except tuple(_REASONS) as error:
        log.warning("report %s: %s: %s", claimed.report_id, type(error).__name__, error)
        return _fault(claimed, model, _REASONS[type(error)])


_REASONS: dict[type[Exception], WaitingReason] = {
    UnreadableReplyError: WaitingReason.PROVIDER_UNAVAILABLE,
    TooManyWindowsError: WaitingReason.TOO_LONG,
    UnknownLimitError: WaitingReason.UNKNOWN_LIMIT,
    PolicyTooLongError: WaitingReason.POLICY_TOO_LONG,
    TooManyCallsError: WaitingReason.TOO_LONG,
}


def _nudge_again(report_id: int, lane: Lane) -> None:
    if not Report.objects.pending().filter(pk=report_id).exists():
        return
    try:
        publish(report_id=report_id, lane=lane)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
        log.warning("report %s: the sweep will nudge it (%s)", report_id, type(error).__name__)


def _ask_and_record(claimed: Claimed, model: ProviderModel) -> Outcome:
    report = Report.objects.select_related("content").get(pk=claimed.report_id)
    asked, claimed = ask_report(claimed=claimed, report=report, model=model)
    judgement = rules.judge(
        verdict=asked.verdict,
        policy=claimed.policy,
        floor=Severity(report.floor),
        summaries=[call.answer.verdict.summary for call in asked.calls],
        texts=free_texts(report.content.submission()),
    )
    recorded = record_answer(claimed=claimed, asked=asked, judgement=judgement)
    hit(Point.RECORD_AFTER_COMMIT)
    cooldown.note_answer(model=model, turn=FREE)
    learn_form(model, thought=any(call.answer.thought for call in asked.calls), formless=False)
    if recorded is Recorded.DUPLICATE:
        log.info("report %s: a second answer was dropped, the first stands", claimed.report_id)
        return Outcome.DUPLICATE
    return Outcome.RECORDED


def _fault(
    claimed: Claimed,
    model: ProviderModel,
    reason: WaitingReason,
    retry_after: float | None = None,
) -> Outcome:
    """Put the report off, and let everybody rest the model where the fault is the provider's."""
    rest = None
    resting = cooldown.RESTS_AT_ONCE | cooldown.RESTS_IN_A_ROW
    if reason in resting or retry_after is not None:
        # What was wrong with one report is not why the others wait.
        why = reason if reason in resting else WaitingReason.PROVIDER_RATE_LIMITED
        rest = cooldown.note_fault(model=model, turn=FREE, reason=why, retry_after=retry_after)
    else:
        cooldown.note_answer(model=model, turn=FREE)
    return _put_off(claimed, reason, rest)


def _put_off(claimed: Claimed, reason: WaitingReason, rest: float | None = None) -> Outcome:
    if not put_off(claimed=claimed, reason=reason, rest=rest):
        log.info("report %s: the lease had run out, another holds it", claimed.report_id)
    return Outcome.PUT_OFF
