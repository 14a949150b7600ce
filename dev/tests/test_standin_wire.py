"""What the wire faults put on the socket, byte by byte where a client would not say."""

import base64
import contextlib
import json
import socket
import struct
import tracemalloc
import zlib
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.tests.test_standin import (
    connect,
    evidence,
    exchange,
    open_socket,
    post,
    request_body,
    send,
    verdict_of,
)

BODY = request_body(evidence("I will kill you tomorrow"))


def split(answer: bytes) -> tuple[bytes, bytes]:
    head, _, body = answer.partition(b"\r\n\r\n")
    return head, body


def test_raw_bytes_come_in_place_of_an_http_answer(standin: Standin) -> None:
    wanted = b"\x15\x03\x01\x00\xff not HTTP"
    standin.script({"kind": "raw", "base64": base64.b64encode(wanted).decode()})
    assert exchange(standin, BODY) == wanted
    (call,) = standin.calls()
    assert (call["status"], call["answered"] is not None) == (None, True)


def test_raw_headers_may_stand_before_the_normal_answers_body(standin: Standin) -> None:
    head = b"HTTP/1.0 200 OK\r\nX-Odd: 1\r\n\r\n"
    standin.script({"kind": "raw", "base64": base64.b64encode(head).decode(), "answer": True})
    answer = exchange(standin, BODY)
    assert answer.startswith(head)
    assert verdict_of(json.loads(split(answer)[1]))["ref"] == "r-17"


def test_an_error_may_drip(standin: Standin) -> None:
    standin.script({"kind": "drip", "seconds": 0.05, "interval": 0.01, "status": 503})
    status, raw, _ = post(standin, BODY)
    assert (status, raw[:2]) == (503, b"\n\n")


def test_close_reads_the_request_and_ends_without_a_byte(standin: Standin) -> None:
    standin.script({"kind": "close"})
    assert exchange(standin, BODY) == b""
    (call,) = standin.calls()
    assert (call["step"], call["status"], call["answered"]) == ("close", None, None)


def test_reset_is_an_rst(standin: Standin) -> None:
    standin.script({"kind": "reset"}, times=20)
    for _ in range(20):
        with pytest.raises(ConnectionResetError):
            exchange(standin, BODY)
    assert {call["answered"] for call in standin.calls()} == {None}


def test_a_body_in_base64_may_be_no_text_at_all(standin: Standin) -> None:
    step = {"kind": "body", "body_base64": base64.b64encode(b"\xff\xfe\x00").decode()}
    standin.script(step, step | {"status": 503})
    assert post(standin, BODY)[:2] == (200, b"\xff\xfe\x00")
    assert post(standin, BODY)[:2] == (503, b"\xff\xfe\x00")


def test_redirect_names_another_place_and_has_no_body(standin: Standin) -> None:
    standin.script(
        {"kind": "redirect", "location": "http://127.0.0.1:9/v1"},
        {"kind": "redirect", "location": "/there", "status": 302, "headers": {"X-Why": "moved"}},
    )
    status, raw, response = post(standin, BODY)
    assert (status, raw, response.headers["location"]) == (307, b"", "http://127.0.0.1:9/v1")
    status, raw, response = post(standin, BODY)
    assert (status, response.headers["location"], response.headers["x-why"]) == (
        302,
        "/there",
        "moved",
    )


def test_gzip_expands_to_white_space_and_then_the_normal_answer(standin: Standin) -> None:
    standin.script({"kind": "gzip", "megabytes": 3})
    head, packed = split(exchange(standin, BODY, headers="Accept-Encoding: identity\r\n"))
    assert b"Content-Encoding: gzip" in head
    assert len(packed) < 20_000
    expanded = zlib.decompress(packed, wbits=zlib.MAX_WBITS | 16)
    assert len(expanded) > 3 * 2**20
    assert expanded[: 3 * 2**20].strip() == b""
    assert verdict_of(json.loads(expanded))["category"] == "credible_threat"


def test_flood_is_chunked_white_space_of_that_size(standin: Standin) -> None:
    standin.script({"kind": "flood", "megabytes": 2.5})
    status, raw, response = post(standin, BODY)
    assert (status, len(raw), raw.strip()) == (200, 5 * 2**19, b"")
    assert response.headers.get("content-length") is None
    assert response.headers.get("content-encoding") is None
    assert standin.calls()[0]["answered"] is not None


