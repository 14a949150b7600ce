"""A server of raw answers on loopback, for what the stand-in does not script."""

import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from classifier import provider


class Server(ThreadingHTTPServer):
    """Answers by `respond(handler, request)`; keeps headers and JSON it got, `{}` for no body."""

    daemon_threads = True

    def __init__(self, respond: "Respond") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond
        self.headers: list[dict[str, str]] = []
        self.requests: list[dict[str, Any]] = []
        self.stopping = threading.Event()
        """Set at the end; a handler waits on it instead of sleeping."""

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer({})

    def do_DELETE(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        self._answer(json.loads(self.rfile.read(length)) if length else {})

    def _answer(self, request: dict[str, Any]) -> None:
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.requests.append(request)
        self.server.respond(self, request)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


Respond = Callable[[_Handler, dict[str, Any]], None]


@contextmanager
def running_server(respond: Respond) -> Iterator[Server]:
    """A server on a free loopback port until the block ends."""
    server = Server(respond)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
        # The next server may get the same port, and an open socket is an error at the end.
        client = provider._clients.pop((os.getpid(), server.base_url), None)
        if client is not None:
            client.close()


def send_whole(
    handler: BaseHTTPRequestHandler, body: bytes, *, status: int = 200, **headers: str
) -> None:
    """One complete answer; header names are written with underscores."""
    handler.send_response(status)
    for name, value in {"content_type": "application/json", **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def full_backlog() -> Iterator[int]:
    """The port of a listening socket that has no room for another connection."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, ExitStack() as held:
        address = listening.getsockname()
        for _room in range(16):
            waiting = held.enter_context(socket.socket())
            waiting.settimeout(0.2)
            try:
                waiting.connect(address)
            except TimeoutError:
                break
        else:
            raise AssertionError("the backlog has no end")
        yield address[1]


@contextmanager
def slow_reader(*, most: int, every: float) -> Iterator[int]:
    """The port of a server that reads so many bytes at most every so many seconds."""
    stopping = threading.Event()
    with socket.socket() as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, max(4096, most))
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(10)

        def read() -> None:
            connection, _address = listening.accept()
            with connection:
                while not stopping.wait(every):
                    connection.recv(most)

        thread = threading.Thread(target=read)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            stopping.set()
            thread.join()


def asked_ref(request: dict[str, Any]) -> str:
    """The reference in a request's evidence."""
    found = re.search(r'"ref": "(\w+)"', request["messages"][-1]["content"])
    assert found is not None
    return found[1]
