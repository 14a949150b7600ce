"""How tests send reports: the API as one sender's engineer calls it."""

import http.client
import json
import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.db import connection
from django.test import Client as HttpClient

from reports.models import Report, Sender
from reports.senders import create_sender

DEFAULT_BUDGET_SECONDS = 300
REPORTS = "/api/v1/reports/"


def report_body(**changes: Any) -> dict[str, Any]:
    """A complete, harmless body; keyword arguments replace its fields."""
    return {
        "item": {"type": "message", "id": "m-81", "author_id": "u-7", "url": None},
        "reporter": {"id": "u-9"},
        "reason": "spam",
        "comment": "again",
        "language": "en",
        "messages": [
            {
                "id": "m-81",
                "author_id": "u-7",
                "sent_at": "2026-11-01T10:00:00Z",
                "text": "See you at lunch.",
                "reported": True,
            }
        ],
        "metadata": {"app": "ios"},
        **changes,
    }


def body_saying(text: str, **changes: Any) -> dict[str, Any]:
    """A complete body whose one reported message has this text: another item, by another author."""
    number = uuid.uuid4().hex[:12]
    author = f"u-{number}"
    item = {"type": "message", "id": f"m-{number}", "author_id": author, "url": None}
    message = {**report_body()["messages"][0], "author_id": author, "text": text}
    return report_body(**{"item": item, "messages": [message], **changes})


class Client:
    """Calls the API with one sender's key, in this process."""

    def __init__(self, sender: Sender, key: str) -> None:
        self.sender = sender
        self.key = key
        self.http = HttpClient(raise_request_exception=False)

    def post(
        self,
        body: Any = None,
        *,
        key: str | None = None,
        raw: bytes | None = None,
        content_type: str = "application/json",
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Send a body (or raw bytes) under an idempotency key of its own unless one is given."""
        data = raw if raw is not None else json.dumps(body if body is not None else report_body())
        return self.http.post(
            REPORTS,
            data,
            content_type=content_type,
            headers={
                "Authorization": f"Bearer {self.key}",
                "Idempotency-Key": uuid.uuid4().hex if key is None else key,
                **(headers or {}),
            },
        )

    def get(self, path: str = REPORTS, **query: Any) -> Any:
        return self.http.get(path, query, headers={"Authorization": f"Bearer {self.key}"})

    def send(self, body: Any = None) -> Report:
        """Send a report that must be accepted; returns its row."""
        answer = self.post(body)
        assert answer.status_code == 202, answer.content
        return Report.objects.get(public_id=answer.json()["id"])


def make_sender(name: str, *, budget_seconds: float = DEFAULT_BUDGET_SECONDS) -> Client:
    """A sender with a key, as a client that uses it."""

    made = create_sender(
        name=name, latency_budget=timedelta(seconds=budget_seconds), actor_name="test"
    )
    return Client(made.api_key.sender, made.key)


def assert_problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """The answer is an RFC 9457 problem of this status and code; returns it."""
    assert answer.status_code == status, answer.content
    assert answer.headers["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["type"] == f"urn:problem:{code}"
    assert problem["title"]
    assert problem["status"] == status
    assert problem["detail"]
    assert problem["code"] == code
    return problem


class HttpAnswer(NamedTuple):
    """What came back over a real connection."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


def post_over_http(
    address: str, api_key: str, body: Any, *, key: str | None = None, timeout: float = 30
) -> HttpAnswer:
    """Send a report over a connection of its own to `http://host:port`."""
    server = http.client.HTTPConnection(urlsplit(address).netloc, timeout=timeout)
    try:
        server.request(
            "POST",
            REPORTS,
            json.dumps(body),
            {
                "Authorization": f"Bearer {api_key}",
                "Idempotency-Key": uuid.uuid4().hex if key is None else key,
                "Content-Type": "application/json",
            },
        )
        answer = server.getresponse()
        return HttpAnswer(answer.status, dict(answer.headers), answer.read())
    finally:
        server.close()


@contextmanager
def web_process(*, workers: int = 1, threads: int = 4, **environment: str) -> Iterator[str]:
    """The product's web process on the test's database, with these changes of its environment.

    Gives its address. Requests wait in the socket until the process accepts them.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        port = listening.getsockname()[1]
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "gunicorn", "moderation_site.wsgi"),
                *("--bind", f"fd://{listening.fileno()}", "--workers", str(workers)),
                *("--worker-class", "gthread", "--threads", str(threads)),
                *("--no-control-socket", "--log-level", "warning"),
            ],
            pass_fds=[listening.fileno()],
            env={**os.environ, "DATABASE_URL": database_url(), **environment},
        )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)


def database_url() -> str:
    """The address of the test's own database."""
    name = connection.settings_dict["NAME"]
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def store_instead(report: Report, body: object) -> None:
    """Another body than the API would accept, as a faulty import might leave it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM reports_content WHERE report_id = %s", [report.pk])
        cursor.execute(
            "INSERT INTO reports_content (report_id, body) VALUES (%s, %s)",
            [report.pk, body if isinstance(body, str) else json.dumps(body)],
        )
