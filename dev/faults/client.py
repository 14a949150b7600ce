"""The sender of the bench: one body after the other over HTTP, each with a log of its answers.

A body is sent again under the same key on a lost connection, a timeout and a 5xx, until an answer
counts. So the order in which the bodies are accepted is the order in which they are given.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = "/api/v1/reports/"
TIMEOUT_SECONDS = 3.0
PATIENCE_SECONDS = 60.0
# Shorter than what a 503 asks for: the bench measures the product, not the politeness of its client.
PAUSE_SECONDS = 0.3


@dataclass
class Sent:
    """One body: its key, every answer's status in order (0: none came), the id it was given."""

    key: str
    body: dict[str, Any]
    statuses: list[int] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    curt: int = 0
    """Answers of 503 that did not say when to come again."""

    @property
    def accepted(self) -> bool:
        return bool(self.ids)


class Client:
    """Sends in a thread of its own; `log` may be read meanwhile."""

    def __init__(self, port: int, api_key: str) -> None:
        self.port = port
        self.api_key = api_key
        self.log: list[Sent] = []
        self.ended_at = 0.0
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, bodies: Sequence[dict[str, Any]], *, pause: float = 0.0) -> None:
        """Send the bodies one after the other, `pause` seconds between two."""
        self._thread = threading.Thread(target=self._run, args=(bodies, pause), daemon=True)
        self._thread.start()

    @property
    def is_sending(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def send(self, sent: Sent) -> None:
        """Send one body until it is accepted or refused, at most for a minute."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._stopping.is_set() and time.monotonic() < deadline:
            status, answer = self._post(sent)
            sent.statuses.append(status)
            if status in {200, 202}:
                sent.ids.append(str(answer["id"]))
                return
            if 0 < status < 500 and status != 429:
                return
            self._stopping.wait(PAUSE_SECONDS)

    def _run(self, bodies: Sequence[dict[str, Any]], pause: float) -> None:
        for body in bodies:
            sent = Sent(uuid.uuid4().hex, body)
            self.log.append(sent)
            self.send(sent)
            self._stopping.wait(pause)
        self.ended_at = time.time()

    def _post(self, sent: Sent) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(
                "POST",
                PATH,
                json.dumps(sent.body),
                {
                    "Authorization": f"Bearer {self.api_key}",
                    "Content-Type": "application/json",
                    "Idempotency-Key": sent.key,
                },
            )
            answer = connection.getresponse()
            sent.curt += answer.status == 503 and "Retry-After" not in answer.headers
            return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return 0, {}
        finally:
            connection.close()


# Every list and rank is among them, and two reports about one item, whose rows two workers want.
TEXTS = (
    ("lunch", "Lunch at noon, the usual place?"),
    ("spam", "Buy cheap watches now, visit my shop"),
    ("threat", "I will kill you tomorrow"),
    ("weather", "The weather is lovely today"),
    ("hate", "I hate women, they are vermin"),
    ("lunch", "And after lunch a walk?"),
    ("threat-ar", "سأقتلك غدا"),
    ("scam", "Send me your bank password and the gift card codes"),
    ("thanks", "Thank you for the flowers"),
    ("threat", "I will stab you with a knife"),
)


def bodies(tag: str, count: int = len(TEXTS)) -> list[dict[str, Any]]:
    """The same inputs for every case; `tag` stands in each text, so that calls can be told apart."""
    made = []
    for number in range(count):
        item, text = TEXTS[number % len(TEXTS)]
        name = item if number < len(TEXTS) else f"{item}-{number // len(TEXTS)}"
        made.append(
            {
                "item": {"type": "message", "id": name, "author_id": "u-7"},
                "reporter": {"id": f"u-{number}"},
                "reason": "other",
                "comment": "please look",
                "language": "en",
                "messages": [{"id": "m-1", "text": f"{text} ({tag} {number})", "reported": True}],
                "metadata": {"number": number},
            }
        )
    return made
