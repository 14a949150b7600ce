from typing import Any

from django import template

from classifier.history import PastVerdict, read_history

register = template.Library()


@register.simple_tag
def verdict_history(report: Any) -> list[PastVerdict]:
    """A report's verdicts, newest first; reads what was prefetched."""
    return read_history(report.classifications.all())
