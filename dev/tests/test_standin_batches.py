"""The stand-in's Files and Batch API, over real HTTP and by none of the product's code."""

import contextlib
import http.client
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from dev.standin.client import Standin
from dev.standin.script import ScriptError
from dev.standin.server import running_standin
from dev.tests.test_standin import connect, evidence, request_body, send, verdict_of

THREAT = "I will kill you tomorrow"
SETTLED = 20.0


def line(custom_id: str, text: str = "Good morning", **changes: Any) -> dict[str, Any]:
    body = request_body(evidence(text, ref=f"ref-of-{custom_id}"))
    asked = {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions"}
    return {**asked, "body": body} | changes


def lines(count: int) -> list[dict[str, Any]]:
    return [line(f"id-{number}") for number in range(count)]


def form(content: bytes, *, name: str = "lines.jsonl", purpose: str = "batch") -> tuple[bytes, str]:
    parts = (
        b'--edge\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n' + purpose.encode(),
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="'
        + name.encode()
        + b'"\r\nContent-Type: application/jsonl\r\n\r\n'
        + content,
        b"--edge--\r\n",
    )
    return b"\r\n".join(parts), "multipart/form-data; boundary=edge"


def post_file(standin: Standin, content: bytes, **told: str) -> tuple[int, dict[str, Any]]:
    body, content_type = form(content, **told)
    with contextlib.closing(connect(standin)) as connection:
        connection.request("POST", "/v1/files", body, {"Content-Type": content_type})
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def upload(standin: Standin, requests: list[dict[str, Any]], **told: str) -> dict[str, Any]:
    content = "".join(f"{json.dumps(request)}\n" for request in requests).encode()
    status, file = post_file(standin, content, **told)
    assert status == 200
    return file


def call(standin: Standin, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    with contextlib.closing(connect(standin)) as connection:
        status, raw, _ = send(connection, method, path, body)
    return status, json.loads(raw)


def wish(file: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "input_file_id": file["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    } | changes


def create(standin: Standin, requests: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    """A new batch as it was shown when it was created."""
    status, batch = call(standin, "POST", "/v1/batches", wish(upload(standin, requests), **changes))
    assert status == 200
    return dict(batch)


def ended(standin: Standin, requests: list[dict[str, Any]], **manners: Any) -> dict[str, Any]:
    """A batch under these manners, at its end."""
    standin.behave(batches=manners)
    batch = create(standin, requests)
    standin.standing(settled_within=SETTLED)
    return retrieve(standin, batch)


def retrieve(standin: Standin, batch: dict[str, Any]) -> dict[str, Any]:
    status, found = call(standin, "GET", f"/v1/batches/{quote(batch['id'], safe='')}")
    assert status == 200
    return dict(found)


def reaches(standin: Standin, batch: dict[str, Any], status: str) -> dict[str, Any]:
    until = time.monotonic() + SETTLED
    while (found := retrieve(standin, batch))["status"] != status:
        assert time.monotonic() < until
    return found


def content(standin: Standin, file_id: str) -> bytes:
    with contextlib.closing(connect(standin)) as connection:
        status, raw, _ = send(connection, "GET", f"/v1/files/{quote(file_id, safe='')}/content")
    assert status == 200
    return raw


def output(standin: Standin, batch: dict[str, Any], kind: str = "output") -> list[dict[str, Any]]:
    return [json.loads(one) for one in content(standin, batch[f"{kind}_file_id"]).splitlines()]


def complaints(batch: dict[str, Any]) -> list[str]:
    assert batch["status"] == "failed"
    return [one["code"] for one in batch["errors"]["data"]]


# --- Files


def test_a_file_is_kept_listed_read_and_deleted(standin: Standin) -> None:
    stored = b"\xff\r\n--edg\r\n--\n" * 20_000
    status, file = post_file(standin, stored, name="a b.jsonl")
    assert status == 200
    assert (file["object"], file["filename"], file["bytes"]) == ("file", "a b.jsonl", len(stored))

    assert call(standin, "GET", f"/v1/files/{file['id']}") == (200, file)
    assert call(standin, "GET", "/v1/files?purpose=batch")[1]["data"] == [file]
    assert call(standin, "GET", "/v1/files?purpose=batch_output")[1]["data"] == []
    assert content(standin, file["id"]) == stored
    deleted = {"id": file["id"], "object": "file", "deleted": True}
    assert call(standin, "DELETE", f"/v1/files/{file['id']}") == (200, deleted)
    for method, path in (("DELETE", ""), ("GET", ""), ("GET", "/content")):
        assert call(standin, method, f"/v1/files/{file['id']}{path}")[0] == 404


def test_an_empty_file_is_a_file(standin: Standin) -> None:
    status, file = post_file(standin, b"")
    assert (status, file["bytes"], content(standin, file["id"])) == (200, 0, b"")


def test_a_large_file_is_never_held_whole(standin: Standin) -> None:
    megabyte = b"x" * 2**20
    head, rest = form(b"%")[0].split(b"%")
    size = 200
    connection = connect(standin, timeout=60)
    connection.putrequest("POST", "/v1/files")
    connection.putheader("Content-Type", "multipart/form-data; boundary=edge")
    connection.putheader("Content-Length", str(len(head) + len(rest) + size * len(megabyte)))
    before = peak_of_this_process()
    connection.endheaders(head)
    for _ in range(size):
        connection.send(megabyte)
    connection.send(rest)
    file = json.loads(connection.getresponse().read())
    connection.request("GET", f"/v1/files/{file['id']}/content")
    response = connection.getresponse()
    came = 0
    while piece := response.read(2**20):
        came += len(piece)
    assert came == file["bytes"] == size * len(megabyte)
    assert peak_of_this_process() - before < 50 * 2**20


def peak_of_this_process() -> int:
    """Bytes that were resident at most; the stand-in is a thread of this process."""
    told = Path("/proc/self/status").read_text("ascii")
    return 1024 * int(told.partition("VmHWM:")[2].split()[0])


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{}", "application/json"),
        (b"no boundary in it", "multipart/form-data; boundary=edge"),
        (form(b"x")[0][:-8], "multipart/form-data; boundary=edge"),
        (b"--edge\r\n" + b"x" * 20_000, "multipart/form-data; boundary=edge"),
        (b"--edge--\r\n", "multipart/form-data; boundary=edge"),
    ],
)
def test_what_is_no_form_with_a_file_is_refused(
    standin: Standin, body: bytes, content_type: str
) -> None:
    with contextlib.closing(connect(standin)) as connection:
        connection.request("POST", "/v1/files", body, {"Content-Type": content_type})
        assert connection.getresponse().status == 400
    assert standin.standing()["files"] == []


def test_a_file_for_another_purpose_is_refused(standin: Standin) -> None:
    assert post_file(standin, b"x", purpose="fine-tune")[0] == 400
    assert standin.standing()["counts"] == {}


# --- A batch from its creation to its end


def test_each_line_is_answered_as_a_call_would_be(standin: Standin) -> None:
    batch = create(standin, [line("one", THREAT), line("two")], metadata={"key": "k-1"})
    assert (batch["status"], batch["output_file_id"]) == ("validating", None)
    standin.standing(settled_within=SETTLED)

    batch = retrieve(standin, batch)
    assert (batch["object"], batch["status"], batch["errors"]) == ("batch", "completed", None)
    assert batch["metadata"] == {"key": "k-1"}
    assert batch["request_counts"] == {"total": 2, "completed": 2, "failed": 0}
    assert batch["error_file_id"] is None
    answers = {one["custom_id"]: one for one in output(standin, batch)}
    assert answers.keys() == {"one", "two"}
    assert answers["one"]["error"] is None
    assert answers["one"]["response"]["status_code"] == 200
    completion = answers["one"]["response"]["body"]
    assert completion["usage"]["prompt_tokens"] > 0
    verdict = json.loads(completion["choices"][0]["message"]["content"])
    assert (verdict["ref"], verdict["category"]) == ("ref-of-one", "credible_threat")
    assert standin.calls() == []
    file = call(standin, "GET", f"/v1/files/{batch['output_file_id']}")[1]
    assert file["purpose"] == "batch_output"


def test_many_lines_are_answered_alike_by_a_process_of_their_own(standin: Standin) -> None:
    long = "word " * 3000
    requests = [line(f"id-{n}", THREAT if n % 3 else f"Good {long}") for n in range(1000)]
    standin.behave(served_model="other", context=500)
    batch = create(standin, requests)
    standin.standing(settled_within=SETTLED)
    batch = retrieve(standin, batch)

    assert batch["request_counts"] == {"total": 1000, "completed": 666, "failed": 334}
    answers = {one["custom_id"]: one["response"]["body"] for one in output(standin, batch)}
    assert answers.keys() == {f"id-{n}" for n in range(1000) if n % 3}
    verdicts = {name: verdict_of(body) for name, body in answers.items()}
    assert all(found["ref"] == f"ref-of-{name}" for name, found in verdicts.items())
    assert {found["category"] for found in verdicts.values()} == {"credible_threat"}
    assert {body["model"] for body in answers.values()} == {"other"}
    codes = {one["response"]["body"]["error"]["code"] for one in output(standin, batch, "error")}
    assert codes == {"context_length_exceeded"}


def test_scripts_and_manners_are_about_lines_too(standin: Standin) -> None:
    standin.script({"kind": "verdict", "confidence": 95}, match=THREAT)
    standin.script({"kind": "error", "status": 429}, match="limited")
    standin.script({"kind": "hang", "seconds": 60}, match="nobody waits")
    standin.behave(served_model="other", refused_parameters=["temperature"])
    refused = line("refused")
    refused["body"]["temperature"] = 0
    requests = [line("threat", THREAT), line("limited", "limited"), refused]
    batch = create(standin, [*requests, line("hangs", "nobody waits"), line("none", body={})])
    standin.standing(settled_within=SETTLED)
    batch = retrieve(standin, batch)

    (answered,) = output(standin, batch)
    assert answered["response"]["body"]["model"] == "other"
    assert '"confidence": 95' in answered["response"]["body"]["choices"][0]["message"]["content"]
    failed = {one["custom_id"]: one for one in output(standin, batch, "error")}

    assert failed["limited"]["response"]["status_code"] == 429
    assert failed["refused"]["response"]["body"]["error"]["param"] == "temperature"
    assert failed["none"]["response"]["status_code"] == 400
    assert (failed["hangs"]["response"], failed["hangs"]["error"]["code"]) == (None, "server_error")
    assert batch["request_counts"] == {"total": 5, "completed": 1, "failed": 4}


def test_the_order_is_another_one_unless_it_is_to_be_kept(standin: Standin) -> None:
    asked = [f"id-{number}" for number in range(50)]
    orders = [
        [one["custom_id"] for one in output(standin, ended(standin, lines(50), **manners))]
        for manners in ({}, {}, {"seed": 1}, {"order": "as_sent"})
    ]
    assert [sorted(order) for order in orders] == [sorted(asked)] * 4
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) == 3
    assert orders[3] == asked


def test_metadata_and_input_are_what_the_api_takes(standin: Standin) -> None:
    file = upload(standin, lines(1))
    for wrong in (
        {"input_file_id": "file-none"},
        {"endpoint": "/v1/embeddings"},
        {"completion_window": "1h"},
        {"metadata": {"a": 1}},
        {"metadata": {"a": "x" * 513}},
        {"metadata": {str(number): "x" for number in range(17)}},
    ):
        assert call(standin, "POST", "/v1/batches", wish(file, **wrong))[0] == 400
    assert standin.standing()["batches"] == []


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ("not json", "invalid_json_line"),
        ([], "invalid_json_line"),
        (line(""), "missing_required_parameter"),
        (line("id-0"), "duplicate_custom_id"),
        (line("x", method="GET"), "invalid_method"),
        (line("x", url="/v1/embeddings"), "mismatched_endpoint"),
        (line("x", body=None), "missing_required_parameter"),
    ],
)
def test_a_line_that_is_no_request_fails_all_of_it(standin: Standin, wrong: Any, code: str) -> None:
    text = wrong if isinstance(wrong, str) else json.dumps(wrong)
    _, file = post_file(standin, f"{json.dumps(line('id-0'))}\n{text}\n".encode())
    batch = call(standin, "POST", "/v1/batches", wish(file))[1]
    standin.standing(settled_within=SETTLED)
    batch = retrieve(standin, batch)
    assert complaints(batch) == [code]
    assert batch["errors"]["data"][0]["line"] == 2
    assert (batch["output_file_id"], batch["error_file_id"]) == (None, None)


