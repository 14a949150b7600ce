"""How the Batch API behaves: `batches` of the manners, an object with some of these fields.

| field | values | what it does |
|---|---|---|
| offered | true, false | false: 404 on every path of it |
| ids | "plain", "odd" | odd: ids that have to be escaped in a path |
| page | positive whole number | a list has so many entries at most, whatever was asked |
| order | "shuffled", "as_sent" | of the answered lines; shuffled within 1,000 |
| seed | whole number | of all that is random here |
| seconds | number | how long a batch is in progress at least |
| ends | "completed", "failed", "expired", "cancelled" | how a batch ends by itself |
| failed_code | text | why, where it ends failed by itself |
| answered | 0..1 | the share that is answered before `seconds`, all that a cut end leaves |
| fails | 0..1 | the share of the answered lines that goes into the error file |
| fail_status | HTTP status or null | of those; null: an error in place of a response |
| fail_code | text | of those |
| empty_file | "", "empty", "null" | completed, and yet the output is an empty file, or none |
| duplicates, unknown, broken | count | further lines in the output: twice, of nobody, of no use |
| most_lines, most_bytes | positive whole number | what a file may have |
| refuses | "validation", "create" | where more than that is found |
| token_limit | lines or null | with more of them in unfinished batches the newest one fails |

A batch keeps the manners that it was created under. A cut end is "expired", whose unanswered lines
stand in the error file, or "cancelled", by itself or when asked, whose unanswered lines are absent.
Each line is answered as a call is, by the script and the manners at that moment, but without its
delay; a step that is about the connection is an error of the line.
"""

from dataclasses import dataclass
from typing import Any

from dev.standin.checks import (
    BOOLEAN,
    COUNT,
    POSITIVE,
    SECONDS,
    SHARE,
    TEXT,
    WHOLE,
    Check,
    check_fields,
    is_whole,
    one_of,
)


@dataclass(frozen=True)
class BatchManners:
    """The fields of the table; the defaults are those of a well-behaved server."""

    offered: bool = True
    ids: str = "plain"
    page: int = 100
    order: str = "shuffled"
    seed: int = 0
    seconds: float = 0
    ends: str = "completed"
    failed_code: str = "invalid_request"
    answered: float = 1
    fails: float = 0
    fail_status: int | None = 500
    fail_code: str = "server_error"
    empty_file: str = ""
    duplicates: int = 0
    unknown: int = 0
    broken: int = 0
    most_lines: int = 50_000
    most_bytes: int = 200_000_000
    refuses: str = "validation"
    token_limit: int | None = None


def read_batch_manners(value: dict[str, Any]) -> BatchManners:
    """Raises ScriptError."""
    check_fields(value, _FIELDS, "batches")
    return BatchManners(**value)


_FIELDS: dict[str, Check] = {
    "offered": BOOLEAN,
    "ids": one_of("plain", "odd"),
    "page": POSITIVE,
    "order": one_of("shuffled", "as_sent"),
    "seed": WHOLE,
    "seconds": SECONDS,
    "ends": one_of("completed", "failed", "expired", "cancelled"),
    "failed_code": TEXT,
    "answered": SHARE,
    "fails": SHARE,
    "fail_status": (
        lambda value: value is None or (is_whole(value) and 400 <= value <= 599),
        "an HTTP status from 400 to 599 or null",
    ),
    "fail_code": TEXT,
    "empty_file": one_of("", "empty", "null"),
    "duplicates": COUNT,
    "unknown": COUNT,
    "broken": COUNT,
    "most_lines": POSITIVE,
    "most_bytes": POSITIVE,
    "refuses": one_of("validation", "create"),
    "token_limit": (
        lambda value: value is None or (is_whole(value) and value >= 0),
        "a whole number from 0 or null",
    ),
}
