"""One report to one verdict: asked in as many parts as the model needs, merged.

A critical answer about any part decides at once; safe needs every part. What a part was about is
kept with its answer, so that nobody has to guess what was read.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection
from django.utils import timezone

from classifier import provider
from classifier.batches.tally import add_tokens
from classifier.calibration import learn_from_prompt
from classifier.catalogue import effective_limit, lower_limit
from classifier.jobs import Claimed, extend_claim
from classifier.limits import Limit
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.provider import Fault, ProviderError, Reply
from classifier.questions import Question, plan_calls
from classifier.reader import Answer, AnswerRefusedError, read_answer
from classifier.verdict import QUOTES, Verdict
from classifier.windows import Window
from reports.failpoints import Point, hit
from reports.models import Report, Severity

# A server's error is believed where this is left by it: a number in its words may be anybody's.
BELIEVED_BUDGET = 256
# So many calls may a report cost for each part that it may have; then it is for a person.
CALLS_A_WINDOW = 4
# The second try's share of the budget where nobody says by how much the first was too long.
HALF = 0.5


class LimitLoweredError(Exception):
    """The model takes less since the parts were cut."""


class ModelRestsError(Exception):
    """A rest began between two calls; no worker asks before its end."""


class ClaimLostError(Exception):
    """Another worker took the job over between two calls."""


@dataclass(frozen=True)
class Call:
    """One call: what it was about and what came back."""

    window: Window
    answer: Answer
    reply: Reply
    part: str | None = None
    """Which of how many ("2 of 5"); None where one call is all."""


@dataclass(frozen=True)
class Asked:
    """All that was asked about a report, and the one verdict that comes of it."""

    verdict: Verdict
    calls: Sequence[Call]
    messages: int
    """How many the report has; a comment that stands behind them is no message."""


def ask_report(*, claimed: Claimed, report: Report, model: ProviderModel) -> tuple[Asked, Claimed]:
    """Ask about the report in as many calls as it takes; also the claim, whose lease has grown.

    Raises `ProviderError`, `AnswerRefusedError`, `UnreadableReplyError`, this file's errors and
    those of `plan_calls`.
    """
    question, windows = _plan(claimed, report, model)
    try:
        return _ask_windows(question, windows, claimed)
    except LimitLoweredError:
        shrink = 1.0
    except ProviderError as error:
        if error.fault is not Fault.TOO_LONG:
            raise
        shrink = _adapt(question, error.limit)
    except AnswerRefusedError as error:
        if error.reason != WaitingReason.INPUT_TRUNCATED:
            raise
        shrink = _adapt(question, error.prompt_tokens)
    # Once more, in smaller parts. What is too long now as well is for a person.
    question, windows = _plan(claimed, report, model, shrink)
    return _ask_windows(question, windows, _one_more(claimed, question))


def _plan(
    claimed: Claimed, report: Report, model: ProviderModel, shrink: float = 1.0
) -> tuple[Question, list[Window]]:
    return plan_calls(
        policy=claimed.policy, report=report, model=model, after=claimed.reason, shrink=shrink
    )


def _adapt(question: Question, tokens: int | None) -> float:
    """The share of the budget to try next, after a server took no more than `tokens` (None: unsaid).

    A limit that leaves no room for a short report is not believed: one was read, when the model was
    probed under a policy. It would stop everybody, and an error may say anything.
    """
    if tokens is not None and question.budget(Limit(tokens, "error")) >= BELIEVED_BUDGET:
        lower_limit(question.model, tokens)
    # By this error, or another worker's a moment ago.
    now = effective_limit(question.model, today=timezone.now().date())
    return 1.0 if now and now.tokens < question.limit.tokens else HALF


def _ask_windows(
    question: Question, windows: Sequence[Window], claimed: Claimed
) -> tuple[Asked, Claimed]:
    calls: list[Call] = []
    try:
        for number, window in enumerate(windows, 1):
            if calls:
                claimed = _one_more(claimed, question)
            part = f"{number} of {len(windows)}" if len(windows) > 1 else None
            calls.append(_ask(question, window, part))
            category = question.policy.category(calls[-1].answer.verdict.category)
            if category["severity"] >= Severity.CRITICAL:
                break
    except Exception as error:
        _count_lost(claimed, calls, error)
        raise
    verdict = merge([call.answer.verdict for call in calls], question.policy)
    return Asked(verdict, calls, len(question.submission.messages)), claimed


def _count_lost(claimed: Claimed, calls: Sequence[Call], error: Exception) -> None:
    """A batch counts what it used: answers that are thrown away, and a refused one, were paid for."""
    if claimed.batch_id is not None:
        paid: list[Answer | AnswerRefusedError] = [call.answer for call in calls]
        if isinstance(error, AnswerRefusedError):
            paid.append(error)
        add_tokens(
            batch_id=claimed.batch_id,
            prompt=sum(each.prompt_tokens or 0 for each in paid),
            completion=sum(each.completion_tokens or 0 for each in paid),
        )


def _ask(question: Question, window: Window, part: str | None) -> Call:
    policy, model = question.policy, question.model
    prompt = question.prompt(window, part=part)
    # The call may take a minute: the connection goes back to the pool, no transaction is open.
    connection.close()
    hit(Point.TASK_BEFORE_MODEL)
    reply = provider.ask(
        model=policy.model,
        system=prompt.system,
        user=prompt.user,
        parameters=question.parameters(),
    )
    hit(Point.TASK_AFTER_MODEL)
    answer = read_answer(reply.body, question.expected(window, prompt))
    hit(Point.TASK_AFTER_READ)
    learn_from_prompt(model, prompt=prompt, tokens=answer.prompt_tokens)
    return Call(window, answer, reply, part)


def _one_more(claimed: Claimed, question: Question) -> Claimed:
    """Leave for one call more: the model does not rest, its limit holds, the job is still ours."""
    model = question.model
    model.refresh_from_db()
    if model.rests_until is not None:
        raise ModelRestsError
    limit = effective_limit(model, today=timezone.now().date())
    if limit is None or limit.tokens < question.limit.tokens:
        raise LimitLoweredError
    longer = extend_claim(claimed, at_most=settings.MAX_WINDOWS * CALLS_A_WINDOW)
    if longer is None:
        raise ClaimLostError
    return longer


# --- Merging


def merge(verdicts: Sequence[Verdict], policy: PolicyVersion) -> Verdict:
    """The most severe of them, of equals the surest; where all are safe the least sure.

    With the quotes of all that say the same.
    """

    def weight(verdict: Verdict) -> tuple[int, bool, float]:
        category = policy.category(verdict.category)
        sure = -verdict.confidence if category["safe"] else verdict.confidence
        return category["severity"], not category["safe"], sure

    worst = max(verdicts, key=weight)
    same = [verdict for verdict in verdicts if verdict.category == worst.category]
    quotes = dict.fromkeys(quote for verdict in [worst, *same] for quote in verdict.quotes)
    return worst.model_copy(update={"quotes": list(quotes)[:QUOTES]})
