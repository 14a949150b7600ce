"""The lines of a batch's files: which are no requests, and how an answer becomes a line."""

import json
import secrets
import uuid
from collections.abc import Callable
from typing import Any, BinaryIO

from dev.standin.answers import Answer
from dev.standin.batches.batch import ENDPOINT

Complaints = list[dict[str, Any]]
Made = tuple[bool, bytes]
"""Whether a line belongs into the output, not among the errors; and the line."""

_MOST_COMPLAINTS = 20
_EXPIRED = "This request could not be executed before the completion window expired."
_OF_NO_USE = (
    b'{"id": "batch_req_',
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"custom_id": 7, "response": null, "error": null}',
    b"{}",
    b"",
)


def complaint(code: str, message: str, line: int | None = None) -> dict[str, Any]:
    return {"code": code, "message": message, "param": None, "line": line}


def check_lines(file: BinaryIO) -> tuple[int, Complaints]:
    """How many lines there are, and the first complaints about them."""
    seen: set[str] = set()
    complaints: Complaints = []
    lines = 0
    for lines, line in enumerate(file, 1):
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            request = None
        if (found := _wrong_with(request, seen)) is None:
            seen.add(request["custom_id"])
        elif len(complaints) < _MOST_COMPLAINTS:
            complaints.append(complaint(*found, lines))
    if not lines:
        complaints.append(complaint("empty_file", "The file has no lines."))
    return lines, complaints


def _wrong_with(request: Any, seen: set[str]) -> tuple[str, str] | None:
    asked = request if isinstance(request, dict) else {}
    custom_id = asked.get("custom_id")
    named = isinstance(custom_id, str) and custom_id != ""
    for fits, code, message in (
        (request is asked, "invalid_json_line", "This line is not a JSON object."),
        (named, "missing_required_parameter", "Missing required parameter: 'custom_id'."),
        (not named or custom_id not in seen, "duplicate_custom_id", "A custom_id comes once."),
        (asked.get("method") == "POST", "invalid_method", "The method of a line is POST."),
        (asked.get("url") == ENDPOINT, "mismatched_endpoint", f"The url is {ENDPOINT}."),
        (
            isinstance(asked.get("body"), dict),
            "missing_required_parameter",
            "Missing required parameter: 'body'.",
        ),
    ):
        if not fits:
            return code, message
    return None


def made_of(line: bytes, answer: Callable[[Any], Answer]) -> Made:
    """What a line of the input becomes."""
    request = json.loads(line)
    custom_id, came = request["custom_id"], answer(request["body"])
    if came.manner != "whole" or "Content-Encoding" in came.headers:
        return False, failed_line(custom_id, status=None, code="server_error")
    return came.status < 400, answered_line(custom_id, came)


def answered_line(custom_id: str, answer: Answer) -> bytes:
    """A response with the status and body that the call would have got."""
    response = (
        f'{{"status_code": {answer.status}, "request_id": "req_{secrets.token_hex(8)}", "body": '
    ).encode() + _embedded(answer.body)
    return _line(custom_id, response + b"}", b"null")


def failed_line(custom_id: str, *, status: int | None, code: str) -> bytes:
    """An error's line: with a response of that status, or with none."""
    error = {"code": code, "message": "The stand-in was told to fail this line."}
    if status is None:
        return _line(custom_id, b"null", json.dumps(error).encode())
    body = {"error": {**error, "type": "server_error", "param": None}}
    return answered_line(custom_id, Answer(status, json.dumps(body).encode(), {}))


def expired_line(custom_id: str) -> bytes:
    error = {"code": "batch_expired", "message": _EXPIRED}
    return _line(custom_id, b"null", json.dumps(error).encode())


def foreign_line() -> bytes:
    """An answer to a question that nobody put."""
    body = {"object": "chat.completion", "model": "unknown", "choices": []}
    return answered_line(str(uuid.uuid4()), Answer(200, json.dumps(body).encode(), {}))


def line_of_no_use(number: int) -> bytes:
    return _OF_NO_USE[number % len(_OF_NO_USE)] + b"\n"


def _line(custom_id: str, response: bytes, error: bytes) -> bytes:
    head = f'{{"id": "batch_req_{secrets.token_hex(8)}", "custom_id": {json.dumps(custom_id)}, '
    return head.encode() + b'"response": ' + response + b', "error": ' + error + b"}\n"


def _embedded(body: bytes) -> bytes:
    """The body as it is where it is JSON on one line, else as a text."""
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return json.dumps(body.decode("utf-8", "replace")).encode()
    return body if b"\n" not in body else json.dumps(json.loads(body)).encode()
