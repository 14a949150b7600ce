"""Files and batches at a server: what a call was, what came of it, what may have come of it."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from pytest_django import Settings

from classifier.batches import remote
from classifier.batches.remote import RemoteBatch, RemoteFile
from classifier.batches.words import RemoteStatus, read_status
from classifier.provider import Fault, ProviderError, send
from classifier.tests.loopback import Server, running_server, send_whole
from dev.standin.client import Standin
from dev.standin.server import running_standin

SETTLED = 20.0
MOST = 1_000_000
METADATA = {"batch": "b-1", "slice": "3"}
HOSTILE_ID = 'file-/../?a=%2F#é "b"'


@pytest.fixture(scope="module")
def _own_standin() -> Iterator[Standin]:
    with running_standin() as running:
        yield running


@pytest.fixture
def standin(_own_standin: Standin, settings: Settings) -> Iterator[Standin]:
    """Without a database: nothing here has one."""
    settings.OPENAI_BASE_URL = _own_standin.base_url
    yield _own_standin
    _own_standin.clear()


def write_lines(path: Path, count: int = 3) -> Path:
    body = {"model": "m", "messages": [{"role": "user", "content": "no evidence"}]}
    asked = {"method": "POST", "url": remote.ENDPOINT, "body": body}
    lines = (json.dumps({"custom_id": f"id-{number}", **asked}) for number in range(count))
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def upload(tmp_path: Path, *, name: str = "lines.jsonl", count: int = 3) -> RemoteFile:
    return remote.upload(path=write_lines(tmp_path / "lines.jsonl", count), name=name)


def create(tmp_path: Path, **metadata: str) -> RemoteBatch:
    return remote.create(input_file_id=upload(tmp_path).id, metadata=metadata)


def at_its_end(standin: Standin, batch: RemoteBatch) -> RemoteBatch:
    standin.standing(settled_within=SETTLED)
    return remote.retrieve(batch.id)


def refusal(call: Callable[[], object]) -> ProviderError:
    with pytest.raises(ProviderError) as refused:
        call()
    return refused.value


@contextmanager
def answering(told: object, settings: Settings) -> Iterator[Server]:
    """A server that says this to everything."""
    body = json.dumps(told).encode()
    with running_server(lambda handler, _request: send_whole(handler, body)) as server:
        settings.OPENAI_BASE_URL = server.base_url
        yield server


# --- The way of one batch


def test_a_file_goes_up_under_its_name_and_comes_down_as_it_was(
    standin: Standin, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "lines.jsonl", 500)

    file = remote.upload(path=path, name='b-1 "slice" 3, بلاغ.jsonl')

    (stands,) = standin.standing()["files"]
    assert (file.id, file.bytes, file.name) == (
        stands["id"],
        path.stat().st_size,
        stands["filename"],
    )
    assert "slice" in file.name
    assert stands["purpose"] == "batch"
    assert file.created_at is not None
    assert abs(file.created_at.timestamp() - time.time()) < 60
    assert (
        remote.download(file_id=file.id, to=tmp_path / "back", most_bytes=MOST)
        == path.stat().st_size
    )
    assert (tmp_path / "back").read_bytes() == path.read_bytes()


def test_a_batch_is_created_and_told_to_its_end(standin: Standin, tmp_path: Path) -> None:
    file = upload(tmp_path)

    batch = remote.create(input_file_id=file.id, metadata=METADATA)
    assert (batch.status, batch.input_file_id) == (RemoteStatus.WAITING, file.id)
    assert batch.metadata == METADATA

    batch = at_its_end(standin, batch)
    assert batch.status is RemoteStatus.COMPLETED
    assert (batch.total, batch.completed, batch.failed) == (3, 0, 3)
    assert (batch.output_file_id, batch.errors) == (None, [])
    assert batch.error_file_id is not None
    remote.download(file_id=batch.error_file_id, to=tmp_path / "errors", most_bytes=MOST)
    lines = [json.loads(line) for line in (tmp_path / "errors").read_bytes().splitlines()]
    assert {line["custom_id"] for line in lines} == {"id-0", "id-1", "id-2"}


@pytest.mark.parametrize("ends", ["expired", "cancelled", "failed"])
def test_other_ends_are_told_as_what_they_are(standin: Standin, tmp_path: Path, ends: str) -> None:
    standin.behave(batches={"ends": ends, "failed_code": "token_limit_exceeded"})
    batch = at_its_end(standin, create(tmp_path))
    assert batch.status == ends
    assert batch.status.is_final
    assert batch.errors == (["token_limit_exceeded"] if ends == "failed" else [])


def test_a_batch_in_progress_is_cancelled_and_a_finished_one_is_not(
    standin: Standin, tmp_path: Path
) -> None:
    standin.behave(batches={"seconds": 60})
    batch = create(tmp_path)
    assert remote.cancel(batch.id).status in {RemoteStatus.CANCELLING, RemoteStatus.CANCELLED}
    assert at_its_end(standin, batch).status is RemoteStatus.CANCELLED

    error = refusal(lambda: remote.cancel(batch.id))
    assert error.status == 409
    assert standin.standing()["counts"]["cancel"] == 1


def test_a_deleted_file_is_gone_and_deleting_it_again_is_no_error(
    standin: Standin, tmp_path: Path
) -> None:
    file = upload(tmp_path)
    assert remote.delete_file(file.id) is True
    assert remote.delete_file(file.id) is False
    assert standin.standing()["files"] == []
    assert (
        refusal(
            lambda: remote.download(file_id=file.id, to=tmp_path / "none", most_bytes=MOST)
        ).status
        == 404
    )


# --- What stands at the server


def test_batches_are_found_over_pages_newest_first(standin: Standin, tmp_path: Path) -> None:
    standin.behave(batches={"page": 2})
    file = upload(tmp_path)
    for number in range(5):
        remote.create(input_file_id=file.id, metadata={"number": str(number)})

    found = [batch.metadata["number"] for batch in remote.each_batch(100)]
    assert found == ["4", "3", "2", "1", "0"]
    assert [batch.metadata["number"] for batch in remote.each_batch(3)] == ["4", "3", "2"]


def test_only_our_uploads_are_found(standin: Standin, tmp_path: Path) -> None:
    standin.script({"kind": "content", "content": "x"}, times=None)
    uploaded = upload(tmp_path)
    batch = at_its_end(standin, remote.create(input_file_id=uploaded.id, metadata={}))
    assert batch.output_file_id is not None
    assert [file.id for file in remote.each_file(100)] == [uploaded.id]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({"data": [{"id": "a"}, {"id": None}, 7, {"id": "b"}], "has_more": False}, ["a", "b"]),
        ([{"id": "a"}], ["a"]),
        # `after` and `has_more` are not known there: the same page comes again.
        ({"data": [{"id": "a"}, {"id": "b"}]}, ["a", "b"]),
        ({"data": [], "has_more": True}, []),
    ],
)
def test_a_list_of_another_kind_comes_to_an_end(
    told: object, found: list[str], settings: Settings
) -> None:
    with answering(told, settings):
        assert [batch.id for batch in remote.each_batch(10)] == found


def test_a_list_is_read_no_further_than_it_goes_or_is_wanted(settings: Settings) -> None:
    with answering({"data": [{"id": "a"}, {"id": "b"}], "has_more": False}, settings) as server:
        assert [batch.id for batch in remote.each_batch(10)] == ["a", "b"]
        assert len(server.requests) == 1
        # More came than was asked for.
        assert [batch.id for batch in remote.each_batch(1)] == ["a"]


def test_whether_there_are_batches_is_asked_of_the_list(standin: Standin) -> None:
    assert remote.offers_batches() is True
    standin.behave(batches={"offered": False})
    assert remote.offers_batches() is False


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "body", "body": '{"error": "Unexpected endpoint or method. (GET /v1/batches)"}'},
        {"kind": "body", "body": "<html>"},
        *({"kind": "error", "status": status} for status in (400, 403, 405, 422, 501)),
    ],
)
def test_a_server_without_batches_says_so_in_many_ways(
    standin: Standin, step: dict[str, Any]
) -> None:
    standin.fail("list_batches", step)
    assert remote.offers_batches() is False


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "close"},
        {"kind": "cut"},
        *({"kind": "error", "status": status} for status in (401, 408, 429, 500, 503)),
    ],
)
def test_a_fault_of_the_hour_says_nothing_of_batches(
    standin: Standin, step: dict[str, Any]
) -> None:
    standin.fail("list_batches", step)
    assert remote.offers_batches() is None


# --- What may have happened


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "close"},
        {"kind": "reset"},
        {"kind": "cut"},
        {"kind": "error", "status": 408},
        {"kind": "error", "status": 409},
        {"kind": "error", "status": 500},
        {"kind": "error", "status": 504},
        {"kind": "body", "body": "<html>"},
        {"kind": "body", "body": '{"object": "file"}'},
    ],
)
@pytest.mark.parametrize("operation", ["upload", "create"])
def test_an_answer_that_is_lost_says_that_it_may_have_happened(
    standin: Standin, tmp_path: Path, operation: str, step: dict[str, Any]
) -> None:
    standin.fail(operation, step)

    error = refusal(lambda: create(tmp_path, key="k-1"))

    assert remote.may_have_happened(error)
    assert error.fault is Fault.UNAVAILABLE
    # Nothing was tried a second time, and what was done is there to be found.
    assert standin.standing()["counts"][operation] == 1
    if operation == "upload":
        assert [file.name for file in remote.each_file(10)] == ["lines.jsonl"]
    else:
        assert [batch.metadata for batch in remote.each_batch(10)] == [{"key": "k-1"}]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 429])
def test_a_refusal_says_that_nothing_happened(
    standin: Standin, tmp_path: Path, status: int
) -> None:
    standin.fail("create", {"kind": "error", "status": status}, effect=False)
    assert not remote.may_have_happened(refusal(lambda: create(tmp_path)))
    assert standin.standing()["batches"] == []


def test_an_answer_that_takes_too_long_may_have_happened(standin: Standin) -> None:
    standin.fail("create", {"kind": "hang", "seconds": 5})
    started = time.monotonic()

    error = refusal(lambda: send(method="post", path="batches", body={}, seconds=0.3))

    assert error.fault is Fault.TIMEOUT
    assert remote.may_have_happened(error)
    assert time.monotonic() - started < 3


# --- Files that are too large, and those that do not come whole


@pytest.mark.parametrize("limit", [{"most_bytes": 100}, {"most_lines": 2}])
@pytest.mark.parametrize("refuses", ["create", "validation"])
def test_a_file_above_the_limits_is_refused_by_name(
    standin: Standin, tmp_path: Path, limit: dict[str, int], refuses: str
) -> None:
    standin.behave(batches={"refuses": refuses, **limit})
    code = "file_too_large" if "most_bytes" in limit else "too_many_lines"
    if refuses == "create":
        error = refusal(lambda: create(tmp_path))
        assert (error.fault, error.code) == (Fault.REJECTED, code)
        assert not remote.may_have_happened(error)
    else:
        assert at_its_end(standin, create(tmp_path)).errors == [code]


@pytest.mark.usefixtures("standin")
def test_a_download_above_its_cap_leaves_nothing(tmp_path: Path) -> None:
    file = upload(tmp_path, count=100)
    to = tmp_path / "down" / "output"
    to.parent.mkdir()

    error = refusal(lambda: remote.download(file_id=file.id, to=to, most_bytes=1_000))

    assert error.code == "too_large"
    assert list(to.parent.iterdir()) == []


def test_a_download_that_is_cut_leaves_what_stood_there(standin: Standin, tmp_path: Path) -> None:
    file = upload(tmp_path)
    to = tmp_path / "output"
    to.write_text("before")
    standin.fail("download", {"kind": "cut"})

    error = refusal(lambda: remote.download(file_id=file.id, to=to, most_bytes=MOST))
    assert error.fault is Fault.UNAVAILABLE
    assert to.read_text() == "before"
    assert not (tmp_path / "output.part").exists()
    assert (
        remote.download(file_id=file.id, to=to, most_bytes=MOST) == to.stat().st_size == file.bytes
    )


# --- What servers say


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("validating", "queued", "PENDING", "JOB_STATE_PENDING", "created"), "waiting"),
        (("in_progress", "RUNNING", "PROGRESS", "in-progress", "Finalizing"), "running"),
        (("cancelling", "CANCELLATION_REQUESTED"), "cancelling"),
        (("completed", "SUCCESS", "succeeded", "JOB_STATE_SUCCEEDED"), "completed"),
        (("failed", "JOB_STATE_FAILED"), "failed"),
        (("expired", "TIMEOUT_EXCEEDED", " Expired "), "expired"),
        (("cancelled", "CANCELED"), "cancelled"),
        (("", "paused", "completed!", None, 7, ["completed"]), "unknown"),
    ],
)
def test_words_for_a_status_are_understood_and_others_end_nothing(
    words: tuple[object, ...], status: str
) -> None:
    assert {read_status(word) for word in words} == {RemoteStatus(status)}
    final = {"completed", "failed", "expired", "cancelled"}
    assert RemoteStatus(status).is_final is (status in final)


@pytest.mark.parametrize(
    ("told", "errors"),
    [
        ({"errors": {"data": [{"code": "a"}, {"message": "prose"}]}}, ["a", "unnamed"]),
        ({"errors": [{"code": "a"}, "prose"]}, ["a", "unnamed"]),
        ({"error": {"code": "a"}}, ["a"]),
        ({"error": "prose"}, ["unnamed"]),
        ({"errors": {"data": [{"code": "the text of a report"}]}}, ["unnamed"]),
        ({"errors": None}, []),
        ({"errors": {"data": []}}, []),
    ],
)
def test_errors_of_a_batch_are_codes_and_never_prose(
    told: dict[str, Any], errors: list[str], settings: Settings
) -> None:
    with answering({"id": "b", "status": "failed", **told}, settings):
        assert remote.retrieve("b").errors == errors


def test_what_a_server_says_wrongly_counts_as_not_said(settings: Settings) -> None:
    told = {
        "id": "b",
        "status": "completed",
        "output_file_id": "",
        "error_file_id": " ",
        "metadata": {"key": "k", "count": 7},
        "request_counts": {"total": -1, "completed": True, "failed": "3"},
        "created_at": 1e300,
    }
    with answering(told, settings):
        batch = remote.retrieve("b")
    assert (batch.output_file_id, batch.error_file_id) == (None, None)
    assert batch.metadata == {"key": "k"}
    assert (batch.total, batch.completed, batch.failed, batch.created_at) == (None,) * 4


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"id": ""}',
        b'{"id": 7}',
        b'{"id": "a\\nb"}',
        b"\xff",
        b'{"id"',
    ],
)
def test_an_answer_without_an_id_is_unreadable(body: bytes, settings: Settings) -> None:
    with running_server(lambda handler, _request: send_whole(handler, body)) as server:
        settings.OPENAI_BASE_URL = server.base_url
        error = refusal(lambda: remote.retrieve("b"))
    assert (error.fault, error.code) == (Fault.UNAVAILABLE, remote.UNREADABLE)


# --- Hostile ids


def test_odd_ids_reach_what_they_name(standin: Standin, tmp_path: Path) -> None:
    standin.behave(batches={"ids": "odd"})
    batch = at_its_end(standin, create(tmp_path))
    assert "/../" in batch.id
    assert batch.error_file_id is not None
    assert remote.download(file_id=batch.error_file_id, to=tmp_path / "errors", most_bytes=MOST) > 0
    assert remote.delete_file(batch.error_file_id) is True
    assert refusal(lambda: remote.cancel(batch.id)).status == 409


@pytest.mark.parametrize(
    "call",
    [
        remote.retrieve,
        remote.cancel,
        remote.delete_file,
        lambda remote_id: remote.download(file_id=remote_id, to=Path("never"), most_bytes=MOST),
    ],
)
def test_an_id_stays_one_segment_of_the_path_or_is_not_sent(
    call: Callable[[str], object], settings: Settings
) -> None:
    paths: list[str] = []

    def respond(handler: Any, _request: Any) -> None:
        paths.append(handler.path)
        send_whole(handler, b"{}", status=400)

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        refusal(lambda: call(HOSTILE_ID))
        for useless in ("", ".", "..", " ", "a\r\nX: y", "x" * 513):
            with pytest.raises(ValueError, match="no identifier"):
                call(useless)
    (path,) = paths
    sent = path.removeprefix("/v1/files/").removeprefix("/v1/batches/")
    sent = sent.removesuffix("/content").removesuffix("/cancel")
    assert unquote(sent) == HOSTILE_ID
    assert not {"/", "?", "#"} & set(sent)
