"""What is asked about one report, and in which parts: measured by the limit as it is now."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils import timezone

from classifier.capabilities import answer_room, parameters, schema_in_prompt
from classifier.catalogue import effective_limit
from classifier.limits import Limit
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.probing import served_names
from classifier.prompt import Evidence, Marks, Prompt, build_prompt, evidence_of
from classifier.reader import Expected, least_tokens
from classifier.tokens import Counting, at_least, count
from classifier.verdict import answer_schema
from classifier.windows import Piece, TooManyWindowsError, Window, split
from reports.models import Report
from reports.submission import Submission

# What the JSON around one message is at the least, in any tokenizer: its id, keys and signs.
FRAME_TOKENS = 6
# What chat templates put around two messages, beyond what is counted.
TEMPLATE_TOKENS = 96
# A budget below this reads a conversation letter by letter.
LEAST_BUDGET = 64
# A comment of more than this share of the limit is split like a message: each call carries it else.
COMMENT_SHARE = 16


class UnknownLimitError(Exception):
    """Nobody has said how much the model reads, so nothing may be sent that it might cut."""

    def __init__(self) -> None:
        super().__init__("run `manage.py sync_models`")


class PolicyTooLongError(Exception):
    """The policy's own text leaves the model no room for a report."""

    def __init__(self) -> None:
        super().__init__("load a shorter policy, or one for a model of longer context")


@dataclass(frozen=True)
class Question:
    """What stays the same over the calls about one report."""

    policy: PolicyVersion
    model: ProviderModel
    limit: Limit
    evidence: Evidence
    submission: Submission
    schema: dict[str, Any]
    more_room: bool

    @property
    def counting(self) -> Counting:
        return Counting(self.model.tokenizer, self.model.token_ratios)

    def room(self, limit: Limit) -> int:
        """Tokens for the answer of one call."""
        return answer_room(self.model, limit, more_room=self.more_room)

    def budget(self, limit: Limit) -> int:
        """Tokens for the messages of one call."""
        room = self.room(limit) if limit.counts_answer else 0
        return limit.tokens - room - self._fixed_tokens()

    def windows(self, *, shrink: float = 1.0) -> list[Window]:
        """The parts that the report is asked in; one where all of it fits.

        Raises `TooManyWindowsError`.
        """
        return split(
            texts=[str(entry["text"]) for entry in self.evidence.entries],
            reported=[bool(entry.get("reported")) for entry in self.evidence.entries],
            cost=lambda piece: count(_as_json(self.entry(piece)), self.counting) + 1,
            budget=int(self.budget(self.limit) * shrink),
            at_most=settings.MAX_WINDOWS,
        )

    def entry(self, piece: Piece) -> dict[str, Any]:
        """A message, or a part of one, as the model is shown it."""
        entry = {**self.evidence.entries[piece.message], "text": piece.text}
        return {**entry, "part": f"{piece.part}/{piece.parts}"} if piece.parts > 1 else entry

    def shown(self, entries: Sequence[Mapping[str, Any]], part: str | None) -> Evidence:
        """The evidence of one call."""
        return replace(self.evidence, entries=entries, part=part)

    def prompt(
        self, window: Window, *, part: str | None = None, marks: Marks | None = None
    ) -> Prompt:
        """What one call about a window says; `part` names it where there are several."""
        return build_prompt(
            policy=self.policy,
            evidence=self.shown([self.entry(piece) for piece in window.pieces], part),
            schema=schema_in_prompt(self.model, self.schema),
            marks=marks,
        )

    def parameters(self) -> dict[str, Any]:
        """The request's fields beside model and messages."""
        return parameters(self.model, schema=self.schema, room=self.room(self.limit))

    def expected(self, window: Window, prompt: Prompt) -> Expected:
        """What an answer to the prompt must fit."""
        return expected(
            policy=self.policy,
            model=self.model,
            ref=prompt.ref,
            least_tokens=self.least_read(window, prompt),
            texts=quotable(self.submission, window),
        )

    def least_read(self, window: Window, prompt: Prompt) -> int:
        """Fewer tokens than this were not the whole prompt."""
        counting = self.counting
        by_words = _least_by_words(prompt.system) + least_tokens(prompt.user)
        by_count = _least_by_count(prompt.system, *_key(counting))
        if counting.tokenizer:
            return max(by_words, by_count + at_least(prompt.user, counting))
        texts = "\n".join(piece.text for piece in window.pieces)
        by_count += at_least(texts, counting) + FRAME_TOKENS * len(window.pieces)
        return max(by_words, by_count)

    def count_unchanging(self, text: str) -> int:
        """As `count`, of a text that is the same for many reports."""
        return _count_of(text, *_key(self.counting))

    def _fixed_tokens(self) -> int:
        """What every call takes beside its messages; the schema counts wherever it stands."""
        empty = build_prompt(
            policy=self.policy,
            evidence=self.shown([], "100 of 100"),
            schema=self.schema,
        )
        return (
            self.count_unchanging(empty.system) + count(empty.user, self.counting) + TEMPLATE_TOKENS
        )


