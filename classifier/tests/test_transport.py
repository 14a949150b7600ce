"""The deadline and the cap hold on the wire, whatever the server sends or does not send."""

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx2
import pytest

from classifier.tests.loopback import (
    Respond,
    full_backlog,
    running_server,
    send_whole,
    slow_reader,
)
from classifier.tests.situations import wait_until
from classifier.transport import (
    MAX_ERROR_BYTES,
    MAX_REPLY_BYTES,
    DeadlineTransport,
    UnwantedReplyError,
    _Backend,
    deadline,
)

DEADLINE = 0.4
# What a busy machine may add, which is still far from the 10 s that a faulty server would take.
GRACE = 4.0


@pytest.fixture
def client() -> Iterator[httpx2.Client]:
    """As the provider makes it, with a time for one read that alone would never end a call."""
    transport = DeadlineTransport(limits=httpx2.Limits(max_keepalive_connections=0))
    with httpx2.Client(transport=transport, trust_env=False, timeout=30) as made:
        yield made
        assert pool(made).connections == []


def pool(client: httpx2.Client) -> Any:
    transport: Any = client._transport
    return transport._pool


def post(
    client: httpx2.Client, url: str, *, seconds: float = 10, content: bytes = b"{}"
) -> httpx2.Response:
    """The whole answer within so many seconds."""
    with deadline(ends=time.monotonic() + seconds):
        return client.post(url, content=content)


@contextmanager
def ends_at_the_deadline() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert DEADLINE - 0.05 <= time.monotonic() - started < DEADLINE + GRACE


@contextmanager
def ends_at_once() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < GRACE


def test_the_pool_of_httpx_connects_through_our_backend(client: httpx2.Client) -> None:
    assert isinstance(pool(client)._network_backend, _Backend)


def test_no_call_is_made_without_a_deadline(client: httpx2.Client) -> None:
    with (
        running_server(lambda handler, _request: send_whole(handler, b"{}")) as server,
        pytest.raises(RuntimeError, match="without a deadline"),
    ):
        client.post(server.base_url, content=b"{}")

    assert server.requests == []


# --- Time


def drip(handler: BaseHTTPRequestHandler) -> None:
    """A byte in time for every read, for as long as the client stays."""
    while not handler.server.stopping.wait(0.05):  # type: ignore[attr-defined]
        handler.wfile.write(b"x")


def drip_header(handler: BaseHTTPRequestHandler, _request: Any) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Wait: ")
    drip(handler)


def drip_body(handler: BaseHTTPRequestHandler, _request: Any) -> None:
    start_body(handler)
    drip(handler)


def stall_late(handler: BaseHTTPRequestHandler, _request: Any) -> None:
    """The start of the body comes shortly before the deadline, the rest never."""
    handler.server.stopping.wait(DEADLINE * 0.75)  # type: ignore[attr-defined]
    start_body(handler)
    handler.server.stopping.wait(10)  # type: ignore[attr-defined]


def start_body(handler: BaseHTTPRequestHandler, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.wfile.write(b"begun")


@pytest.mark.parametrize("respond", [drip_header, drip_body, stall_late])
def test_an_answer_that_does_not_end_is_left_at_the_deadline(
    respond: Respond, client: httpx2.Client
) -> None:
    before = set(threading.enumerate())
    with running_server(respond) as server:
        with ends_at_the_deadline(), pytest.raises(httpx2.ReadTimeout):
            post(client, server.base_url, seconds=DEADLINE)
        assert pool(client).connections == []
        wait_until(lambda: len(server.requests) == 1)

    wait_until(lambda: set(threading.enumerate()) <= before)


def test_a_server_that_never_accepts_is_left_at_the_deadline(client: httpx2.Client) -> None:
    with (
        full_backlog() as port,
        ends_at_the_deadline(),
        pytest.raises(httpx2.ConnectTimeout),
    ):
        post(client, f"http://127.0.0.1:{port}/", seconds=DEADLINE)


def test_a_server_that_speaks_no_tls_is_left_at_the_deadline(client: httpx2.Client) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        ends_at_the_deadline(),
        pytest.raises(httpx2.ConnectTimeout),
    ):
        post(client, f"https://127.0.0.1:{silent.getsockname()[1]}/", seconds=DEADLINE)


@pytest.mark.parametrize(
    ("most", "every", "size"),
    [(1, 1, 5_000_000), (256 * 1024, 0.05, 50_000_000)],
    ids=["a byte a second", "always a little"],
)
def test_a_server_that_reads_slowly_is_left_at_the_deadline(
    most: int, every: float, size: int, client: httpx2.Client
) -> None:
    with (
        slow_reader(most=most, every=every) as port,
        ends_at_the_deadline(),
        pytest.raises(httpx2.WriteTimeout),
    ):
        post(client, f"http://127.0.0.1:{port}/", seconds=DEADLINE, content=bytes(size))


