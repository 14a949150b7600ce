"""Times ahead, by the database's clock."""

from datetime import timedelta

from django.db.models import Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now


def later(seconds: float) -> CombinedExpression:
    """So many seconds from now, for a column."""
    return Now() + Value(timedelta(seconds=seconds))
