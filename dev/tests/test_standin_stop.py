"""Whatever clients do, the stand-in goes on, and when it stops nothing of it is left."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.standin.server import running_standin
from dev.tests.test_standin import ask, connect, evidence, open_socket, request_body, send
from dev.tests.test_standin_swaps import wait_until_asked
from dev.tests.test_standin_wire import send_request

BODY = request_body(evidence("Good morning"))
DESCRIPTORS = Path("/proc/self/fd")


def open_sockets() -> set[str]:
    """The sockets of this process, each by a number that is given only once."""
    targets = (_target(entry) for entry in DESCRIPTORS.iterdir())
    return {target for target in targets if target.startswith("socket:")}


def _target(entry: Path) -> str:
    try:
        return str(entry.readlink())
    except OSError:
        return ""


@contextmanager
def nothing_left() -> Iterator[None]:
    """The block leaves no thread and no socket that it did not find.

    Which ones, not how many: what an earlier test left to the garbage collector may be
    collected meanwhile.
    """
    threads, sockets = set(threading.enumerate()), open_sockets()
    yield
    assert set(threading.enumerate()) <= threads
    assert open_sockets() <= sockets


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "hang", "seconds": 60},
        {"kind": "delay", "seconds": 60},
        {"kind": "drip", "seconds": 60, "interval": 30},
        {"kind": "drip_headers", "seconds": 60, "interval": 30},
        {"kind": "swap", "seconds": 60},
        {"kind": "error", "status": 503, "after_seconds": 60},
        {"kind": "flood", "megabytes": 1024},
        {"kind": "reset"},
        {"kind": "close"},
        {"kind": "raw", "base64": ""},
        {"kind": "cut"},
    ],
    ids=lambda step: step["kind"],
)
def test_stopping_in_the_middle_of_a_step_leaves_no_thread_and_no_socket(
    step: dict[str, Any],
) -> None:
    with nothing_left(), ExitStack() as clients:
        with running_standin() as standin:
            standin.script(step, times=None)
            for _ in range(3):
                client = clients.enter_context(open_socket(standin))
                send_request(client, BODY)
            wait_until_asked(standin, 3)
            started = time.monotonic()
        # A flood that nobody reads is given the time of grace, the others wake at once; the step of
        # each would take a minute.
        assert time.monotonic() - started < 30


def test_idle_and_silent_connections_are_gone_after_stopping() -> None:
    threads = set(threading.enumerate())
    with nothing_left(), ExitStack() as clients:
        with running_standin() as standin:
            kept = connect(standin)
            clients.callback(kept.close)
            send(kept, "GET", "/v1/models")
            # Many, so that some of their threads would still be ending.
            for beginning in (b"", b"POST /v1/chat", b"POST / HTTP/1.1\r\nContent-Length: 9") * 50:
                client = clients.enter_context(open_socket(standin))
                client.sendall(beginning)
        assert set(threading.enumerate()) <= threads


HOSTILE = [
    b"",
    b"\x00" * 100,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"BREW /pot HTTP/1.1\r\n\r\n",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{",
    b"PUT /manners HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]",
    b"PUT /elsewhere HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 50000\r\n\r\n" + b"[" * 50_000,
]


def test_no_client_brings_it_down(capfd: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(0)  # noqa: S311
    with nothing_left(), running_standin() as standin:
        for request in HOSTILE * 2:
            with open_socket(standin) as client:
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
                if chance.random() < 0.5:
                    client.recv(1000)
        assert ask(standin, evidence("x"))[0] == 200
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("depth", [10, 500, 900, 940, 980, 1000, 5000])
def test_evidence_of_any_depth_is_answered(
    standin: Standin, depth: int, capfd: pytest.CaptureFixture[str]
) -> None:
    deep = "[" * depth + "]" * depth
    found = f'{{"ref": "r", "messages": [{{"text": "x"}}], "more": {deep}}}'
    text = f"-----BEGIN EVIDENCE x-----\n{found}\n-----END EVIDENCE x-----"
    body = request_body(evidence("x")) | {"messages": [{"role": "user", "content": text}]}
    with open_socket(standin) as client:
        send_request(client, body)
        assert client.recv(12) in {b"HTTP/1.1 200", b"HTTP/1.1 400"}
    assert "Traceback" not in capfd.readouterr().err


def test_threads_and_sockets_of_clients_that_went_are_gone_before_the_end() -> None:
    with running_standin() as standin:
        threads, sockets = set(threading.enumerate()), open_sockets()
        for _ in range(50):
            with open_socket(standin) as client:
                send_request(client, BODY)
        deadline = time.monotonic() + 5
        while not (set(threading.enumerate()) <= threads and open_sockets() <= sockets):
            assert time.monotonic() < deadline
