"""Sample reports of the project's own, English and Arabic: what the demo sends through the API.

`reports.jsonl` holds one request body of POST /api/v1/reports/ a line. Every person, place and
address in it is invented. Some items are reported more than once, some texts are conversations,
some hold emoji sequences or bidi controls. By the stand-in's rules about half ask for review,
more than two fifths are no violation, and the rest is too uncertain to be called safe.
"""

import copy
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("reports.jsonl")


def sample_reports(count: int) -> Iterator[dict[str, Any]]:
    """The first `count` request bodies, always the same ones.

    Beyond the end of the file the same texts come again under new item and message ids
    (`m-1001-2`, `m-1001-3`, ...). Raises ValueError when count is negative.
    """
    return islice(_endless(), count)


def _endless() -> Iterator[dict[str, Any]]:
    with _FILE.open(encoding="utf-8") as file:
        reports = [json.loads(line) for line in file]
    yield from copy.deepcopy(reports)
    turn = 2
    while True:
        for report in reports:
            yield _renamed(report, f"-{turn}")
        turn += 1


def _renamed(report: dict[str, Any], suffix: str) -> dict[str, Any]:
    renamed = copy.deepcopy(report)
    renamed["item"]["id"] += suffix
    for message in renamed["messages"]:
        message["id"] += suffix
    return renamed
