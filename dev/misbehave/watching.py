"""The process as the kernel sees it: memory, threads, sockets."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from dev.misbehave.asking import Seen

MEGABYTE = 2**20


def watch(
    workers: list[threading.Thread],
    seen: Seen,
    *,
    calls: int,
    began: float,
    check: Callable[[], None],
) -> list[float]:
    """Resident memory in MB at every tenth of the calls, the last one after the end."""
    memory: list[float] = []
    while any(worker.is_alive() for worker in workers):
        check()
        done = len(seen.refs)
        if len(memory) < 9 and done >= calls * (len(memory) + 1) // 10:
            memory.append(resident_mb())
            rate = done / (time.monotonic() - began)
            say(
                f"{done:>7,} calls, {rate:5.0f} a second, {memory[-1]:6.1f} MB, "
                f"{count_threads()} threads, {count_sockets()} sockets, "
                f"longest {seen.longest:.3f} s"
            )
        time.sleep(0.02)
    memory += [resident_mb()] * (10 - len(memory))
    say(
        f"{len(seen.refs):>7,} calls at the end, {memory[-1]:6.1f} MB, longest {seen.longest:.3f} s"
    )
    return memory


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE


def count_threads() -> int:
    return sum(1 for _thread in Path("/proc/self/task").iterdir())


def count_sockets() -> int:
    found = 0
    for file in Path("/proc/self/fd").iterdir():
        try:
            found += str(file.readlink()).startswith("socket:")
        except FileNotFoundError:
            continue  # closed meanwhile
    return found


def say(text: str) -> None:
    sys.stderr.write(text + "\n")