def test_a_file_without_lines_fails(standin: Standin) -> None:
    assert complaints(ended(standin, [])) == ["empty_file"]


# --- Manners


def test_what_is_not_offered_is_not_found(standin: Standin) -> None:
    standin.behave(batches={"offered": False})
    for method, path in (("GET", "batches"), ("GET", "files"), ("POST", "batches/x/cancel")):
        assert call(standin, method, f"/v1/{path}")[0] == 404
    assert post_file(standin, b"x")[0] == 404


def test_a_batch_may_fail_by_itself(standin: Standin) -> None:
    batch = ended(standin, lines(2), ends="failed", failed_code="model_not_found")
    assert complaints(batch) == ["model_not_found"]


def test_unanswered_lines_of_an_expired_batch_are_errors(standin: Standin) -> None:
    batch = ended(standin, lines(10), ends="expired", answered=0.4)
    assert (batch["status"], batch["expired_at"] is None) == ("expired", False)
    assert batch["request_counts"] == {"total": 10, "completed": 4, "failed": 6}
    assert {one["error"]["code"] for one in output(standin, batch, "error")} == {"batch_expired"}
    both = output(standin, batch) + output(standin, batch, "error")
    assert Counter(one["custom_id"] for one in both) == Counter(f"id-{n}" for n in range(10))


