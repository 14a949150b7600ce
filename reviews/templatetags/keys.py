from typing import Any

from django import template

from reviews.preferences import preferences_of

register = template.Library()


@register.simple_tag
def single_keys(user: Any) -> str:
    """`on` or `off`: whether single letters are commands for this person."""
    return "on" if preferences_of(user).single_keys else "off"
