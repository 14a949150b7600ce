"""The files that stand at the server, each on disk. Safe among threads."""

import contextlib
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO


@dataclass(frozen=True)
class StoredFile:
    id: str
    name: str
    purpose: str
    path: Path
    size: int
    created_at: int

    def shown(self) -> dict[str, Any]:
        """OpenAI's file object."""
        return {
            "id": self.id,
            "object": "file",
            "bytes": self.size,
            "created_at": self.created_at,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


class Files:
    """A file's content is in a directory that comes with the first one and goes with `clear`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, StoredFile] = {}
        self._directory: tempfile.TemporaryDirectory[str] | None = None

    @contextlib.contextmanager
    def writing(self) -> Iterator[BinaryIO]:
        """A file to fill; nobody's until `keep` gets its path, and gone should the block raise."""
        with self._lock:
            if self._directory is None:
                self._directory = tempfile.TemporaryDirectory(prefix="standin-")
            path = Path(self._directory.name, secrets.token_hex(12))
        try:
            with path.open("wb") as file:
                yield file
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def keep(self, path: Path, *, name: str, purpose: str, odd_id: bool) -> StoredFile:
        file = StoredFile(
            id=make_id("file-", odd=odd_id),
            name=name,
            purpose=purpose,
            path=path,
            size=path.stat().st_size,
            created_at=int(time.time()),
        )
        with self._lock:
            self._files[file.id] = file
        return file

    def get(self, file_id: str) -> StoredFile | None:
        with self._lock:
            return self._files.get(file_id)

    def delete(self, file_id: str) -> StoredFile | None:
        """The file that is now gone; who reads it still can to its end."""
        with self._lock:
            file = self._files.pop(file_id, None)
        if file is not None:
            file.path.unlink(missing_ok=True)
        return file

    def newest_first(self, fits: Callable[[StoredFile], bool]) -> list[StoredFile]:
        with self._lock:
            return [file for file in reversed(self._files.values()) if fits(file)]

    def clear(self) -> None:
        with self._lock:
            self._files.clear()
            directory, self._directory = self._directory, None
        if directory is not None:
            directory.cleanup()


def make_id(prefix: str, *, odd: bool) -> str:
    """An odd one means something else in a path unless it is escaped."""
    return f"{prefix}{secrets.token_hex(12)}" + ("/../?a=%2F#é b" if odd else "")
