"""The stand-in's HTTP server, and `running_standin` that starts it inside a test.

| request | answer |
|---|---|
| GET / | what this is |
| GET /v1/models | one model and its context length |
| POST /v1/chat/completions | the verdict by the word rules, or what a script says |
| POST /script, DELETE /script | add one script (see `script`), forget all |
| GET /calls, DELETE /calls | the log of completion requests, forget it |
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

from dev.standin.answers import (
    OWNER,
    Answer,
    error_answer,
    json_answer,
    models_answer,
    no_evidence_answer,
    normal_answer,
    scripted_answer,
)
from dev.standin.client import Standin
from dev.standin.evidence import (
    EvidenceError,
    judged_messages,
    last_user_text,
    read_evidence,
    searchable_text,
)
from dev.standin.script import Calls, Script, ScriptError

_MAX_REQUEST_BYTES = 64 * 1024 * 1024
_LOGGED_TEXT = 200


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
        self.delay = delay
        self.script = Script()
        self.calls = Calls()
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._busy = 0
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
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        # A client that hung up is what the tests are about, not an error of the stand-in.
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @contextlib.contextmanager
    def busy(self) -> Iterator[None]:
        with self._lock:
            self._busy += 1
        try:
            yield
        finally:
            with self._lock:
                self._busy -= 1

    def stop(self, *, grace: float = 2) -> None:
        """Accept nothing new, let running answers finish for `grace` seconds, close the rest.

        Call it while `serve_forever` runs in another thread.
        """
        self.stopping.set()
        self.shutdown()
        self.server_close()
        deadline = time.monotonic() + grace
        while self._busy and time.monotonic() < deadline:
            time.sleep(0.01)
        # Keep-alive connections would go on answering from their threads.
        with self._lock:
            left = list(self._connections)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class StandinHandler(BaseHTTPRequestHandler):
    server: StandinServer
    protocol_version = "HTTP/1.1"
    # Unbuffered small writes and Nagle's algorithm cost 45 ms a call on a kept connection.
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        match self.path:
            case "/":
                self._send(json_answer(200, {"service": OWNER, "base_url": self.server.base_url}))
            case "/v1/models":
                self._send(models_answer())
            case "/calls":
                self._send(json_answer(200, {"calls": self.server.calls.all()}))
            case _:
                self._send_not_found()

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

    def do_DELETE(self) -> None:
        match self.path:
            case "/script":
                self.server.script.clear()
                self._send(json_answer(200, {"ok": True}))
            case "/calls":
                self.server.calls.clear()
                self._send(json_answer(200, {"ok": True}))
            case _:
                self._send_not_found()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: GET /calls is the log."""

    def _add_script(self, body: Any) -> None:
        try:
            self.server.script.add(body)
        except ScriptError as error:
            self._send(error_answer(400, str(error), code="bad_script"))
        else:
            self._send(json_answer(200, {"ok": True}))

    def _complete(self, request: Any) -> None:
        if problem := _problem(request):
            self._send(error_answer(400, problem))
            return
        prompt = last_user_text(request["messages"])
        evidence: dict[str, Any] | None = None
        why = ""
        try:
            evidence = read_evidence(prompt)
        except EvidenceError as error:
            why = str(error)
        step = self.server.script.next_step(searchable_text(prompt, evidence))
        call = self.server.calls.add(_call(request, evidence, step))
        self.server.stopping.wait(self.server.delay)
        if step is not None and step["kind"] == "delay":
            self.server.stopping.wait(step["seconds"])
        if step is not None and step["kind"] != "delay":
            answer = scripted_answer(request, evidence, step)
        elif evidence is None:
            answer = no_evidence_answer(why)
        else:
            answer = normal_answer(request, evidence)
        try:
            self._send(answer, call)
        except OSError:
            self.server.calls.set_status(call, None)
            self.close_connection = True

    def _send(self, answer: Answer, call: dict[str, Any] | None = None) -> None:
        if answer.manner == "hang":
            self.server.stopping.wait(answer.seconds)
            self.close_connection = True
            return
        if call is not None:
            # Before the bytes go out: who has the answer may look into the log at once.
            self.server.calls.set_status(call, answer.status)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.manner == "drip":
            self._drip(answer)
            return
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(
            answer.body[: len(answer.body) // 2] if answer.manner == "cut" else answer.body
        )
        self.wfile.flush()
        if answer.manner in {"cut", "drop_after_answer"}:
            self.close_connection = True

    def _drip(self, answer: Answer) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        deadline = time.monotonic() + answer.seconds
        while time.monotonic() < deadline and not self.server.stopping.is_set():
            self._write_chunk(b"\n")
            self.server.stopping.wait(answer.interval)
        self._write_chunk(answer.body)
        self._write_chunk(b"")

    def _write_chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _send_not_found(self) -> None:
        self._send(error_answer(404, f"The stand-in has no {self.command} {self.path}."))

    def _read_json(self) -> Any:
        """The request's JSON, or the Answer that refuses it."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > _MAX_REQUEST_BYTES:
            # The body stays unread, so the connection cannot be used again.
            self.close_connection = True
            return error_answer(413 if length.isdigit() else 411, "A Content-Length up to 64 MiB.")
        try:
            return json.loads(self.rfile.read(int(length)))
        except ValueError as error:
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


def _call(
    request: dict[str, Any], evidence: dict[str, Any] | None, step: dict[str, Any] | None
) -> dict[str, Any]:
    judged = judged_messages(evidence) if evidence is not None else []
    return {
        "ref": evidence["ref"] if evidence is not None else None,
        "item_type": evidence.get("item_type") if evidence is not None else None,
        "message_ids": [message.get("id") for message in judged],
        "text": "\n".join(message["text"] for message in judged)[:_LOGGED_TEXT],
        "model": request["model"],
        "step": step["kind"] if step is not None else None,
    }
