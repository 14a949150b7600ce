"""What the pages of evaluation sets show: how many cases of which kind, and the cases themselves."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Prefetch

from classifier.models import Classification, EvaluationCase, EvaluationSet
from reports.models.report import FirstReportedText
from reviews.queue import PAGE


@dataclass(frozen=True)
class SetCounts:
    """One set, and its cases by language, by what people found (blank: no violation) and by source.

    Most first.
    """

    set: EvaluationSet
    total: int
    languages: list[tuple[str, int]]
    categories: list[tuple[str, int]]
    sources: list[tuple[str, int]]


@dataclass(frozen=True)
class CasesPage:
    cases: list[Any]
    """With `excerpt`, the start of the first reported text; None once it is purged."""
    after: str
    """The key of the next page; blank on the last one."""


def count_cases(sets: Iterable[EvaluationSet]) -> list[SetCounts]:
    """Of each of these sets, in their order."""
    every = list(sets)
    counts = {each.pk: (Counter[str](), Counter[str](), Counter[str]()) for each in every}
    rows = EvaluationCase.objects.filter(set__in=every).order_by()
    kinds = rows.values_list("set", "language", "category", "source").annotate(many=Count("*"))
    for pk, *values, many in kinds:
        for counter, value in zip(counts[pk], values, strict=True):
            counter[value] += many
    return [
        SetCounts(
            each, counts[each.pk][0].total(), *(found.most_common() for found in counts[each.pk])
        )
        for each in every
    ]


def read_cases(evaluation_set: EvaluationSet, *, after: str = "") -> CasesPage:
    """The newest first. `after` is the key that the page before gave; `ValueError` for another."""
    cases = EvaluationCase.objects.filter(set=evaluation_set)
    if after:
        beyond = int(after)
        if not 0 < beyond < 2**63:
            raise ValueError(after)
        cases = cases.filter(pk__lt=beyond)
    current = Classification.objects.filter(superseded=False)
    rows = list(
        cases.select_related("report__item", "report__sender", "added_by")
        .prefetch_related(Prefetch("report__classifications", current))
        .annotate(excerpt=FirstReportedText("content"))
        .defer("content")
        .order_by("-pk")[: PAGE + 1]
    )
    return CasesPage(rows[:PAGE], str(rows[PAGE - 1].pk) if len(rows) > PAGE else "")
