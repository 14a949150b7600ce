"""What every check of one run shares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dev.interop.tally import Tally
    from dev.processes import Supervisor


@dataclass(frozen=True)
class Run:
    """`check` is asked while waiting and may raise; `directory` goes away at the end.

    `seconds` is what the many reports and the checks after them may take; installing is extra.
    """

    tally: Tally
    supervisor: Supervisor
    directory: Path
    check: Callable[[], None]
    reports: int
    seconds: float
    recorded_limit: int | None = None
    """Tokens, for a server that does not tell how much its model reads."""
