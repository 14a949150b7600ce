"""One report to one verdict: measured, split where it is too long for the model, asked, merged.

A critical answer about any part decides at once; safe needs every part. What a part was about is
kept with its answer, so that nobody has to guess what was read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from classifier import provider
from classifier.calibration import learn_from_prompt
from classifier.capabilities import answer_room, parameters, schema_in_prompt
from classifier.catalogue import effective_limit, lower_limit
from classifier.jobs import Claimed, extend_claim
from classifier.limits import Limit
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.probing import served_names
from classifier.prompt import Evidence, Prompt, build_prompt, evidence_of
from classifier.provider import Fault, ProviderError, Reply
from classifier.reader import (
    Answer,
    AnswerRefusedError,
    Expected,
    least_tokens,
    read_answer,
)
from classifier.tokens import Counting, at_least, count
from classifier.verdict import QUOTES, Verdict, answer_schema
from classifier.windows import Piece, Window, split
from reports.failpoints import Point, hit
from reports.models import Report, Severity
from reports.submission import Submission

# What chat templates put around two messages, beyond what is counted.
TEMPLATE_TOKENS = 96
# What the JSON around one message is at the least, in any tokenizer: its id, keys and signs.
FRAME_TOKENS = 6
# A budget below this reads a conversation letter by letter.
LEAST_BUDGET = 64
# A server's error is believed where this is left by it: a number in its words may be anybody's.
BELIEVED_BUDGET = 256
# So many calls may a report cost for each part that it may have; then it is for a person.
CALLS_A_WINDOW = 4
# A comment of more than this share of the limit is split like a message: each call carries it else.
COMMENT_SHARE = 16
# The second try's share of the budget where nobody says by how much the first was too long.
HALF = 0.5


class UnknownLimitError(Exception):
    """Nobody has said how much the model reads, so nothing may be sent that it might cut."""

    def __init__(self) -> None:
        super().__init__("run `manage.py sync_models`")


class PolicyTooLongError(Exception):
    """The policy's own text leaves the model no room for a report."""

    def __init__(self) -> None:
        super().__init__("load a shorter policy, or one for a model of longer context")


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


@dataclass(frozen=True)
class _Question:
    """What stays the same over the calls about one report."""

    policy: PolicyVersion
    model: ProviderModel
    limit: Limit
    evidence: Evidence
    submission: Submission
    schema: dict[str, Any]
    more_room: bool


def ask_report(*, claimed: Claimed, report: Report, model: ProviderModel) -> tuple[Asked, Claimed]:
    """Ask about the report in as many calls as it takes; also the claim, whose lease has grown.

    Raises `ProviderError`, `AnswerRefusedError`, `UnreadableReplyError` and this file's errors.
    """
    question = _question(claimed, report, model)
    try:
        return _ask_windows(question, _windows(question), claimed)
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
    question = _question(claimed, report, model)
    claimed = _one_more(claimed, question)
    return _ask_windows(question, _windows(question, shrink=shrink), claimed)


def _question(claimed: Claimed, report: Report, model: ProviderModel) -> _Question:
    """What is asked, under the limit as it is now; raises `UnknownLimitError`, `PolicyTooLongError`.

    A short question about the policy has to fit. What is long about the report itself gives way:
    first the room for thoughts, then the comment, which is split like a message.
    """
    limit = effective_limit(model, today=timezone.now().date())
    if limit is None:
        raise UnknownLimitError
    submission = report.content.submission()
    evidence = evidence_of(submission, language=report.language)
    question = _Question(
        policy=claimed.policy,
        model=model,
        limit=limit,
        evidence=replace(evidence, comment=None),
        submission=submission,
        schema=answer_schema(claimed.policy, with_ref=model.echoes_ref),
        more_room=False,
    )
    if _budget(question, limit) < LEAST_BUDGET:
        raise PolicyTooLongError
    if claimed.reason == WaitingReason.ANSWER_CUT:
        roomy = replace(question, more_room=True)
        question = roomy if _budget(roomy, limit) >= LEAST_BUDGET else question
    whole = replace(question, evidence=evidence)
    comment = count(evidence.comment or "", _counting(question))
    if comment <= limit.tokens // COMMENT_SHARE and _budget(whole, limit) >= LEAST_BUDGET:
        return whole
    return replace(question, evidence=_comment_apart(evidence))


def _adapt(question: _Question, tokens: int | None) -> float:
    """The share of the budget to try next, after a server took no more than `tokens` (None: unsaid).

    A limit that leaves no room for a short report is not believed: one was read, when the model was
    probed under a policy. It would stop everybody, and an error may say anything.
    """
    if tokens is not None and _budget(question, Limit(tokens, "error")) >= BELIEVED_BUDGET:
        lower_limit(question.model, tokens)
    # By this error, or another worker's a moment ago.
    now = effective_limit(question.model, today=timezone.now().date())
    return 1.0 if now and now.tokens < question.limit.tokens else HALF