# --- Names


@pytest.fixture
def resolves(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Have the system's resolver give these addresses for the name `model.example`."""
    system = socket.getaddrinfo

    def give(*addresses: str) -> None:
        def getaddrinfo(host: Any, port: Any, *arguments: Any, **named: Any) -> Any:
            names = addresses if host == "model.example" else [host]
            return [each for name in names for each in system(name, port, *arguments, **named)]

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)

    return give


def test_the_addresses_of_a_name_are_tried_in_turn(
    client: httpx2.Client, resolves: Callable[..., None]
) -> None:
    resolves("::1", "127.0.0.1")  # the server listens at the second alone
    with running_server(lambda handler, _request: send_whole(handler, b"{}")) as server:
        answer = post(client, f"http://model.example:{server.server_port}/")

    assert answer.status_code == 200
    assert server.headers[0]["host"] == f"model.example:{server.server_port}"


def test_all_addresses_together_have_the_one_deadline(
    client: httpx2.Client, resolves: Callable[..., None]
) -> None:
    resolves(*["127.0.0.1"] * 5)
    client.timeout = httpx2.Timeout(30, connect=DEADLINE / 2 - 0.05)
    with (
        full_backlog() as port,
        ends_at_the_deadline(),
        pytest.raises(httpx2.ConnectTimeout),
    ):
        post(client, f"http://model.example:{port}/", seconds=DEADLINE)


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".example"])
def test_a_host_that_is_no_name_ends_the_call_at_once(host: str, client: httpx2.Client) -> None:
    with ends_at_once(), pytest.raises(httpx2.ConnectError):
        post(client, f"http://{host}/")


def test_a_name_that_nobody_knows_ends_the_call_at_once(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_arguments: Any, **_named: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with ends_at_once(), pytest.raises(httpx2.ConnectError):
        post(client, "http://model.example/")


def test_a_resolver_that_does_not_answer_is_left_at_the_deadline(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_arguments, **_named: answers.wait(10) and []
    )

    with ends_at_the_deadline(), pytest.raises(httpx2.ConnectTimeout):
        post(client, "http://model.example/", seconds=DEADLINE)

    answers.set()


# --- Bytes


def answering(body: bytes, status: int = 200, **headers: str) -> Respond:
    return lambda handler, _request: send_whole(handler, body, status=status, **headers)


def test_a_body_up_to_the_cap_is_read_and_a_longer_one_refused(client: httpx2.Client) -> None:
    with running_server(answering(b" " * MAX_REPLY_BYTES)) as server:
        assert len(post(client, server.base_url).content) == MAX_REPLY_BYTES

    with (
        running_server(answering(b" " * (MAX_REPLY_BYTES + 1))) as server,
        pytest.raises(UnwantedReplyError, match="too_large"),
    ):
        post(client, server.base_url)


def test_the_body_of_an_error_is_cut_and_the_rest_of_it_counts(client: httpx2.Client) -> None:
    body = b"x" * (2 * MAX_ERROR_BYTES)
    with running_server(answering(body, 429, retry_after="7")) as server:
        answer = post(client, server.base_url)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert len(answer.content) <= MAX_ERROR_BYTES


def test_an_error_whose_body_drips_is_told_at_the_deadline(client: httpx2.Client) -> None:
    def respond(handler: BaseHTTPRequestHandler, _request: Any) -> None:
        start_body(handler, 503, retry_after="7")
        drip(handler)

    with running_server(respond) as server, ends_at_the_deadline():
        answer = post(client, server.base_url, seconds=DEADLINE)

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert answer.content.startswith(b"begun")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP ", "br", "identity, gzip"])
def test_nothing_compressed_is_unpacked(encoding: str, client: httpx2.Client) -> None:
    body = gzip.compress(b"{}")
    with (
        running_server(answering(body, content_encoding=encoding)) as server,
        pytest.raises(UnwantedReplyError, match="compressed"),
    ):
        post(client, server.base_url)

    with running_server(answering(body, 429, content_encoding=encoding, retry_after="7")) as server:
        answer = post(client, server.base_url)

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.content == b""


def test_an_error_in_a_charset_that_there_is_not_can_be_read(client: httpx2.Client) -> None:
    with running_server(answering(b"\xff no", 400, content_type="a/b; charset=none")) as server:
        assert post(client, server.base_url).text == "\ufffd no"
