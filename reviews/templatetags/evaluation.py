from collections.abc import Iterable
from typing import Any

from django import template

from classifier.models import EvaluationCase
from reports.models import Report

register = template.Library()


@register.filter
def holding(sets: Iterable[Any], report: Report) -> list[Any]:
    """Those of the sets, as `classifier.evaluation.sets_with` gives them, of which it is a case."""
    return [each for each in sets if report.pk in each.holds]


@register.filter
def lacking(sets: Iterable[Any], report: Report) -> list[Any]:
    return [each for each in sets if report.pk not in each.holds]


@register.filter
def source_name(source: str) -> str:
    return str(EvaluationCase.Source(source).label)
