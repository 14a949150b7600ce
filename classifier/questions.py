"""What is asked about one report, and in which parts: measured by the limit as it is now."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils import timezone

from classifier.capabilities import answer_room
from classifier.catalogue import effective_limit
from classifier.jobs import Claimed
from classifier.limits import Limit
from classifier.models import PolicyVersion, ProviderModel, WaitingReason
from classifier.prompt import Evidence, build_prompt, evidence_of
from classifier.tokens import Counting, count
from classifier.verdict import answer_schema
from classifier.windows import Piece, TooManyWindowsError, Window, split
from reports.models import Report
from reports.submission import Submission

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

    def _fixed_tokens(self) -> int:
        """What every call takes beside its messages; the schema counts wherever it stands."""
        empty = build_prompt(
            policy=self.policy,
            evidence=self.shown([], "100 of 100"),
            schema=self.schema,
        )
        counting = self.counting
        return count(empty.system, counting) + count(empty.user, counting) + TEMPLATE_TOKENS


def plan_calls(
    *, claimed: Claimed, report: Report, model: ProviderModel, shrink: float = 1.0
) -> tuple[Question, list[Window]]:
    """What is asked, and in which parts, under the limit as it is now.

    `shrink`: the share of the budget that a part may have. An answer that was cut gets more room,
    unless the report would not fit into the parts beside it: better asked as before than by nobody.

    Raises `UnknownLimitError`, `PolicyTooLongError`, `TooManyWindowsError`.
    """
    question = _question(claimed, report, model)
    if claimed.reason == WaitingReason.ANSWER_CUT:
        roomy = _give_way(replace(question, more_room=True))
        if roomy.budget(roomy.limit) >= LEAST_BUDGET:
            with suppress(TooManyWindowsError):
                return roomy, roomy.windows(shrink=shrink)
    question = _give_way(question)
    return question, question.windows(shrink=shrink)


def _question(claimed: Claimed, report: Report, model: ProviderModel) -> Question:
    """All of the report, once a short question about the policy has been found to fit."""
    limit = effective_limit(model, today=timezone.now().date())
    if limit is None:
        raise UnknownLimitError
    submission = report.content.submission()
    question = Question(
        policy=claimed.policy,
        model=model,
        limit=limit,
        evidence=evidence_of(submission, language=report.language),
        submission=submission,
        schema=answer_schema(claimed.policy, with_ref=model.echoes_ref),
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
