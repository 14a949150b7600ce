"""What a field of the manners may hold, and the sentence for one that holds something else."""

from collections.abc import Callable
from typing import Any

from dev.standin.steps import MAX_SECONDS, ScriptError, is_number, is_texts

Check = tuple[Callable[[Any], bool], str]
"""Whether a value fits, and what would."""


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def one_of(*values: str) -> Check:
    # A list has no hash, so membership is asked of a tuple.
    return lambda value: value in values, " or ".join(f'"{value}"' for value in values)


def some_of(known: tuple[str, ...]) -> Check:
    return (
        lambda value: is_texts(value) and set(value) <= set(known),
        f"a list out of {', '.join(known)}",
    )


BOOLEAN: Check = (lambda value: isinstance(value, bool), "true or false")
WHOLE: Check = (is_whole, "a whole number")
POSITIVE: Check = (lambda value: is_whole(value) and value > 0, "a positive whole number")
COUNT: Check = (lambda value: is_whole(value) and value >= 0, "a whole number from 0")
SHARE: Check = (lambda value: is_number(value, most=1), "a number from 0 to 1")
SECONDS: Check = (
    lambda value: is_number(value, most=MAX_SECONDS),
    f"a number of seconds from 0 to {MAX_SECONDS}",
)
TEXT: Check = (lambda value: isinstance(value, str), "a text")
OBJECT: Check = (lambda value: isinstance(value, dict), "an object")


def check_fields(value: dict[str, Any], fields: dict[str, Check], what: str) -> None:
    """Raise ScriptError for a field that is unknown or holds what does not fit."""
    if unknown := value.keys() - fields.keys():
        raise ScriptError(f"{what} has no field {min(unknown)!r}; known are: {', '.join(fields)}.")
    for name, one in value.items():
        fits, expected = fields[name]
        if not fits(one):
            raise ScriptError(f"{name} is {expected}.")
