"""Delivers report bodies as a careful platform does: every body is retried under one key.

    python -m dev.deliver FILE.jsonl --url http://127.0.0.1:8000 --key KEY

One request body a line. A body is tried again on a lost connection, a timeout, 429 and 5xx, always
with the same Idempotency-Key, so that it is stored once however often it arrives. Any other answer
is the server's last word: what it refused is counted and shown, never silently lost.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import sys
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dev.errors import DevError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

THREADS = 4
TIMEOUT_SECONDS = 30.0
PATIENCE_SECONDS = 120.0
"""How long one body is tried before it counts as undelivered."""
FIRST_DELAY = 0.2
LONGEST_DELAY = 10.0
SHOWN_REFUSALS = 5
PATH = "/api/v1/reports/"

OK, ACCEPTED, TOO_MANY, SERVER_FAULTS = 200, 202, 429, 500


class Refusal(NamedTuple):
    """The server's last word on a body (`line` counts from 1), or why it never spoke one."""

    line: int
    status: int
    answer: str


@dataclass
class Delivery:
    """What became of the bodies. `ids` are the reports' ids, replayed ones included.

    `trouble` is the last passing fault, and empty again after the next stored body.
    """

    accepted: int = 0
    replayed: int = 0
    retries: int = 0
    refused: list[Refusal] = field(default_factory=list)
    undelivered: list[Refusal] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    trouble: str = ""

    @property
    def settled(self) -> int:
        return self.accepted + self.replayed + len(self.refused) + len(self.undelivered)

    def complaints(self) -> Iterator[str]:
        """Yield a line for each of the first few bodies that were not stored."""
        for title, group in (("refused", self.refused), ("not delivered", self.undelivered)):
            for one in group[:SHOWN_REFUSALS]:
                yield f"{title}: line {one.line}, {one.status or 'no answer'}: {one.answer}"
            if len(group) > SHOWN_REFUSALS:
                yield f"{title}: {len(group) - SHOWN_REFUSALS} more"


def read_bodies(path: Path) -> Iterator[bytes]:
    """Yield the lines of a JSON Lines file as they stand, blank ones too: they count as lines."""
    try:
        with path.open("rb") as file:
            yield from (line.strip() for line in file)
    except OSError as error:
        raise DevError(f"cannot read {path}: {error.strerror}") from None


