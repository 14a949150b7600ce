"""How tests send reports: the API as one sender's engineer calls it."""

import json
import uuid
from datetime import timedelta
from typing import Any

from django.test import Client as HttpClient

from reports.models import Report, Sender
from reports.senders import create_sender

DEFAULT_BUDGET_SECONDS = 300


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
    """A complete body whose one reported message has this text, about an item of its own."""
    item = {"type": "message", "id": f"m-{uuid.uuid4().hex[:12]}", "author_id": "u-7", "url": None}
    message = {**report_body()["messages"][0], "text": text}
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
            "/api/v1/reports/",
            data,
            content_type=content_type,
            headers={
                "Authorization": f"Bearer {self.key}",
                "Idempotency-Key": key or uuid.uuid4().hex,
                **(headers or {}),
            },
        )

    def get(self, path: str = "/api/v1/reports/", **query: Any) -> Any:
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