def test_unanswered_lines_of_a_cancelled_batch_are_absent(standin: Standin) -> None:
    batch = ended(standin, lines(10), ends="cancelled", answered=0.4)
    assert batch["status"] == "cancelled"
    assert (len(output(standin, batch)), batch["error_file_id"]) == (4, None)


def test_a_batch_is_cancelled_while_it_is_in_progress(standin: Standin) -> None:
    standin.behave(batches={"seconds": 60, "answered": 0.5})
    batch = create(standin, lines(10))
    path = f"/v1/batches/{batch['id']}/cancel"
    status, cancelling = call(standin, "POST", path)
    assert status == 200
    assert cancelling["status"] in {"cancelling", "cancelled"}
    standin.standing(settled_within=SETTLED)
    batch = retrieve(standin, batch)
    assert batch["status"] == "cancelled"
    assert batch["request_counts"]["completed"] <= 5
    assert call(standin, "POST", path)[0] == 409


def test_a_share_of_the_lines_fails(standin: Standin) -> None:
    batch = ended(standin, lines(10), fails=0.3, fail_status=429, fail_code="rate_limit_exceeded")
    failed = output(standin, batch, "error")
    assert [one["response"]["status_code"] for one in failed] == [429] * 3
    assert failed[0]["response"]["body"]["error"]["code"] == "rate_limit_exceeded"
    assert len(output(standin, batch)) == 7

    batch = ended(standin, lines(10), fails=1, fail_status=None, fail_code="lost")
    failed = output(standin, batch, "error")
    assert [(one["response"], one["error"]["code"]) for one in failed] == [(None, "lost")] * 10
    assert batch["output_file_id"] is None


