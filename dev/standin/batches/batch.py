"""One batch: what was asked, how far it is, what came of it. Safe among threads."""

import threading
import time
from collections.abc import Sequence
from typing import Any

from dev.standin.batches.files import StoredFile, make_id
from dev.standin.batches.manners import BatchManners

ENDPOINT = "/v1/chat/completions"
WINDOW = "24h"
_WINDOW_SECONDS = 24 * 3600
_FINAL = frozenset({"completed", "failed", "expired", "cancelled"})
_MOMENTS = (
    "in_progress_at",
    "finalizing_at",
    "completed_at",
    "failed_at",
    "expired_at",
    "cancelling_at",
    "cancelled_at",
)


class Batch:
    """`file` is its input, `manners` are those that it was created under."""

    def __init__(
        self, *, file: StoredFile, metadata: dict[str, str] | None, manners: BatchManners
    ) -> None:
        self.id = make_id("batch_", odd=manners.ids == "odd")
        self.file = file
        self.manners = manners
        self.interrupted = threading.Event()
        """Set when nothing further is to be answered."""
        self._metadata = metadata
        self._lock = threading.Lock()
        self._status = "validating"
        self._created_at = int(time.time())
        self._moments: dict[str, int] = {}
        self._errors: list[dict[str, Any]] = []
        self._counts = {"total": 0, "completed": 0, "failed": 0}
        self._files: dict[str, str | None] = {}

    @property
    def lines_out(self) -> int:
        """Lines that count against the limit of tokens in unfinished batches."""
        with self._lock:
            return 0 if self._status in _FINAL else self._counts["total"]

    def set_total(self, lines: int) -> None:
        with self._lock:
            self._counts["total"] = lines

    def count(self, *, completed: int = 0, failed: int = 0) -> None:
        """So many lines more."""
        with self._lock:
            self._counts["completed"] += completed
            self._counts["failed"] += failed

    def move(self, status: str) -> None:
        """On its way; one that was asked to end stays `cancelling`."""
        with self._lock:
            if self._status != "cancelling":
                self._set(status)

    def end(
        self,
        status: str,
        *,
        errors: Sequence[dict[str, Any]] = (),
        output: StoredFile | None = None,
        error: StoredFile | None = None,
    ) -> None:
        """For good; cancelled where somebody asked for that in time."""
        with self._lock:
            self._errors = list(errors)
            self._files = {
                "output_file_id": output.id if output else None,
                "error_file_id": error.id if error else None,
            }
            self._set("cancelled" if self._status == "cancelling" else status)

    def cancel(self) -> bool:
        """Whether there was anything left to cancel."""
        with self._lock:
            if self._status in _FINAL:
                return False
            if self._status != "cancelling":
                self._set("cancelling")
        self.interrupted.set()
        return True

    def shown(self) -> dict[str, Any]:
        """OpenAI's batch object."""
        with self._lock:
            errors = {"object": "list", "data": list(self._errors)} if self._errors else None
            return {
                "id": self.id,
                "object": "batch",
                "endpoint": ENDPOINT,
                "errors": errors,
                "input_file_id": self.file.id,
                "completion_window": WINDOW,
                "status": self._status,
                "output_file_id": self._files.get("output_file_id"),
                "error_file_id": self._files.get("error_file_id"),
                "created_at": self._created_at,
                "expires_at": self._created_at + _WINDOW_SECONDS,
                **{name: self._moments.get(name) for name in _MOMENTS},
                "request_counts": dict(self._counts),
                "metadata": self._metadata,
            }

    def _set(self, status: str) -> None:
        self._status = status
        self._moments[f"{status}_at"] = int(time.time())
