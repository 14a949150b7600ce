"""Between the client and aimock: says how a batch shall end, which the client has no way to say.

aimock reads it from a header of the call that creates the batch. Everything else passes through as
it is.
"""

from __future__ import annotations

import http.client
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = "X-AIMock-Batch-Outcome"
SECONDS = 30.0
_OF_THE_CONNECTION = frozenset({"connection", "keep-alive", "transfer-encoding", "host"})


class Endings(ThreadingHTTPServer):
    """`behind` is aimock's port. Batches that are created from now on come to this `end`."""

    daemon_threads = True

    def __init__(self, behind: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.end = "completed"

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@contextmanager
def running_endings(*, port: int) -> Iterator[Endings]:
    """Until the block ends; `port` is aimock's."""
    server = Endings(port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Endings

    def do_GET(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def do_DELETE(self) -> None:
        self._pass_on()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: aimock has a journal."""

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _OF_THE_CONNECTION
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind, timeout=SECONDS)
        try:
            connection.request(self.command, self.path, body, {**headers, HEADER: self.server.end})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {*_OF_THE_CONNECTION, "content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
