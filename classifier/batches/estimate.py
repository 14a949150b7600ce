"""What a selection would cost: tokens of a sample of its reports, counted as the calls would be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles
from typing import Any

from django.db import connection

from classifier.capabilities import ANSWER_TOKENS
from classifier.models import Classification, PolicyVersion, ProviderModel
from classifier.questions import PolicyTooLongError, UnknownLimitError, plan_calls
from classifier.tokens import at_least, count
from classifier.windows import TooManyWindowsError
from reports.models import Report

SAMPLE = 200
_ANSWERS = 1_000
_LEAST_ANSWER_TOKENS = 40


@dataclass(frozen=True)
class Tokens:
    """Tokens read and written: by the careful count, which guesses high, and by the least proven."""

    prompt_low: int
    prompt_high: int
    completion_low: int
    completion_high: int

    @property
    def most(self) -> int:
        return self.prompt_high + self.completion_high

    def times(self, reports: int) -> "Tokens":
        return Tokens(
            self.prompt_low * reports,
            self.prompt_high * reports,
            self.completion_low * reports,
            self.completion_high * reports,
        )


def tokens_of_one(
    *,
    policy: PolicyVersion,
    model: ProviderModel,
    history: tuple[str, Mapping[str, Any]],
    ends: tuple[int, int],
) -> Tokens | None:
    """What one report of the history takes on average; None where the model's limit is not known.

    `history` is FROM and WHERE with parameters, `ends` the ids of its first and last report. Reads
    at most `SAMPLE` reports, spread evenly.
    """
    sample = _sample(*history, ends=ends)
    reports = Report.objects.filter(pk__in=sample).select_related("content")
    low: list[int] = []
    high: list[int] = []
    for report in reports:
        try:
            question, windows = plan_calls(policy=policy, report=report, model=model)
        except (UnknownLimitError, PolicyTooLongError):
            return None
        except TooManyWindowsError:
            continue  # it is asked nothing
        prompts = [question.prompt(window) for window in windows]
        counting = question.counting
        texts = [text for prompt in prompts for text in (prompt.system, prompt.user)]
        high.append(sum(count(text, counting) for text in texts))
        low.append(sum(at_least(text, counting) for text in texts))
    if not high:
        return None
    answers = _answers(policy)
    return Tokens(
        prompt_low=int(mean(low)) or int(mean(high)) // 4,
        prompt_high=math.ceil(mean(high)),
        completion_low=answers[0],
        completion_high=answers[1],
    )


def _answers(policy: PolicyVersion) -> tuple[int, int]:
    """Tokens of an answer: the middle four fifths of the model's last, else what one may have."""
    last = (
        Classification.objects.filter(
            policy_version__model=policy.model, completion_tokens__isnull=False
        )
        .order_by("-id")
        .values_list("completion_tokens", flat=True)[:_ANSWERS]
    )
    written = [tokens for tokens in last if tokens is not None]
    if len(written) < 2:
        return _LEAST_ANSWER_TOKENS, ANSWER_TOKENS
    tenths = quantiles(written, n=10)
    return max(1, int(tenths[0])), max(1, math.ceil(tenths[-1]))


def _sample(tables: str, parameters: Mapping[str, Any], *, ends: tuple[int, int]) -> Sequence[int]:
    """Ids of the first report of each part, so that no part of the history is overlooked.

    However few are selected, no part is read twice.
    """
    first, last = ends
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT found.id FROM generate_series(0, %(steps)s - 1) AS step"  # noqa: S608 - our own words
            " CROSS JOIN LATERAL ("
            f"  SELECT report.id {tables}"
            "  AND report.id >= %(first)s + %(ids)s::bigint * step / %(steps)s"
            "  AND report.id < %(first)s + %(ids)s::bigint * (step + 1) / %(steps)s"
            "  ORDER BY report.id LIMIT 1) AS found",
            {**parameters, "steps": SAMPLE, "first": first, "ids": last - first + 1},
        )
        return [row[0] for row in cursor.fetchall()]
