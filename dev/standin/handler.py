"""The stand-in's side of one connection.

| request | answer |
|---|---|
| GET / | what this is |
| GET /v1/models | one model and its context length, or the list of the manners |
| GET what `beside` of the manners names | its body |
| POST /v1/chat/completions | the verdict by the word rules, or what a script or the manners say |
| POST /script, DELETE /script | add one script (see `script`), forget all |
| PUT /manners, DELETE /manners | behave like this (see `manners`), behave normally |
| GET /calls, DELETE /calls | the log of completion requests (see `calls`), forget it |
| /v1/files, /v1/batches and below | the Files and Batch API, see `batches.api` |
| GET /batches?settled_within=0 | what stands there and what was done, once batches are at their end |
| DELETE /batches | forget all of that |
| POST /faults | let the next call of that API go wrong (see `batches.faults`) |
"""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from dev.standin.answering import problem_of
from dev.standin.answers import (
    OWNER,
    Answer,
    beside_answer,
    error_answer,
    json_answer,
    models_answer,
)
from dev.standin.batches.form import FormError
from dev.standin.manners import NORMAL, read_manners
from dev.standin.script import ScriptError
from dev.standin.wire import Sending

if TYPE_CHECKING:
    from dev.standin.server import StandinServer

_MAX_REQUEST_BYTES = 64 * 1024 * 1024
_MAX_UPLOAD_BYTES = 512 * 1024 * 1024
_MAX_LENGTH_DIGITS = 9
_OK = {"ok": True}


class StandinHandler(BaseHTTPRequestHandler):
    server: "StandinServer"
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
            case path if path.partition("?")[0] == "/batches":
                self._send_standing()
            case _:
                answer = self.server.batches.answer("GET", self.path)
                answer = answer or beside_answer(self.server.model.manners, self.path)
                self._send(answer) if answer else self._send_not_found()

    def do_POST(self) -> None:
        if self.path == "/v1/files":
            self._send(self._upload())
            return
        body = self._read_json()
        if isinstance(body, Answer):
            self._send(body)
            return
        match self.path:
            case "/v1/chat/completions":
                with self.server.busy():
                    self._complete(body)
            case "/script":
                self._obey(self.server.model.script.add, body, code="bad_script")
            case "/faults":
                self._obey(self.server.batches.faults.add, body, code="bad_fault")
            case _:
                answer = self.server.batches.answer("POST", self.path, body)
                self._send(answer) if answer else self._send_not_found()

    def do_PUT(self) -> None:
        body = self._read_json()
        if isinstance(body, Answer):
            self._send(body)
        elif self.path == "/manners":
            self._obey(self._set_manners, body, code="bad_manners")
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
            case "/batches":
                self.server.batches.clear()
            case _:
                answer = self.server.batches.answer("DELETE", self.path)
                self._send(answer) if answer else self._send_not_found()
                return
        self._send(json_answer(200, _OK))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing: GET /calls is the log."""

    def _obey(self, told: Callable[[Any], None], body: Any, *, code: str) -> None:
        try:
            told(body)
        except ScriptError as error:
            self._send(error_answer(400, str(error), code=code))
        else:
            self._send(json_answer(200, _OK))

    def _set_manners(self, body: Any) -> None:
        self.server.model.manners = read_manners(body)

    def _send_standing(self) -> None:
        asked = parse_qs(urlsplit(self.path).query).get("settled_within", ["0"])
        self._send(json_answer(200, self.server.batches.standing(settled_within=float(asked[0]))))

    def _upload(self) -> Answer:
        length = self._read_length(_MAX_UPLOAD_BYTES)
        if isinstance(length, Answer):
            return length
        content_type = self.headers.get("Content-Type", "")
        try:
            return self.server.batches.upload(self.rfile, length=length, content_type=content_type)
        except FormError as error:
            self.close_connection = True
            return error_answer(400, str(error))

    def _complete(self, request: Any) -> None:
        if problem := problem_of(request):
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

    def _read_length(self, most: int) -> int | Answer:
        """The body's length, or the Answer that refuses it."""
        length = self.headers.get("Content-Length", "")
        known = length.isascii() and length.isdigit()
        if known and len(length) <= _MAX_LENGTH_DIGITS and int(length) <= most:
            return int(length)
        # The body stays unread, so the connection cannot be used again.
        self.close_connection = True
        return error_answer(413 if known else 411, f"A Content-Length up to {most >> 20} MiB.")

    def _read_json(self) -> Any:
        """The request's JSON, None where there is no body, or the Answer that refuses it."""
        length = self._read_length(_MAX_REQUEST_BYTES)
        if isinstance(length, Answer):
            return length
        try:
            return json.loads(self.rfile.read(length)) if length else None
        except (ValueError, RecursionError) as error:
            return error_answer(400, f"The request is not JSON: {error}")