def test_a_flood_ends_when_the_client_goes_and_takes_no_memory(standin: Standin) -> None:
    standin.script({"kind": "flood", "megabytes": 1024})
    tracemalloc.start()
    with open_socket(standin) as connection:
        send_request(connection, BODY)
        received = 0
        while received < 2**20:
            received += len(connection.recv(65536))
    assert post(standin, BODY)[0] == 200
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * 2**20


def test_drip_headers_sends_one_byte_of_a_header_after_the_other(standin: Standin) -> None:
    standin.script({"kind": "drip_headers", "seconds": 0.5, "interval": 0.02})
    pieces = []
    with open_socket(standin) as connection:
        send_request(connection, BODY)
        while piece := connection.recv(65536):
            pieces.append(piece)
    answer = b"".join(pieces)
    head, body = split(answer)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\nX-Slow: aa")
    # A loaded machine may join some of the 25 bytes.
    assert len([piece for piece in pieces if len(piece) == 1]) > 5
    assert f"Content-Length: {len(body)}".encode() in head
    assert verdict_of(json.loads(body))["category"] == "credible_threat"


@pytest.mark.parametrize("seconds", [0, 0.01, 0.1])
def test_the_answer_after_dripped_headers_is_whole(standin: Standin, seconds: float) -> None:
    standin.script({"kind": "drip_headers", "seconds": seconds, "interval": 0.005})
    status, raw, _ = post(standin, BODY)
    assert (status, verdict_of(json.loads(raw))["ref"]) == (200, "r-17")


def test_a_header_beyond_latin_1_goes_out_in_utf_8(standin: Standin) -> None:
    headers = {"retry-after": "غدا", "X-Number": 7, "X-Accent": "é"}
    standin.script({"kind": "error", "status": 429, "headers": headers})
    head, _ = split(exchange(standin, BODY))
    assert "\r\nretry-after: غدا\r\n".encode() in head
    assert b"\r\nX-Number: 7\r\n" in head
    assert "\r\nX-Accent: é\r\n".encode("latin-1") in head


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        ({"kind": "raw", "base64": "!"}, "base64"),
        ({"kind": "raw"}, "needs base64"),
        ({"kind": "body"}, "body or body_base64"),
        ({"kind": "flood", "megabytes": 10_000}, "megabytes"),
        ({"kind": "gzip", "megabytes": -1}, "megabytes"),
        ({"kind": "hang", "seconds": float("inf")}, "seconds"),
        ({"kind": "hang", "seconds": float("nan")}, "seconds"),
        ({"kind": "hang", "seconds": True}, "seconds"),
        ({"kind": "redirect", "location": "/\r\nX: y"}, "one line"),
        ({"kind": "error", "status": 429, "headers": {"a": "b\nc"}}, "one line"),
        ({"kind": "error", "status": 429, "body": "text"}, "object"),
        ({"kind": "close", "seconds": 1}, "no field 'seconds'"),
        ({"kind": "edit", "replace": [["", "x"]]}, "pairs"),
        ({"kind": "edit", "replace": ["ab"]}, "pairs"),
        ({"kind": "dress", "fence": True}, "no field 'fence'"),
        ({"kind": ["cut"]}, "kind is one of"),
        ({"kind": "verdict", "after_seconds": -1}, "after_seconds"),
    ],
)
def test_a_step_that_could_not_be_answered_is_refused(
    standin: Standin, step: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        standin.script(step)


def test_a_whole_answer_keeps_its_connection_in_step(standin: Standin) -> None:
    standin.script({"kind": "flood", "megabytes": 0.1}, {"kind": "gzip", "megabytes": 0.1})
    with contextlib.closing(connect(standin)) as connection:
        for _ in range(3):
            raw = send(connection, "POST", "/v1/chat/completions", BODY)[1]
    assert verdict_of(json.loads(raw))["ref"] == "r-17"


def send_request(connection: socket.socket, body: Any) -> None:
    content = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}"
    connection.sendall(f"{head}\r\nConnection: close\r\n\r\n".encode() + content)


def test_a_client_that_resets_its_connection_in_the_middle_leaves_the_server_well(
    standin: Standin,
) -> None:
    kinds: list[dict[str, Any]] = [
        {"kind": "drip", "seconds": 5, "interval": 0.01},
        {"kind": "drip_headers", "seconds": 5, "interval": 0.01},
        {"kind": "flood", "megabytes": 100},
        {"kind": "cut"},
        {"kind": "delay", "seconds": 0.05},
    ]
    standin.script(*kinds)
    for _ in kinds:
        with open_socket(standin) as connection:
            send_request(connection, BODY)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    standin.clear()  # which of the steps were taken is not the matter
    assert post(standin, BODY)[0] == 200
