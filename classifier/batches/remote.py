"""The Files and Batch API of an OpenAI-compatible server: what the call was, and what came of it.

Every call is bounded in time and bytes and raises `ProviderError`, which holds nothing of a file.
No call is tried again here: servers know no idempotency for them, so whoever is told of a fault
asks `may_have_happened` and looks for what stands at the server before calling once more.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from classifier import provider, strict_json
from classifier.batches import files
from classifier.batches.words import RemoteStatus, read_status
from classifier.provider import Fault, ProviderError
from classifier.server_errors import one_word

ENDPOINT = "/v1/chat/completions"
COMPLETION_WINDOW = "24h"  # the only one that every server has

CALL_SECONDS = 30.0
CREATE_SECONDS = 60.0  # servers look into the file before they answer
SLOWEST_BYTES_PER_SECOND = 250_000
"""A slower line gets a file neither up nor down in the time that it is given."""
PAGE = 100
MOST_ID_CHARACTERS = 200  # as in our columns
MOST_COUNT = 2**31 - 1  # likewise

UNREADABLE = "unreadable_reply"
TOO_LARGE = "too_large"
# Of the hour or of our key; they say nothing of what was asked.
_PASSING = frozenset({401, 402, 408, 409, 425, 429})


@dataclass(frozen=True)
class RemoteFile:
    """A file that stands at the server. `bytes` is its size, where it is told."""

    id: str
    name: str
    bytes: int | None
    created_at: datetime | None


@dataclass(frozen=True)
class RemoteBatch:
    """A batch as the server tells it; what it does not tell is None or empty.

    `total`, `completed` and `failed` count lines. `errors` are codes of why it failed as a whole,
    "unnamed" where there is only prose.
    """

    id: str
    status: RemoteStatus
    input_file_id: str | None
    output_file_id: str | None
    error_file_id: str | None
    metadata: dict[str, str]
    total: int | None
    completed: int | None
    failed: int | None
    errors: list[str]
    created_at: datetime | None


Found = TypeVar("Found", RemoteBatch, RemoteFile)


def upload(*, path: Path, name: str) -> RemoteFile:
    """Send a file of lines under this name, in a time that grows with its size."""
    seconds = CALL_SECONDS + path.stat().st_size / SLOWEST_BYTES_PER_SECOND
    body = provider.upload_file(path=path, name=name, purpose="batch", seconds=seconds)
    return _whole(body, _read_file)


def create(*, input_file_id: str, metadata: Mapping[str, str]) -> RemoteBatch:
    """Have an uploaded file's lines answered. The answer says only that it was accepted."""
    wish = {
        "input_file_id": input_file_id,
        "endpoint": ENDPOINT,
        "completion_window": COMPLETION_WINDOW,
        "metadata": dict(metadata),
    }
    body = provider.send(method="post", path="batches", body=wish, seconds=CREATE_SECONDS)
    return _whole(body, _read_batch)


def retrieve(batch_id: str) -> RemoteBatch:
    """How far it is."""
    path = f"batches/{_segment(batch_id)}"
    return _whole(provider.send(method="get", path=path, seconds=CALL_SECONDS), _read_batch)


def cancel(batch_id: str) -> RemoteBatch:
    """Ask for its end; lines that are answered until then come in its files."""
    path = f"batches/{_segment(batch_id)}/cancel"
    return _whole(provider.send(method="post", path=path, seconds=CALL_SECONDS), _read_batch)


def each_batch(at_most: int) -> Iterator[RemoteBatch]:
    """The account's batches, in the server's order, which is newest first; at most so many."""
    return _each("batches", {}, _read_batch, at_most)


def each_file(at_most: int, *, purpose: str = "batch") -> Iterator[RemoteFile]:
    """The account's uploads for batches, or their "batch_output", in the server's order."""
    return _each("files", {"purpose": purpose}, _read_file, at_most)


def download(*, file_id: str, to: Path, most_bytes: int) -> int:
    """Have the whole content at `to`, or nothing; how many bytes it has.

    Raises `ProviderError`, with the code `TOO_LARGE` above `most_bytes`; OSError where there is
    no room.
    """
    part = to.with_name(f"{to.name}.part")
    files.begin(part)
    try:
        size = provider.download_file(
            file_id=_checked(file_id),
            to=part,
            most_bytes=most_bytes,
            seconds=CALL_SECONDS + most_bytes / SLOWEST_BYTES_PER_SECOND,
        )
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
    return size


def delete_file(file_id: str) -> bool:
    """Whether it was there; either way it is gone."""
    try:
        provider.send(method="delete", path=f"files/{_segment(file_id)}", seconds=CALL_SECONDS)
    except ProviderError as error:
        if error.status == 404:
            return False
        raise
    return True