def test_a_completed_batch_may_have_lost_its_output(standin: Standin) -> None:
    batch = ended(standin, lines(2), empty_file="empty")
    assert (batch["status"], content(standin, batch["output_file_id"])) == ("completed", b"")
    batch = ended(standin, lines(2), empty_file="null")
    assert (batch["status"], batch["output_file_id"]) == ("completed", None)


def test_the_output_may_have_lines_that_do_not_belong_there(standin: Standin) -> None:
    batch = ended(standin, lines(5), duplicates=2, unknown=3, broken=4)
    raw = content(standin, batch["output_file_id"]).split(b"\n")
    assert len(raw) == 5 + 2 + 3 + 4 + 1
    readable = [one for one in map(custom_id_of, raw) if one is not None]
    known = Counter(one for one in readable if one.startswith("id-"))
    assert sorted(known.values()) == [1, 1, 1, 2, 2]
    assert len(readable) - known.total() == 3


def custom_id_of(raw: bytes) -> str | None:
    try:
        found = json.loads(raw)["custom_id"]
    except (ValueError, TypeError, KeyError):
        return None
    return found if isinstance(found, str) else None


@pytest.mark.parametrize(
    ("manners", "code"),
    [({"most_lines": 2}, "too_many_lines"), ({"most_bytes": 100}, "file_too_large")],
)
def test_a_file_beyond_the_limits_fails_or_is_refused(
    standin: Standin, manners: dict[str, Any], code: str
) -> None:
    assert complaints(ended(standin, lines(3), **manners)) == [code]
    standin.behave(batches={"refuses": "create", **manners})
    status, body = call(standin, "POST", "/v1/batches", wish(upload(standin, lines(3))))
    assert (status, body["error"]["code"]) == (400, code)


