"""JSON as the standard means it, from a server that nobody trusts.

The standard library takes the last of two equal keys, reads NaN and Infinity, and follows any depth
until the stack ends. Here each of those is an error with a name.
"""

import json
import math
import re
from typing import Any, NoReturn

MAX_DEPTH = 32
MAX_NUMBER_CHARACTERS = 100


class StrictJSONError(ValueError):
    """Not one JSON value. `rule` says why in one word; never a piece of the text."""

    def __init__(self, rule: str) -> None:
        super().__init__(rule)
        self.rule = rule


def loads(text: str) -> Any:
    """One JSON value; raises `StrictJSONError`. Measures the depth before it parses."""
    if _depth(text) > MAX_DEPTH:
        raise StrictJSONError("too_deep")
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_short,
        )
    except StrictJSONError:
        raise
    except (ValueError, RecursionError):
        raise StrictJSONError("not_json") from None


# A string, to be passed over whatever it holds, or one bracket. Possessive: it never looks back. One
# that never closes reaches to the end, a last escape included, so that no quote in it is tried anew.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def _depth(text: str) -> int:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return 0  # whatever stands in strings: there are not brackets enough
    depth = deepest = 0
    for token in _TOKENS.finditer(text):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    return deepest


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise StrictJSONError("duplicate_key")
    return found


def _refuse(_name: str) -> NoReturn:
    raise StrictJSONError("not_finite")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value) or len(digits) > MAX_NUMBER_CHARACTERS:
        raise StrictJSONError("number_out_of_range")
    return value


def _short(digits: str) -> int:
    if len(digits) > MAX_NUMBER_CHARACTERS:
        raise StrictJSONError("number_out_of_range")
    return int(digits)