def _ask_windows(
    question: _Question, windows: Sequence[Window], claimed: Claimed
) -> tuple[Asked, Claimed]:
    calls: list[Call] = []
    for number, window in enumerate(windows, 1):
        if calls:
            claimed = _one_more(claimed, question)
        part = f"{number} of {len(windows)}" if len(windows) > 1 else None
        calls.append(_ask(question, window, part))
        category = question.policy.category(calls[-1].answer.verdict.category)
        if category["severity"] >= Severity.CRITICAL:
            break
    verdict = merge([call.answer.verdict for call in calls], question.policy)
    return Asked(verdict, calls, len(question.submission.messages)), claimed


def _ask(question: _Question, window: Window, part: str | None) -> Call:
    policy, model = question.policy, question.model
    entries = [_entry(question, piece) for piece in window.pieces]
    prompt = build_prompt(
        policy=policy,
        evidence=_shown(question, entries, part),
        schema=schema_in_prompt(model, question.schema),
    )
    # The call may take a minute: the connection goes back to the pool, no transaction is open.
    connection.close()
    hit(Point.TASK_BEFORE_MODEL)
    reply = provider.ask(
        model=policy.model,
        system=prompt.system,
        user=prompt.user,
        parameters=parameters(model, schema=question.schema, room=_room(question, question.limit)),
    )
    hit(Point.TASK_AFTER_MODEL)
    answer = read_answer(
        reply.body,
        Expected(
            policy=policy,
            names=served_names(policy),
            ref=prompt.ref if model.echoes_ref else None,
            least_tokens=_least_read(question, window, prompt),
            texts=_quotable(question, window),
            thinks=model.thinks,
        ),
    )
    hit(Point.TASK_AFTER_READ)
    learn_from_prompt(model, prompt=prompt, tokens=answer.prompt_tokens)
    return Call(window, answer, reply, part)


def _one_more(claimed: Claimed, question: _Question) -> Claimed:
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


def _least_read(question: _Question, window: Window, prompt: Prompt) -> int:
    """Fewer tokens than this were not the whole prompt."""
    counting = _counting(question)
    by_words = least_tokens(prompt.system) + least_tokens(prompt.user)
    if counting.tokenizer:
        by_count = at_least(prompt.system, counting) + at_least(prompt.user, counting)
    else:
        texts = "\n".join(piece.text for piece in window.pieces)
        by_count = at_least(prompt.system, counting) + at_least(texts, counting)
        by_count += FRAME_TOKENS * len(window.pieces)
    return max(by_words, by_count)


# --- Measuring and splitting


def _windows(question: _Question, *, shrink: float = 1.0) -> list[Window]:
    """The parts that the report is asked in; one where all of it fits.

    Raises `TooManyWindowsError`.
    """
    budget = _budget(question, question.limit)
    counting = _counting(question)
    texts = [str(entry["text"]) for entry in question.evidence.entries]
    reported = [bool(entry.get("reported")) for entry in question.evidence.entries]
    return split(
        texts=texts,
        reported=reported,
        cost=lambda piece: count(_as_json(_entry(question, piece)), counting) + 1,
        budget=int(budget * shrink),
        at_most=settings.MAX_WINDOWS,
    )


def _budget(question: _Question, limit: Limit) -> int:
    """Tokens for the messages of one call."""
    room = _room(question, limit) if limit.counts_answer else 0
    return limit.tokens - room - _fixed_tokens(question)


def _counting(question: _Question) -> Counting:
    return Counting(question.model.tokenizer, question.model.token_ratios)


def _room(question: _Question, limit: Limit) -> int:
    return answer_room(question.model, limit, more_room=question.more_room)


def _comment_apart(evidence: Evidence) -> Evidence:
    """The comment behind the messages, as one of its own."""
    entry = {"id": "comment", "author": "the reporter", "text": evidence.comment or ""}
    return replace(evidence, comment=None, entries=[*evidence.entries, entry])


def _fixed_tokens(question: _Question) -> int:
    """What every call takes beside its messages; the schema counts wherever it stands."""
    empty = build_prompt(
        policy=question.policy,
        evidence=_shown(question, [], "100 of 100"),
        schema=question.schema,
    )
    counting = _counting(question)
    return count(empty.system, counting) + count(empty.user, counting) + TEMPLATE_TOKENS


def _shown(question: _Question, entries: Sequence[Mapping[str, Any]], part: str | None) -> Evidence:
    return replace(question.evidence, entries=entries, part=part)


def _entry(question: _Question, piece: Piece) -> dict[str, Any]:
    """A message, or a part of one, as the model is shown it."""
    entry = {**question.evidence.entries[piece.message], "text": piece.text}
    return {**entry, "part": f"{piece.part}/{piece.parts}"} if piece.parts > 1 else entry


def _as_json(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)


def _quotable(question: _Question, window: Window) -> list[str]:
    """The texts that a quote may come from: what the call was to judge."""
    sent = question.submission.messages
    messages = [sent[number] for number in window.covers if number < len(sent)]
    return [message.text for message in messages if message.reported] or [
        message.text for message in messages
    ]


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