def offers_batches() -> bool | None:
    """Whether the server has a Batch API; None: it did not say.

    Servers without one say so in many ways: by most statuses, with an error under a status of 200,
    with a page in HTML.
    """
    query = {"limit": "1"}
    try:
        body = provider.send(method="get", path="batches", query=query, seconds=CALL_SECONDS)
        _listed(_json(body))
    except ProviderError as error:
        said = error.code == UNREADABLE or is_for_good(error)
        return False if said else None
    return True


def is_for_good(error: ProviderError) -> bool:
    """Whether the server will say the same to the same request, as far as can be known."""
    status = error.status
    if status is None or status in _PASSING:
        return False
    return status < 500 or status == 501


def may_have_happened(error: ProviderError) -> bool:
    """Whether the server may have done what was asked although this came back."""
    return error.status is None or error.status >= 500 or error.status in {408, 409}


def _each(
    path: str,
    query: Mapping[str, str],
    read: Callable[[Mapping[str, Any]], Found | None],
    at_most: int,
) -> Iterator[Found]:
    """Page by page behind the last entry. A server that ignores `after` repeats itself: its end."""
    seen: set[str] = set()
    after: dict[str, str] = {}
    while len(seen) < at_most:
        page = {**query, **after, "limit": str(min(PAGE, at_most - len(seen)))}
        told = _json(provider.send(method="get", path=path, query=page, seconds=CALL_SECONDS))
        # An entry that cannot be read must not hide those behind it.
        entries = [entry for each in _listed(told) if (entry := read(_object(each))) is not None]
        fresh = [entry for entry in entries if entry.id not in seen]
        for entry in fresh[: at_most - len(seen)]:
            seen.add(entry.id)
            yield entry
        if not fresh or _object(told).get("has_more") is False:
            return
        after = {"after": entries[-1].id}


def _read_file(told: Mapping[str, Any]) -> RemoteFile | None:
    file_id = _identifier(told.get("id"))
    if file_id is None:
        return None
    name = told.get("filename")
    return RemoteFile(
        id=file_id,
        name=name if isinstance(name, str) else "",
        bytes=_count(told.get("bytes")),
        created_at=_moment(told.get("created_at")),
    )


def _read_batch(told: Mapping[str, Any]) -> RemoteBatch | None:
    batch_id = _identifier(told.get("id"))
    if batch_id is None:
        return None
    counts, metadata = _object(told.get("request_counts")), _object(told.get("metadata"))
    return RemoteBatch(
        id=batch_id,
        status=read_status(told.get("status")),
        input_file_id=_identifier(told.get("input_file_id")),
        output_file_id=_identifier(told.get("output_file_id")),
        error_file_id=_identifier(told.get("error_file_id")),
        metadata={name: value for name, value in metadata.items() if isinstance(value, str)},
        total=_count(counts.get("total")),
        completed=_count(counts.get("completed")),
        failed=_count(counts.get("failed")),
        errors=_codes(told.get("errors") or told.get("error")),
        created_at=_moment(told.get("created_at")),
    )


def _codes(told: object) -> list[str]:
    """One a complaint: a list in an object, a bare list, or a sentence."""
    listed = _object(told).get("data", told)
    complaints = listed if isinstance(listed, list) else [listed] if listed else []
    return [one_word(_object(each).get("code")) or "unnamed" for each in complaints]


def _whole(body: bytes, read: Callable[[Mapping[str, Any]], Found | None]) -> Found:
    found = read(_object(_json(body)))
    if found is None:
        raise ProviderError(Fault.UNAVAILABLE, code=UNREADABLE)
    return found


def _json(body: bytes) -> object:
    try:
        found: object = strict_json.loads(body.decode("utf-8-sig"))
    except (UnicodeDecodeError, strict_json.StrictJSONError):
        raise ProviderError(Fault.UNAVAILABLE, code=UNREADABLE) from None
    return found


def _listed(told: object) -> list[object]:
    """The entries of a list, which some servers send bare."""
    entries = told if isinstance(told, list) else _object(told).get("data")
    if not isinstance(entries, list):
        raise ProviderError(Fault.UNAVAILABLE, code=UNREADABLE)
    return entries


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _identifier(value: object) -> str | None:
    """None for the empty text too, which some servers have for a file that there is not."""
    usable = isinstance(value, str) and value.isprintable() and len(value) <= MOST_ID_CHARACTERS
    return value if usable and isinstance(value, str) and value.strip(" .") else None


def _checked(file_id: str) -> str:
    if _identifier(file_id) is None:
        raise ValueError("no identifier of a remote file or batch")
    return file_id


def _segment(remote_id: str) -> str:
    """One segment of a path, whatever a server puts into an id."""
    return quote(_checked(remote_id), safe="")


def _count(value: object) -> int | None:
    usable = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_COUNT
    return value if usable and isinstance(value, int) else None


def _moment(value: object) -> datetime | None:
    """Seconds since 1970, or ISO 8601; without a zone it is taken for UTC."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
