"""aimock's batches through the product's own client: each end that a batch can have, once."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from classifier.batches import remote
from classifier.provider import ProviderError
from dev.interop.tally import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from classifier.batches.remote import RemoteBatch
    from dev.interop.ending import Endings
    from dev.interop.questions import Client
    from dev.interop.tally import Tally

LINES = 20
MODEL = "aimock-batches"
SECONDS = 30.0
"""How long a batch may take; aimock ends it when it is asked for the second time."""
FOUND_WITHIN = 100
MOST_BYTES = 10_000_000


@dataclass(frozen=True)
class End:
    """What aimock leaves behind at an end: how many lines in which file, and codes of errors."""

    status: str
    output: int = 0
    error: int = 0
    errors: tuple[str, ...] = ()
    asked_for: bool = False
    """Cancelled because the client said so."""


ENDS = (
    End("completed", output=LINES),
    End("failed", error=LINES, errors=("mock_failure",)),
    End("expired"),
    End("cancelled"),
    End("cancelled", asked_for=True),
)


def try_batches(
    tally: Tally, client: Client, endings: Endings, *, check: Callable[[], None]
) -> None:
    """Each end once: up, created, found again, told to its end, down, deleted."""
    client.use(base_url=endings.base_url, model=MODEL)
    with tempfile.TemporaryDirectory() as directory:
        say(f"aimock's batches: {len(ENDS)} ends, each of {LINES} lines")
        for number, end in enumerate(ENDS, 1):
            endings.end = "completed" if end.asked_for else end.status
            name = f"a batch {end.status}{' when asked' if end.asked_for else ''}"
            try:
                came, wrong = _try_end(end, Path(directory), number=number, check=check)
            except (ProviderError, ValueError, KeyError) as error:
                came, wrong = f"raised {error}", ["expected no error"]
            told = "; ".join((came, *wrong))
            tally.record(f"aimock: {name}", passed=not wrong, came=told)


def _try_end(
    end: End, directory: Path, *, number: int, check: Callable[[], None]
) -> tuple[str, list[str]]:
    """What came, and what of it was not as expected."""
    ours = {"end": end.status, "number": str(number)}
    path = directory / f"lines-{number}.jsonl"
    expected = Counter(_write_lines(path))
    file = remote.upload(path=path, name=path.name)
    created = remote.create(input_file_id=file.id, metadata=ours)
    wrong = []
    if not remote.offers_batches():
        wrong.append("expected batches to be offered")
    if [one.id for one in remote.each_file(FOUND_WITHIN) if one.name == path.name] != [file.id]:
        wrong.append("expected to find the file by its name")
    if [one.id for one in remote.each_batch(FOUND_WITHIN) if one.metadata == ours] != [created.id]:
        wrong.append("expected to find the batch by its metadata")
    if end.asked_for:
        remote.cancel(created.id)
    batch = _at_its_end(created.id, check=check)
    output = _custom_ids(batch.output_file_id, directory)
    errors = _custom_ids(batch.error_file_id, directory)
    if batch.status != end.status or tuple(batch.errors) != end.errors:
        wrong.append(f"expected {end.status} {', '.join(end.errors)}".strip())
    for what, found, count in (("output", output, end.output), ("errors", errors, end.error)):
        if found != (expected if count else Counter()):
            wrong.append(f"expected each of {count} lines once in the {what}")
    files = [file.id, batch.output_file_id, batch.error_file_id]
    deleted = [remote.delete_file(one) for one in files if one is not None]
    again = [remote.delete_file(one) for one in files if one is not None]
    if not all(deleted) or any(again):
        wrong.append("expected each file to be deleted once")
    came = (
        f"{batch.status}{''.join(f' ({code})' for code in batch.errors)}, "
        f"{output.total()} of {LINES} lines in the output, {errors.total()} among the errors, "
        f"{len(deleted)} files deleted"
    )
    return came, wrong


def _write_lines(path: Path) -> list[str]:
    """Their custom ids."""
    names = [f"{path.stem}-{number}" for number in range(LINES)]
    body = {"model": MODEL, "messages": [{"role": "user", "content": "See you at lunch."}]}
    asked = {"method": "POST", "url": remote.ENDPOINT, "body": body}
    lines = (json.dumps({"custom_id": name, **asked}) + "\n" for name in names)
    path.write_text("".join(lines), "utf-8")
    return names


def _at_its_end(batch_id: str, *, check: Callable[[], None]) -> RemoteBatch:
    until = time.monotonic() + SECONDS
    while not (batch := remote.retrieve(batch_id)).status.is_final:
        check()
        if time.monotonic() > until:
            break
        time.sleep(0.05)
    return batch


def _custom_ids(file_id: str | None, directory: Path) -> Counter[str]:
    if file_id is None:
        return Counter()
    to = directory / "down"
    remote.download(file_id=file_id, to=to, most_bytes=MOST_BYTES)
    return Counter(json.loads(line)["custom_id"] for line in to.read_bytes().splitlines())
