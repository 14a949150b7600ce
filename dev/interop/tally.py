"""What was tried and what came of it: one line each, and one JSON object at the end."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def say(text: str) -> None:
    """One line on standard output, at once: it may be a pipe."""
    print(text, flush=True)


class Tally:
    """Counts checks. What was skipped was not tried, and never counts as passed."""

    def __init__(self, say: Callable[[str], None] = say) -> None:
        self._say = say
        self.passed = 0
        self.failed = 0
        self.skipped = 0

    def record(self, name: str, *, passed: bool, came: str) -> None:
        """`came` is what came back, in words."""
        if passed:
            self.passed += 1
        else:
            self.failed += 1
        self._say(f"{'passed' if passed else 'FAILED'}  {name}: {came}")

    def skip(self, name: str, *, why: str, count: int = 1) -> None:
        """`count` checks that could not be tried; `why` is a sentence."""
        self.skipped += count
        checks = "" if count == 1 else f" ({count} checks)"
        self._say(f"skipped {name}{checks}: {why}")

    def last_line(self) -> str:
        return json.dumps(
            {
                "tried": self.passed + self.failed,
                "passed": self.passed,
                "failed": self.failed,
                "skipped": self.skipped,
            }
        )


class Progress:
    """How far it is, on one line of a terminal; nothing where standard error is none."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._shown:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def clear(self) -> None:
        self.show("")