def deliver(  # noqa: PLR0913  three of them have defaults nobody changes in passing
    bodies: Iterable[bytes],
    *,
    url: str,
    key: str,
    result: Delivery | None = None,
    stopping: threading.Event | None = None,
    threads: int = THREADS,
    patience: float = PATIENCE_SECONDS,
) -> Delivery:
    """Send all bodies to `url` and return when each has its answer, or when `stopping` is set.

    `result` may be given to watch it grow. DevError for an address that is not http(s)://host.
    """
    address = _address(url)
    outcome = result if result is not None else Delivery()
    stop = stopping if stopping is not None else threading.Event()
    numbered = enumerate(bodies, start=1)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            courier = _Courier(address, key, stop, patience, outcome)
            while not stop.is_set():
                with lock:
                    line, body = next(numbered, (0, b""))
                if not line:
                    break
                if not body:
                    continue
                answer = courier.bring(body)
                with lock:
                    _count(outcome, line, answer)
            courier.close()
        except BaseException as error:  # noqa: BLE001  raised again in the caller's thread
            failures.append(error)
            stop.set()

    workers = [threading.Thread(target=work, name=f"deliver-{n}") for n in range(threads)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            worker.join()
    except BaseException:
        stop.set()
        raise
    if failures:
        raise failures[0]
    return outcome


class _Answer(NamedTuple):
    status: int  # 0: there was none
    text: str
    location: str = ""
    retry_after: float | None = None


class _Courier:
    """One thread's connection, kept alive from body to body."""

    def __init__(
        self,
        address: urllib.parse.SplitResult,
        key: str,
        stop: threading.Event,
        patience: float,
        outcome: Delivery,
    ) -> None:
        self._address = address
        self._key = key
        self._stop = stop
        self._patience = patience
        self._connection: http.client.HTTPConnection | None = None
        self._outcome = outcome

    def bring(self, body: bytes) -> _Answer:
        """Send the body until there is a last word, the patience ends or we are stopped."""
        idempotency_key = str(uuid.uuid4())
        deadline = time.monotonic() + self._patience
        delay = FIRST_DELAY
        while True:
            answer = self._try(body, idempotency_key)
            if not _worth_a_retry(answer):
                return answer
            self._outcome.trouble = f"{answer.status or 'no answer'}: {answer.text[:200]}"
            pause = delay * random.uniform(0.5, 1.0)  # noqa: S311  spreads retries, no secret
            if answer.retry_after is not None:
                pause = max(answer.retry_after, pause)
            if time.monotonic() + pause > deadline or self._stop.wait(pause):
                return answer
            self._outcome.retries += 1
            delay = min(delay * 2, LONGEST_DELAY)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _try(self, body: bytes, idempotency_key: str) -> _Answer:
        try:
            connection = self._connected()
            connection.request(
                "POST",
                self._address.path.rstrip("/") + PATH,
                body=body,
                headers={
                    "Authorization": f"Bearer {self._key}",
                    "Content-Type": "application/json",
                    "Idempotency-Key": idempotency_key,
                },
            )
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            self.close()
            return _Answer(0, f"{type(error).__name__}: {error}")
        return _Answer(
            response.status,
            text,
            response.headers.get("Location", ""),
            _seconds(response.headers.get("Retry-After")),
        )

    def _connected(self) -> http.client.HTTPConnection:
        if self._connection is None:
            secure = self._address.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            self._connection = kind(
                self._address.hostname or "", self._address.port, timeout=TIMEOUT_SECONDS
            )
        return self._connection


def _worth_a_retry(answer: _Answer) -> bool:
    return answer.status in (0, TOO_MANY) or answer.status >= SERVER_FAULTS


def _count(outcome: Delivery, line: int, answer: _Answer) -> None:
    if answer.status in (OK, ACCEPTED):
        outcome.trouble = ""
        if answer.status == ACCEPTED:
            outcome.accepted += 1
        else:
            outcome.replayed += 1
        outcome.ids.append(_id_of(answer))
    elif _worth_a_retry(answer):
        outcome.undelivered.append(Refusal(line, answer.status, _why(answer)))
    else:
        outcome.refused.append(Refusal(line, answer.status, _why(answer)))


def _why(answer: _Answer) -> str:
    """The fields that a problem document names, else its detail, else the answer's start."""
    try:
        problem = json.loads(answer.text)
        named = "; ".join(f"{one['field']}: {one['reason']}" for one in problem["errors"])
        return (named or str(problem["detail"]))[:300]
    except (ValueError, KeyError, TypeError):
        return answer.text[:300]


def _id_of(answer: _Answer) -> str:
    try:
        return str(json.loads(answer.text)["id"])
    except (ValueError, KeyError, TypeError):
        return answer.location.rstrip("/").rpartition("/")[2]


def _seconds(retry_after: str | None) -> float | None:
    # The date form is not read: our servers send seconds, and the backoff covers the rest.
    return float(retry_after) if retry_after and retry_after.isdigit() else None


def _address(url: str) -> urllib.parse.SplitResult:
    try:
        address = urllib.parse.urlsplit(url)
        valid = address.scheme in {"http", "https"} and address.hostname and address.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise DevError(f"{url} is not an address: use http://host:port")
    return address


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.deliver", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("file", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", default=os.environ.get("REPORTS_KEY"), help="or REPORTS_KEY")
    parser.add_argument("--threads", type=int, default=THREADS)
    options = parser.parse_args()
    if not options.key:
        parser.error("an API key is needed: --key, or REPORTS_KEY in the environment")
    result, stopping = Delivery(), threading.Event()
    progress = threading.Thread(target=_show_progress, args=(result, stopping), daemon=True)
    if sys.stderr.isatty():
        progress.start()
    interrupted = False
    try:
        deliver(
            read_bodies(options.file),
            url=options.url,
            key=options.key,
            result=result,
            stopping=stopping,
            threads=options.threads,
        )
    except DevError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    except KeyboardInterrupt:
        interrupted = True
    stopping.set()
    if progress.is_alive():
        progress.join()
    for complaint in result.complaints():
        sys.stderr.write(f"{complaint}\n")
    print(
        f"accepted {result.accepted}, replayed {result.replayed}, refused {len(result.refused)}, "
        f"not delivered {len(result.undelivered)}, retries {result.retries}"
    )
    if interrupted:
        return 130
    return 1 if result.refused or result.undelivered else 0


def _show_progress(result: Delivery, stopping: threading.Event) -> None:
    while not stopping.wait(0.2):
        sys.stderr.write(f"\r{result.settled} sent, {result.retries} retries ")
    sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    sys.exit(main())
