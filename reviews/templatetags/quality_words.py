from django import template
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext

from reports.foreign_text import isolated
from reviews.quality.whiskers import Measured

register = template.Library()
register.filter(isolated)

_MANY = 1000
"""From so many answers on, a tenth of a percent says something of a share above 10%."""


@register.filter
def percent(share: float) -> str:
    """A share as people read it, 0.4%: more digits the smaller it is, and 0% for nothing alone."""
    return _percent(share, _digits(share))


@register.filter
def measured(value: float, kind: str) -> str:
    """A number of a picture: a share, or a kappa."""
    return percent(value) if kind == "share" else _kappa(value, 2)


@register.filter
def on_axis(value: float, kind: str) -> str:
    """A number of an axis, with no digits but those that it has."""
    shown = value * 100 if kind == "share" else value
    digits = next((each for each in range(4) if abs(shown - round(shown, each)) < 1e-9), 4)
    return _percent(value, digits) if kind == "share" else _kappa(value, digits)


@register.filter
def value_of(of: Measured, kind: str) -> str:
    """A value that was measured, with as many digits as beside its interval."""
    return _in_words(of, kind)[0]


@register.filter
def interval(of: Measured, kind: str) -> str:
    """A value with its interval in words; why there is none, where there is none."""
    if of.value is None:
        return gettext("all said the same") if of.n else gettext("not enough")
    value, low, high = _in_words(of, kind)
    if not low:
        return gettext("%(value)s (too few for an interval)") % {"value": value}
    return gettext("%(value)s (%(low)s to %(high)s)") % {"value": value, "low": low, "high": high}


def _in_words(of: Measured, kind: str) -> tuple[str, str, str]:
    """Value, low and high with the same number of digits; blank what is not known."""
    numbers = (of.value, of.low, of.high)
    if kind != "share":
        value, low, high = ("" if each is None else _kappa(each, 2) for each in numbers)
        return value, low, high
    # A bound above nothing is not written as nothing, nor is nothing's own bound.
    digits = _digits(of.value or of.high or 0, of.n)
    if of.low and of.low > 0:
        digits = max(digits, next((d for d in range(4) if round(of.low * 100, d)), 3))
    value, low, high = ("" if each is None else _percent(each, digits) for each in numbers)
    return value, low, high


def _digits(share: float, answers: int = 0) -> int:
    value = share * 100
    if value >= 10:
        return 1 if answers >= _MANY else 0
    return 1 if value >= 1 else 2 if value >= 0.1 else 3


def _percent(share: float, digits: int) -> str:
    number = floatformat(share * 100, 0 if share in {0, 1} else digits)
    return gettext("%(number)s%%") % {"number": number}


def _kappa(value: float, digits: int) -> str:
    """Isolated where it has a sign, which would go to its other side among what is read leftwards."""
    number = floatformat(value, digits)
    return isolated(number) if value < 0 else number
