"""Whether memory stays flat: what a process and its forks hold, a fifth on and at the most."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self


def resident(pid: int) -> float:
    """MB that the process and its forks hold, what they share counted in each; 0 once it has ended."""
    try:
        told = _told(pid)
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
        forks = [int(child) for child in children if _told(int(child))["Name"] == told["Name"]]
    except (OSError, KeyError):
        return 0.0
    own = int(told.get("VmRSS", "0 kB").split()[0]) / 1024
    return own + sum(resident(fork) for fork in forks)


def _told(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class Watched:
    """Looks at a process every tenth of a second while the block lasts."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = os.getpid() if pid is None else pid
        self._seen: list[float] = []
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
            if now := resident(self._pid):
                self._seen.append(now)

    def figures(self) -> dict[str, float]:
        """The most until a fifth of the time was over, and the most of all."""
        seen = self._seen or [0.0]
        fifth = len(seen) // 5 + 1
        return {
            "mb_until_a_fifth": round(max(seen[:fifth]), 1),
            "mb_at_the_most": round(max(seen), 1),
        }
