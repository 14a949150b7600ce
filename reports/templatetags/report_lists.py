from typing import Any

from django import template
from django.utils.safestring import SafeString

from reports.foreign_text import show_controls
from reports.models import Report

register = template.Library()

COUNTED_AT_MOST = 10_000


@register.simple_tag
def report_counts() -> dict[str, int]:
    """Reports by list: exact up to the bound, the bound plus one beyond it."""
    return {
        "pending": Report.objects.pending()[: COUNTED_AT_MOST + 1].count(),
        "overdue": Report.objects.overdue()[: COUNTED_AT_MOST + 1].count(),
        "judged_safe": Report.objects.judged_safe()[: COUNTED_AT_MOST + 1].count(),
    }


@register.filter
def bounded(count: int) -> str:
    """A count as people read it: 1,204, or 10,000+."""
    return f"{COUNTED_AT_MOST:,}+" if count > COUNTED_AT_MOST else f"{count:,}"


@register.filter(name="show_controls")
def shown(text: Any) -> SafeString:
    """See `reports.foreign_text.show_controls`; nothing for null."""
    return show_controls(str(text or ""))
