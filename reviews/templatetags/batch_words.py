from decimal import Decimal

from django import template

from classifier.batches.flow_picture import Kind
from reports.foreign_text import isolated

register = template.Library()


@register.filter
def grouped(count: int) -> str:
    """A whole number as people read it: 1,204."""
    return f"{count:,}"


@register.filter
def tenths(number: float) -> str:
    return f"{number:,.1f}"


@register.filter
def money(amount: Decimal | None) -> str:
    """An amount in the currency of the price; a dash where none is known."""
    return "–" if amount is None else f"{amount:,.2f}"


@register.filter
def rank_class(kind: Kind) -> str:
    """The style sheet's word for how severe a category is; none where it is not known."""
    return "" if kind.severity is None else f"rank-{kind.severity}"


register.filter(isolated)
