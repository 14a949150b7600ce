"""The stand-in's HTTP server, and `running_standin` that starts it inside a test."""

import contextlib
import ipaddress
import socket
import sys
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from dev.standin.answering import Answering
from dev.standin.batches.api import BatchApi
from dev.standin.client import Standin
from dev.standin.handler import StandinHandler
from dev.standin.wire import is_to_be_reset


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
        self.batches = BatchApi(self.model)
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
        self.batches.clear()


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
