"""The way into the live server, which is shut before the database is emptied."""

import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.core.signals import request_finished

from classifier.tests.situations import wait_until

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Gate:
    """Lets requests through to the application while it is open, and knows which are under way.

    A page that is closed does not wait for its answer, and its last words may arrive after it is
    gone. What arrives at the shut gate is answered with 503 and touches nothing.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._is_open = False
        self._inside: set[int] = set()  # threads; each has one request at a time
        request_finished.connect(self._leave)

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        with self._lock:
            if not self._is_open:
                start_response("503 Service Unavailable", [("Content-Length", "0")])
                return []
            self._inside.add(threading.get_ident())
        try:
            return self._application(environ, start_response)
        except BaseException:
            self._leave()
            raise

    def open(self) -> None:
        with self._lock:
            self._is_open = True

    def shut(self) -> None:
        """Returns once nothing is under way any more."""
        with self._lock:
            self._is_open = False
        wait_until(lambda: not self._inside)

    def _leave(self, **_signal: object) -> None:
        self._inside.discard(threading.get_ident())


def gate_of(server: Any) -> Gate:
    """The one gate of a `wsgiref` server, which it gets when it is first asked for."""
    application = server.get_app()
    if not isinstance(application, Gate):
        application = Gate(application)
        server.set_app(application)
    return application
