"""The stand-in's HTTP server, and `running_standin` that starts it inside a test.

| request | answer |
|---|---|
| GET / | what this is |
| GET /v1/models | one model and its context length, or the list of the manners |
| GET what `beside` of the manners names | its body |
| POST /v1/chat/completions | the verdict by the word rules, or what a script or the manners say |
| POST /script, DELETE /script | add one script (see `script`), forget all |
| PUT /manners, DELETE /manners | behave like this (see `manners`), behave normally |
| GET /calls, DELETE /calls | the log of completion requests (see `calls`), forget it |
"""

import contextlib
import ipaddress
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from dev.standin.answering import Answering
from dev.standin.answers import (
    OWNER,
    Answer,
    beside_answer,
    error_answer,
    json_answer,
    models_answer,
)
from dev.standin.client import Standin
from dev.standin.manners import NORMAL, read_manners
from dev.standin.script import ScriptError
from dev.standin.wire import Sending, is_to_be_reset

_MAX_REQUEST_BYTES = 64 * 1024 * 1024
_MAX_LENGTH_DIGITS = 9
_OK = {"ok": True}


class BindError(ValueError):
    """The address is not a loopback address; the text is the sentence to show."""


class StandinServer(ThreadingHTTPServer):
    """`delay` is the latency of every completion in seconds."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, host: str, port: int, *, delay: float) -> None:
        if not _is_loopback(host):
            raise BindError(
                f"The stand-in listens on a loopback address such as 127.0.0.1 only, not on {host}."
            )
        self.model = Answering(delay=delay)
        self._connections: set[socket.socket] = set()
        self._answering: list[threading.Thread] = []
        self._busy = 0
        self._idle = threading.Condition()
        self._lock = threading.Lock()
        super().__init__((host, port), StandinHandler)

    @property
    def base_url(self) -> str:
        return f"http://{self.server_address[0]!s}:{self.server_port}/v1"

    def server_bind(self) -> None:
        # Not HTTPServer's: it asks the resolver for the host's name, which may take seconds.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        # Not ThreadingMixIn's: it does not remember the threads that `stop` waits for.
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), daemon=True
        )
        with self._lock:
            self._connections.add(request)
            self._answering = [other for other in self._answering if other.is_alive()]
            thread.start()
            self._answering.append(thread)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        with contextlib.suppress(OSError):
            if is_to_be_reset(request):
                self.close_request(request)
                return
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hung up is what the tests are about, not an error of the stand-in.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        with self._idle:
            self._busy += 1
        try:
            yield
        finally:
            with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    def stop(self, *, grace: float = 2) -> None:
        """Accept nothing new, let running answers finish for `grace` seconds, close the rest.

        Call it while `serve_forever` runs in another thread. Afterwards no thread and no socket
        of the server is left.
        """
        self.model.stop()
        self.shutdown()
        self.server_close()
        with self._idle:
            self._idle.wait_for(lambda: not self._busy, grace)
        # Keep-alive connections would go on answering from their threads.
        with self._lock:
            left, threads = list(self._connections), list(self._answering)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + grace
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()))


class StandinHandler(BaseHTTPRequestHandler):
    server: StandinServer
    protocol_version = "HTTP/1.1"
    # A client that neither reads nor writes nor leaves would keep its thread for ever.
    timeout = 300
    # Unbuffered small writes and Nagle's algorithm cost 45 ms a call on a kept connection.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        match self.path:
            case "/":
                self._send(json_answer(200, {"service": OWNER, "base_url": self.server.base_url}))
            case "/v1/models":
                self._send(models_answer(self.server.model.manners))
            case "/calls":
                self._send(json_answer(200, {"calls": self.server.model.calls.all()}))
            case _:
                answer = beside_answer(self.server.model.manners, self.path)
                self._send(answer) if answer else self._send_not_found()

    def do_POST(self) -> None:
        body = self._read_json()
        if isinstance(body, Answer):
            self._send(body)
            return
        match self.path:
            case "/v1/chat/completions":
                with self.server.busy():
                    self._complete(body)
            case "/script":
                self._add_script(body)
            case _:
                self._send_not_found()

    def do_PUT(self) -> None:
        body = self._read_json()
        if isinstance(body, Answer):
            self._send(body)
        elif self.path == "/manners":
            self._set_manners(body)
        else:
            self._send_not_found()

    def do_DELETE(self) -> None:
        match self.path:
            case "/script":
                self.server.model.script.clear()
                # Or a call that waits would exchange its answer in the next test.
                self.server.model.swaps.release()
            case "/manners":
                self.server.model.manners = NORMAL
            case "/calls":
                self.server.model.calls.clear()
            case _:
                self._send_not_found()
                return
        self._send(json_answer(200, _OK))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: GET /calls is the log."""

    def _add_script(self, body: Any) -> None:
        try:
            self.server.model.script.add(body)
        except ScriptError as error:
            self._send(error_answer(400, str(error), code="bad_script"))
        else:
            self._send(json_answer(200, _OK))

    def _set_manners(self, body: Any) -> None:
        try:
            self.server.model.manners = read_manners(body)
        except ScriptError as error:
            self._send(error_answer(400, str(error), code="bad_manners"))
        else:
            self._send(json_answer(200, _OK))

    def _complete(self, request: Any) -> None:
        if problem := _problem(request):
            self._send(error_answer(400, problem))
            return
        answer, call = self.server.model.answer(request)
        try:
            self._send(answer, call)
        except OSError:
            self.server.model.calls.set_unanswered(call)
            self.close_connection = True

    def _send(self, answer: Answer, call: dict[str, Any] | None = None) -> None:
        calls = self.server.model.calls
        headers = {name.lower(): value for name, value in answer.headers.items()}

        def started() -> None:
            if call is not None:
                calls.set_status(call, answer.status, headers.get("retry-after"))

        def ended() -> None:
            if call is not None:
                calls.set_answered(call)

        Sending(self, self.server.model.stopping, started=started, ended=ended).send(answer)

    def _send_not_found(self) -> None:
        self._send(error_answer(404, f"The stand-in has no {self.command} {self.path}."))

    def _read_json(self) -> Any:
        """The request's JSON, or the Answer that refuses it."""
        length = self.headers.get("Content-Length", "")
        known = length.isascii() and length.isdigit()
        if not known or len(length) > _MAX_LENGTH_DIGITS or int(length) > _MAX_REQUEST_BYTES:
            # The body stays unread, so the connection cannot be used again.
            self.close_connection = True
            return error_answer(413 if known else 411, "A Content-Length up to 64 MiB.")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            return error_answer(400, f"The request is not JSON: {error}")


@contextlib.contextmanager
def running_standin(*, port: int = 0, delay: float = 0) -> Iterator[Standin]:
    """A stand-in on a free loopback port, in a thread of this process, until the block ends."""
    server = StandinServer("127.0.0.1", port, delay=delay)
    # The default poll of 0.5 s would be the time every test waits at its end.
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Standin(server.base_url)
    finally:
        server.stop()
        thread.join()


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.IPv4Address(host).is_loopback
    return host == "localhost"


def _problem(request: Any) -> str | None:
    if not isinstance(request, dict) or not isinstance(request.get("model"), str):
        return "model is required."
    if not isinstance(request.get("messages"), list) or not request["messages"]:
        return "messages is a list of at least one message."
    if request.get("stream"):
        return "The stand-in does not stream."
    return None
