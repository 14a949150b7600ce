"""Lines of a provider's file that are meant to fill the memory: read one by one, few kept at once."""

import json
import uuid
from pathlib import Path

import pytest

from classifier.batches.record import Split, record_file
from classifier.batches.told import MOST_LINE_BYTES, Told, each_told
from classifier.models import Batch, PolicyVersion, ProviderBatch, ProviderModel
from classifier.tests.history import batch_of, next_version, send_judged
from dev.standin.client import Standin
from reports.tests.sending import Client

NAMED = uuid.UUID("7b3f5f8e-3f0f-4f7e-9a52-0b6a9c1d2e3f")


def line(content: str = "x") -> bytes:
    """A line of an answer."""
    response = {"status_code": 200, "body": {"content": content}}
    return json.dumps({"custom_id": str(NAMED), "response": response}).encode() + b"\n"


def told(path: Path, content: bytes) -> list[bool]:
    """For each line of a file of this content whether it could be read."""
    path.write_bytes(content)
    return [isinstance(each, Told) for each in each_told(path)]


@pytest.mark.parametrize("pieces", [1, 2, 3.25, 5])
def test_a_line_too_long_is_one_broken_line_however_long(tmp_path: Path, pieces: float) -> None:
    long = b"x" * int(MOST_LINE_BYTES * pieces) + b"\n"

    assert told(tmp_path / "file", line() + long + line()) == [True, False, True]


@pytest.mark.parametrize("pieces", [1, 1.5, 3])
def test_the_last_line_may_be_too_long_and_have_no_end(tmp_path: Path, pieces: float) -> None:
    assert told(tmp_path / "file", line() + b"x" * int(MOST_LINE_BYTES * pieces)) == [True, False]


def test_numbers_of_lines_count_those_too_long(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(line() + b"x" * (3 * MOST_LINE_BYTES) + b"\n" + line("second"))

    (found,) = each_told(path, wanted=lambda number: number == 2)

    assert found is not None
    assert found.body == {"content": "second"}


@pytest.mark.django_db(transaction=True)
def test_of_large_lines_fewer_are_kept_at_once(
    client_of_sender: Client,
    policy: PolicyVersion,
    standin: Standin,  # noqa: ARG001 - its settings
    tmp_path: Path,
) -> None:
    batch: Batch = batch_of(next_version(), send_judged(client_of_sender, 1, policy=policy))
    path = tmp_path / "file"
    path.write_bytes(b"".join(_of_nobody(900 * 1024) for _line in range(20)))
    slices: list[None] = []

    counted = record_file(
        provider_batch=ProviderBatch.objects.create(batch=batch),
        path=path,
        policy=batch.policy_version,
        model=ProviderModel.objects.of_policy(batch.policy_version),
        between=lambda: slices.append(None),
        split=Split(),
    )

    assert (counted.read, counted.unknown) == (20, 20)
    assert len(slices) == 4


def _of_nobody(size: int) -> bytes:
    return line("x" * size).replace(str(NAMED).encode(), str(uuid.uuid4()).encode())
