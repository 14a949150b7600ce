"""How an answer goes onto the socket: whole, or one of the ways to fail there.

| manner | what is written |
|---|---|
| whole | the answer |
| hang | nothing for `seconds`, then the connection closes |
| drip | the headers, a blank line every `interval` for `seconds`, the body |
| drip_headers | the status line, a byte of a header every `interval` for `seconds`, the rest |
| cut | half of the body, then the connection closes |
| drop_after_answer | the answer, then the connection closes |
| close, reset | nothing, then the connection closes or is reset |
| raw | the body alone, then the connection closes |
| flood | `megabytes` of white space |
"""

import io
import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

from dev.standin.answers import Answer

MEGABYTE = 2**20
_LINGER_NOT = struct.pack("ii", 1, 0)
_PIECE = b" " * (2**16 - 1) + b"\n"
_SLOW_HEADER = b"X-Slow: "


class Sending:
    """One answer on its way to the client.

    `started` is called before the first byte of an answer that has a status, `ended` before the
    last byte of any: whoever has the answer may look into the log at once.
    """

    def __init__(
        self,
        handler: BaseHTTPRequestHandler,
        stopping: threading.Event,
        *,
        started: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self._handler = handler
        self._stopping = stopping
        self._started = started
        self._ended = ended

    def send(self, answer: Answer) -> None:
        """Raises OSError where the client is gone."""
        match answer.manner:
            case "hang":
                self._stopping.wait(answer.seconds)
                self._handler.close_connection = True
            case "close":
                self._handler.close_connection = True
            case "reset":
                self._reset()
            case "raw":
                self._ended()
                self._write(answer.body)
                self._handler.close_connection = True
            case "drip":
                self._drip(answer)
            case "drip_headers":
                self._drip_headers(answer)
            case "flood":
                self._flood(answer)
            case _:
                self._send_whole(answer)

    def _send_whole(self, answer: Answer) -> None:
        with answer.file.open("rb") if answer.file else io.BytesIO(answer.body) as source:
            size = source.seek(0, io.SEEK_END)
            source.seek(0)
            self._begin(answer)
            self._handler.send_header("Content-Length", str(size))
            self._handler.end_headers()
            self._ended()
            left = size // 2 if answer.manner == "cut" else size
            while piece := source.read(min(left, MEGABYTE)):
                self._write(piece)
                left -= len(piece)
        if answer.manner in {"cut", "drop_after_answer"}:
            self._handler.close_connection = True

    def _reset(self) -> None:
        """Have the kernel answer the closing of the socket with RST; see `is_to_be_reset`."""
        connection = self._handler.connection
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self._handler.close_connection = True

    def _drip(self, answer: Answer) -> None:
        self._begin(answer)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        for _ in self._moments(answer):
            self._write_chunk(b"\n")
        self._ended()
        self._write_chunk(answer.body)
        self._write_chunk(b"")

    def _drip_headers(self, answer: Answer) -> None:
        self._started()
        self._handler.send_response_only(answer.status)
        # The status line alone: end_headers would end the headers as well.
        self._handler.flush_headers()
        line = itertools.chain(_SLOW_HEADER, itertools.repeat(ord("a")))
        sent = 0
        for _ in self._moments(answer):
            self._write(bytes([next(line)]))
            sent += 1
        rest = bytes(itertools.islice(line, max(0, len(_SLOW_HEADER) - sent)))
        self._write(rest + b"\r\n")
        for name, value in answer.headers.items():
            self._handler.send_header(name, value)
        self._handler.send_header("Content-Length", str(len(answer.body)))
        self._handler.end_headers()
        self._ended()
        self._write(answer.body)

    def _flood(self, answer: Answer) -> None:
        self._begin(answer)
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        for piece in of_white_space(int(answer.megabytes * MEGABYTE)):
            if self._stopping.is_set():
                self._handler.close_connection = True
                return
            self._write_chunk(piece)
        self._ended()
        self._write_chunk(b"")

    def _begin(self, answer: Answer) -> None:
        self._started()
        self._handler.send_response(answer.status)
        for name, value in answer.headers.items():
            self._handler.send_header(name, value)

    def _moments(self, answer: Answer) -> Iterator[None]:
        """One every interval, for the answer's time."""
        deadline = time.monotonic() + answer.seconds
        while (left := deadline - time.monotonic()) > 0 and not self._stopping.is_set():
            yield
            self._stopping.wait(min(answer.interval, left))

    def _write_chunk(self, data: bytes) -> None:
        self._write(b"%x\r\n%b\r\n" % (len(data), data))

    def _write(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()


def is_to_be_reset(connection: socket.socket) -> bool:
    """Whether closing is to say RST; a shutdown before it would say FIN first."""
    return connection.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == _LINGER_NOT


def of_white_space(size: int) -> Iterator[bytes]:
    """So many bytes of it, in pieces."""
    for _ in range(size // len(_PIECE)):
        yield _PIECE
    if rest := size % len(_PIECE):
        yield _PIECE[-rest:]
