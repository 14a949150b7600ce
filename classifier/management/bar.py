"""A line on the terminal that shows how far a command is; without a terminal there is none."""

import shutil
import sys
from types import TracebackType
from typing import Self

WIDTH = 20


class Bar:
    """Drawn on the error output, so that what is piped on stays clean. Used as a context."""

    def __enter__(self) -> Self:
        self.is_shown = sys.stderr.isatty()
        self._is_drawn = False
        return self

    def draw(self, done: int, of: int, note: str = "") -> None:
        """Say that `done` of `of` are finished; `note` comes behind it."""
        if not self.is_shown:
            return
        self._is_drawn = True
        share = min(1.0, done / of) if of else 0.0
        blocks = int(share * WIDTH)
        text = f"[{'#' * blocks:-<{WIDTH}}] {int(share * 100):>3}%  {done:,} of {of:,}  {note}"
        # One column less: a full line wraps, and then the next one would stand below it.
        columns = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{text.rstrip()[:columns]}\033[K")
        sys.stderr.flush()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._is_drawn:
            sys.stderr.write("\n")