def test_too_many_lines_out_fail_the_newest_batch(standin: Standin) -> None:
    standin.behave(batches={"seconds": 60, "token_limit": 5})
    first = reaches(standin, create(standin, lines(4)), "in_progress")
    second = reaches(standin, create(standin, lines(2)), "failed")
    assert complaints(second) == ["token_limit_exceeded"]
    assert retrieve(standin, first)["status"] == "in_progress"


def test_odd_ids_are_usable_once_they_are_escaped(standin: Standin) -> None:
    batch = ended(standin, lines(1), ids="odd")
    assert "/" in batch["id"]
    assert len(output(standin, batch)) == 1


def test_batches_are_listed_newest_first_and_in_pages(standin: Standin) -> None:
    ids = [create(standin, lines(1))["id"] for _ in range(5)][::-1]
    _, first = call(standin, "GET", "/v1/batches?limit=3")
    assert [one["id"] for one in first["data"]] == ids[:3]
    assert (first["has_more"], first["last_id"]) == (True, ids[2])
    _, second = call(standin, "GET", f"/v1/batches?limit=3&after={ids[2]}")
    assert [one["id"] for one in second["data"]] == ids[3:]
    assert second["has_more"] is False
    assert call(standin, "GET", "/v1/batches?limit=101")[0] == 400
    assert call(standin, "GET", "/v1/batches?after=none")[0] == 404


# --- Faults


def test_what_was_done_may_stay_untold(standin: Standin) -> None:
    file = upload(standin, lines(1))
    standin.fail("create", {"kind": "close"})
    with pytest.raises(http.client.RemoteDisconnected):
        call(standin, "POST", "/v1/batches", wish(file, metadata={"key": "k"}))
    assert call(standin, "POST", "/v1/batches", wish(file))[0] == 200
    standing = standin.standing()
    assert [one["metadata"] for one in standing["batches"]] == [{"key": "k"}, None]
    assert standing["counts"] == {"upload": 1, "create": 2}


def test_what_was_refused_was_not_done(standin: Standin) -> None:
    standin.fail("upload", {"kind": "error", "status": 503}, times=2, effect=False)
    for status in (503, 503, 200):
        assert post_file(standin, b"x")[0] == status
    assert standin.standing()["counts"] == {"upload": 1}


def test_a_download_may_be_cut(standin: Standin) -> None:
    file = upload(standin, lines(3))
    standin.fail("download", {"kind": "cut"})
    with pytest.raises(http.client.IncompleteRead):
        content(standin, file["id"])
    assert len(content(standin, file["id"])) == file["bytes"]


@pytest.mark.parametrize(
    "fault",
    [
        ("pay", {"kind": "close"}),
        ("create", {"kind": "explode"}),
        ("create", {"kind": "verdict"}),
    ],
)
def test_faults_it_cannot_read_are_refused(
    standin: Standin, fault: tuple[str, dict[str, Any]]
) -> None:
    with pytest.raises(ScriptError):
        standin.fail(*fault)
    assert create(standin, lines(1))["id"]


@pytest.mark.parametrize(
    "manners", [{"end": "x"}, {"ends": "lost"}, {"fails": 2}, {"fail_status": 200}, {"seconds": -1}]
)
def test_manners_of_batches_it_cannot_read_are_refused(
    standin: Standin, manners: dict[str, Any]
) -> None:
    with pytest.raises(ScriptError):
        standin.behave(batches=manners)


# --- The end of it


def test_clearing_forgets_all_and_leaves_what_is_at_work(standin: Standin) -> None:
    standin.behave(batches={"seconds": 60})
    create(standin, lines(3))
    standin.fail("upload", {"kind": "close"})
    standin.clear()
    assert standin.standing() == {"files": [], "batches": [], "counts": {}}
    assert create(standin, lines(1))["id"]


def test_nothing_is_left_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with running_standin() as standin:
        standin.behave(batches={"seconds": 60})
        create(standin, lines(3))
        assert list(tmp_path.glob("*/*"))
    assert list(tmp_path.iterdir()) == []
