"""Whether memory stays flat: what a process and its forks hold, a fifth on and at the most."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self


def resident(pid: int) -> tuple[float, float]:
    """MB that the process holds, and those that the largest of its forks does; 0 where there is none."""
    try:
        own = _told(pid)
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        told = [_told(int(child)) for child in children]
    except OSError:
        return 0.0, 0.0
    forks = [_megabytes(each) for each in told if each.get("Name") == own.get("Name")]
    return _megabytes(own), max(forks, default=0.0)


def _told(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _megabytes(told: dict[str, str]) -> float:
    return int(told.get("VmRSS", "0 kB").split()[0]) / 1024


class Watched:
    """Looks at a process every tenth of a second while the block lasts."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = os.getpid() if pid is None else pid
        self._own: list[float] = []
        self._forks: list[float] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            for seen, now in zip((self._own, self._forks), resident(self._pid), strict=True):
                if now:
                    seen.append(now)

    def figures(self) -> dict[str, float]:
        """MB: the most until a fifth of what was seen, and the most of all; of forks as well."""
        return {
            f"{whose}mb_{when}": round(max(part, default=0.0), 1)
            for whose, seen in (("", self._own), ("forks_", self._forks))
            if seen
            for when, part in (("until_a_fifth", seen[: len(seen) // 5 + 1]), ("at_the_most", seen))
        }
