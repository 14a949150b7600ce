"""Valkey, or Redis, on a socket in a private directory: no port that could clash."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

from dev import binaries
from dev.servers import Server

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dev.home import Home


class Valkey(Server):
    title = "Valkey"
    name = "valkey"
    stage = 1
    stop_signal = signal.SIGTERM

    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._program = binaries.valkey_server()
        self.version = binaries.version_of(self._program)
        if "redis" in self._program.name:
            self.title = "Redis"
        self._socket = home.sockets / "kv.sock"

    @property
    def url(self) -> str:
        return f"redis+socket://{self._socket}"

    def stop(self) -> None:
        self._end(self.stop_signal)

    def _prepare(self) -> None:
        self.data.mkdir(mode=0o700, exist_ok=True)

    def _command(self) -> Sequence[str]:
        # No path of the data appears: the server runs inside its directory.
        return [
            str(self._program),
            *("--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700"),
            *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
            *("--maxmemory-policy", "noeviction", "--daemonize", "no"),
        ]

    def _answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(5)
                connection.connect(str(self._socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False
