from django import template
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext

from reports.foreign_text import isolated
from reviews.quality.whiskers import Measured

register = template.Library()
register.filter(isolated)


@register.filter
def percent(share: float) -> str:
    """A share as people read it, 0.4%: more digits the smaller it is, and 0% for nothing alone."""
    value = share * 100
    digits = 0 if value in {0, 100} else 1 if value >= 1 else 2 if value >= 0.1 else 3
    return gettext("%(number)s%%") % {"number": floatformat(value, digits)}


@register.filter
def measured(value: float, kind: str) -> str:
    """A number of a picture: a share, or a kappa."""
    return percent(value) if kind == "share" else floatformat(value, 2)


@register.filter
def interval(of: Measured, kind: str) -> str:
    """A value with its interval in words; why there is none, where there is none."""
    if of.value is None:
        return gettext("all said the same") if of.n else gettext("not enough")
    said = {"value": measured(of.value, kind)}
    if of.low is None or of.high is None:
        return said["value"]
    said |= {"low": measured(of.low, kind), "high": measured(of.high, kind)}
    return gettext("%(value)s (%(low)s to %(high)s)") % said
