from typing import Any

from django import template
from django.utils.safestring import SafeString

from reports.counting import COUNTED_AT_MOST, bounded
from reports.foreign_text import show_controls
from reports.models import Report

register = template.Library()

register.filter(bounded)


@register.simple_tag
def report_counts() -> dict[str, int]:
    """Reports by list: exact up to the bound, the bound plus one beyond it."""
    return {
        "pending": Report.objects.pending()[: COUNTED_AT_MOST + 1].count(),
        "overdue": Report.objects.overdue()[: COUNTED_AT_MOST + 1].count(),
        "judged_safe": Report.objects.judged_safe()[: COUNTED_AT_MOST + 1].count(),
    }


@register.filter(name="show_controls")
def shown(text: Any) -> SafeString:
    """See `reports.foreign_text.show_controls`; nothing for null."""
    return show_controls(str(text or ""))
