"""One nudge, from claim to recorded verdict or named reason."""

import logging
from enum import StrEnum

from django.db import connection

from classifier import provider, rules
from classifier.jobs import Claimed, claim_job, claim_more_urgent, put_off
from classifier.models import PolicyVersion, WaitingReason
from classifier.prompt import build_prompt
from classifier.reader import AnswerRefusedError, UnreadableReplyError, read_answer
from classifier.recording import Recorded, record_answer
from classifier.verdict import response_format
from reports.failpoints import Point, hit
from reports.models import Report, Severity
from reports.nudge import Lane, publish

log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """What one nudge came to."""

    RECORDED = "recorded"
    DUPLICATE = "duplicate"
    PUT_OFF = "put_off"
    SPENT = "spent"  # nothing to do: held by another, ended, not due, or no pending report
    NO_POLICY = "no_policy"


def classify_report(*, report_id: int, lane: Lane) -> Outcome:
    """Do what the nudge hints at, if it is still to be done. Every ending is in the database."""
    hit(Point.TASK_START)
    policy = PolicyVersion.objects.active()
    if policy is None:
        log.error("no policy version is active; reports stay pending. Run `manage.py load_policy`.")
        return Outcome.NO_POLICY
    claimed = claim_more_urgent(than=report_id, policy=policy, lane=lane)
    if claimed is not None:
        _nudge_again(report_id, lane)  # passed over: to the end of the queue
    else:
        claimed = claim_job(report_id=report_id, policy=policy, lane=lane)
    if claimed is None:
        return Outcome.SPENT
    try:
        hit(Point.TASK_AFTER_CLAIM)
        return _ask_and_record(claimed)
    except provider.ProviderError as error:
        log.warning("report %s: %s", claimed.report_id, error)
        return _put_off(claimed, WaitingReason(error.fault), error.retry_after)
    except UnreadableReplyError as error:
        log.warning("report %s: the reply is no chat completion (%s)", claimed.report_id, error)
        return _put_off(claimed, WaitingReason.PROVIDER_UNAVAILABLE)
    except AnswerRefusedError as error:
        log.warning("report %s: %s", claimed.report_id, error)
        return _put_off(claimed, error.reason)
    except Exception:
        _put_off(claimed, WaitingReason.INTERNAL_ERROR)
        raise


def _nudge_again(report_id: int, lane: Lane) -> None:
    if not Report.objects.pending().filter(pk=report_id).exists():
        return
    try:
        publish(report_id=report_id, lane=lane)
    except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
        log.warning("report %s: the sweep will nudge it (%s)", report_id, type(error).__name__)


def _ask_and_record(claimed: Claimed) -> Outcome:
    report = Report.objects.select_related("content").get(pk=claimed.report_id)
    submission = report.content.submission()
    prompt = build_prompt(policy=claimed.policy, submission=submission, language=report.language)
    # The call may take a minute: the connection goes back to the pool, no transaction is open.
    connection.close()
    hit(Point.TASK_BEFORE_MODEL)
    reply = provider.ask(
        model=claimed.policy.model,
        system=prompt.system,
        user=prompt.user,
        response_format=response_format(claimed.policy),
    )
    hit(Point.TASK_AFTER_MODEL)
    texts = [message.text for message in submission.reported_messages()]
    answer = read_answer(
        reply.body,
        policy=claimed.policy,
        ref=prompt.ref,
        prompt_bytes=len(prompt.system.encode()) + len(prompt.user.encode()),
        texts=texts,
    )
    hit(Point.TASK_AFTER_READ)
    judgement = rules.judge(
        verdict=answer.verdict,
        policy=claimed.policy,
        floor=Severity(report.floor),
        # All free text that the model was shown: whoever wrote it may have meant the model.
        texts=[
            *(message.text for message in submission.messages),
            submission.comment or "",
            submission.item.type,
        ],
    )
    recorded = record_answer(
        claimed=claimed, answer=answer, judgement=judgement, body=reply.body, seconds=reply.seconds
    )
    hit(Point.RECORD_AFTER_COMMIT)
    if recorded is Recorded.DUPLICATE:
        log.info("report %s: a second answer was dropped, the first stands", claimed.report_id)
        return Outcome.DUPLICATE
    return Outcome.RECORDED


def _put_off(claimed: Claimed, reason: WaitingReason, retry_after: float | None = None) -> Outcome:
    if not put_off(claimed=claimed, reason=reason, retry_after=retry_after):
        log.info("report %s: the lease had run out, another holds it", claimed.report_id)
    return Outcome.PUT_OFF
