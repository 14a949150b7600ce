"""HTTP that keeps a deadline and a cap, whatever the server sends.

The timeouts of httpx2 are for one read each, so a server that drips a header byte every second
would hold a worker for ever. Here every look-up, handshake, read and write of a call gets the time
that is left of the whole, and with none left it fails. Bodies are bounded before anybody holds
them, those of errors too, which the SDK would read whole.
"""

import queue
import socket
import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore2
import httpx2

# A send blocks until all of its bytes are taken: small ones let the clock be read between them.
WRITE_BYTES = 64 * 1024

# An answer is a few kilobytes; a reasoning model's a few hundred. Nothing honest is larger.
MAX_REPLY_BYTES = 2 * 1024 * 1024
# An error says what it has to say in less; the rest of it is left unread.
MAX_ERROR_BYTES = 64 * 1024

_call = threading.local()


class UnwantedReplyError(httpx2.TransportError):
    """A body that is not read any further: `too_large`, or `compressed` although nobody asked."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def deadline(*, ends: float, most_bytes: int = MAX_REPLY_BYTES) -> Iterator[None]:
    """Bound what this thread does on the network until `ends` (`time.monotonic()`).

    `most_bytes` is what the body of an answer may have; a file has more than a reply.
    """
    _call.ends, _call.most_bytes = ends, most_bytes
    try:
        yield
    finally:
        _call.ends = None


def _left(error: type[httpcore2.TimeoutException]) -> float:
    """Seconds that remain of the call; raises `error` when there are none."""
    ends: float | None = getattr(_call, "ends", None)
    if ends is None:
        raise RuntimeError("no model is asked without a deadline")
    left = ends - time.monotonic()
    if left <= 0:
        raise error("the deadline of the whole call")
    return left


class DeadlineTransport(httpx2.HTTPTransport):
    """HTTP/1.1 to the named host itself: no proxy, no certificates from the environment."""

    def __init__(self, *, limits: httpx2.Limits) -> None:
        super().__init__(trust_env=False, limits=limits)
        # httpx2 passes no backend on; `test_transport` fails should this name go.
        pool: Any = self._pool
        pool._network_backend = _Backend(pool._network_backend)  # noqa: SLF001

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        is_error = not response.is_success
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            response.close()
            if not is_error:
                raise UnwantedReplyError("compressed")
            # Status and headers count; nobody unpacks the rest.
            return httpx2.Response(
                response.status_code,
                headers=[
                    (name, value)
                    for name, value in response.headers.multi_items()
                    if name not in {"content-encoding", "content-length"}
                ],
                extensions=response.extensions,
            )
        if is_error:
            # The SDK decodes it by the charset that the server names, and some name none there is.
            response.headers["content-type"] = "text/plain; charset=utf-8"
        stream: Any = response.stream
        response.stream = _Capped(stream, is_error=is_error)
        return response


class _Capped(httpx2.SyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream, *, is_error: bool) -> None:
        self._inner = inner
        self._is_error = is_error

    def __iter__(self) -> Iterator[bytes]:
        most = MAX_ERROR_BYTES if self._is_error else _call.most_bytes
        try:
            for chunk in self._inner:
                most -= len(chunk)
                if most < 0:
                    raise UnwantedReplyError("too_large")
                yield chunk
        except httpx2.TransportError:
            # What came of an error's body must do: its status and headers are what counts.
            if not self._is_error:
                raise

    def close(self) -> None:
        self._inner.close()


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend) -> None:
        self._inner = inner

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        failed: Exception = httpcore2.ConnectError(f"no address for {host}")
        for address in _look_up(host, port):
            left = _left(httpcore2.ConnectTimeout)
            try:
                stream = self._inner.connect_tcp(
                    address, port, min(left, timeout or left), local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
            else:
                return _Stream(stream)
        raise failed


def _look_up(host: str, port: int) -> list[str]:
    """The host's addresses. The resolver has no timeout, so a thread waits for it in our place."""
    came: queue.SimpleQueue[list[str] | Exception] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            came.put([str(each[4][0]) for each in found])
        except (OSError, ValueError, OverflowError) as error:  # of the resolver, of IDNA, of a port
            came.put(error)

    threading.Thread(target=resolve, name="resolve", daemon=True).start()
    try:
        result = came.get(timeout=_left(httpcore2.ConnectTimeout))
    except queue.Empty:
        raise httpcore2.ConnectTimeout("the name was not resolved in time") from None
    if isinstance(result, Exception):
        raise httpcore2.ConnectError("the name cannot be resolved")
    return result


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        left = _left(httpcore2.ReadTimeout)
        return self._inner.read(max_bytes, min(left, timeout or left))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), WRITE_BYTES):
            left = _left(httpcore2.WriteTimeout)
            self._inner.write(buffer[start : start + WRITE_BYTES], min(left, timeout or left))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(httpcore2.ConnectTimeout)
        return _Stream(
            self._inner.start_tls(ssl_context, server_hostname, min(left, timeout or left))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