def expected(
    *,
    policy: PolicyVersion,
    model: ProviderModel,
    ref: str,
    least_tokens: int,
    texts: Sequence[str],
) -> Expected:
    """What the reader holds an answer to, of whichever lane."""
    return Expected(
        policy=policy,
        names=served_names(policy),
        ref=ref if model.echoes_ref else None,
        least_tokens=least_tokens,
        texts=texts,
        thinks=model.thinks,
    )


def quotable(submission: Submission, window: Window | None = None) -> list[str]:
    """The texts that a quote may come from: what the call was to judge; without a window all."""
    sent = submission.messages
    numbers = range(len(sent)) if window is None else window.covers
    messages = [sent[number] for number in numbers if number < len(sent)]
    return [message.text for message in messages if message.reported] or [
        message.text for message in messages
    ]


# The policy's text is the same for every report, and the longest of a prompt: counted once.


def _key(counting: Counting) -> tuple[str, tuple[tuple[str, float], ...]]:
    return counting.tokenizer, tuple(sorted(counting.ratios.items()))


@lru_cache(maxsize=16)
def _count_of(text: str, tokenizer: str, ratios: tuple[tuple[str, float], ...]) -> int:
    return count(text, Counting(tokenizer, dict(ratios)))


@lru_cache(maxsize=16)
def _least_by_count(text: str, tokenizer: str, ratios: tuple[tuple[str, float], ...]) -> int:
    return at_least(text, Counting(tokenizer, dict(ratios)))


@lru_cache(maxsize=16)
def _least_by_words(text: str) -> int:
    return least_tokens(text)


def plan_calls(
    *,
    policy: PolicyVersion,
    report: Report,
    model: ProviderModel,
    after: str = "",
    shrink: float = 1.0,
) -> tuple[Question, list[Window]]:
    """What is asked, and in which parts, under the limit as it is now.

    `shrink`: the share of the budget that a part may have. `after`: why the last try brought nothing.
    An answer that was cut gets more room, unless the report would not fit into the parts beside it:
    better asked as before than by nobody.

    Raises `UnknownLimitError`, `PolicyTooLongError`, `TooManyWindowsError`.
    """
    question = _question(policy, report, model)
    if after == WaitingReason.ANSWER_CUT:
        roomy = _give_way(replace(question, more_room=True))
        if roomy.budget(roomy.limit) >= LEAST_BUDGET:
            with suppress(TooManyWindowsError):
                return roomy, roomy.windows(shrink=shrink)
    question = _give_way(question)
    return question, question.windows(shrink=shrink)


def _question(policy: PolicyVersion, report: Report, model: ProviderModel) -> Question:
    """All of the report, once a short question about the policy has been found to fit."""
    limit = effective_limit(model, today=timezone.now().date())
    if limit is None:
        raise UnknownLimitError
    submission = report.content.submission()
    question = Question(
        policy=policy,
        model=model,
        limit=limit,
        evidence=evidence_of(submission, language=report.language),
        submission=submission,
        schema=answer_schema(policy, with_ref=model.echoes_ref),
        more_room=False,
    )
    short = replace(question, evidence=replace(question.evidence, comment=None))
    if short.budget(limit) < LEAST_BUDGET:
        raise PolicyTooLongError
    return question


def _give_way(question: Question) -> Question:
    """The question, its comment split like a message where each call would carry too much of it."""
    evidence, limit = question.evidence, question.limit
    comment = count(evidence.comment or "", question.counting)
    if comment <= limit.tokens // COMMENT_SHARE and question.budget(limit) >= LEAST_BUDGET:
        return question
    return replace(question, evidence=_comment_apart(evidence))


def _comment_apart(evidence: Evidence) -> Evidence:
    """The comment behind the messages, as one of its own."""
    entry = {"id": "comment", "author": "the reporter", "text": evidence.comment or ""}
    return replace(evidence, comment=None, entries=[*evidence.entries, entry])


def _as_json(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False)
