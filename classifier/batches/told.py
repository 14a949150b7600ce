"""One line of what the provider sends back: which question it is about, and what came of it.

Nothing of a file is trusted. A line that cannot be read, or that names a question nobody asked, is
counted and left; it voids no other.
"""

import hashlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from classifier import strict_json
from classifier.models import WaitingReason
from classifier.provider_errors import Fault, of_status
from classifier.server_errors import codes_of, error_object

# Read, a line of the worst kind takes two dozen times as many in memory.
MOST_LINE_BYTES = 1024 * 1024
_EXPIRED = "batch_expired"


@dataclass(frozen=True)
class Told:
    """About one question: the body of a chat completion, or why there is none."""

    custom_id: uuid.UUID
    body: object = None
    reason: WaitingReason | None = None
    digest: str = ""
    """SHA-256 of the line."""
    size: int = 0
    """Of the line, in bytes."""


def each_told(
    path: Path, *, wanted: Callable[[int], bool] = lambda _number: True
) -> Iterator[Told | None]:
    """Line by line; None for each that cannot be read. No more than one line is in memory.

    `wanted` tells by a line's number, from 0, whether it is read.
    """
    number = -1
    with path.open("rb") as file:
        while raw := file.readline(MOST_LINE_BYTES):
            number += 1
            too_long = len(raw) == MOST_LINE_BYTES and not raw.endswith(b"\n")
            if too_long:
                _pass_over_rest(file)
            if wanted(number) and (too_long or raw.strip()):
                yield None if too_long else _read(raw)


def _pass_over_rest(file: IO[bytes]) -> None:
    """Of a line, to its end or the file's."""
    while (piece := file.readline(MOST_LINE_BYTES)) and not piece.endswith(b"\n"):
        pass


def _read(raw: bytes) -> Told | None:
    try:
        line = strict_json.loads(raw.decode("utf-8-sig"))
        custom_id = uuid.UUID(line["custom_id"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    digest = hashlib.sha256(raw).hexdigest()
    response = line.get("response")
    if (
        isinstance(response, Mapping)
        and response.get("status_code") == 200
        and not line.get("error")
    ):
        return Told(custom_id, body=response.get("body"), digest=digest, size=len(raw))
    return Told(custom_id, reason=_reason(line, response), digest=digest, size=len(raw))


def _reason(line: Mapping[str, Any], response: object) -> WaitingReason:
    """Why a question was not answered, by the error's codes and the status as a call would say."""
    body = response.get("body") if isinstance(response, Mapping) else None
    error = (
        body if isinstance(body, Mapping) and body.get("error") else {"error": line.get("error")}
    )
    if _EXPIRED in codes_of(error_object(error)):
        return WaitingReason.BATCH_EXPIRED
    status = response.get("status_code") if isinstance(response, Mapping) else None
    found = of_status(
        status if type(status) is int and status != 200 else 500,
        body=error,
        headers={},
        request_id=None,
        parameters={},
        user="",
    )
    # What a server says of its queue or our key is of that hour, and of no report.
    return WaitingReason(found.fault if found.fault != Fault.TIMEOUT else Fault.UNAVAILABLE)
