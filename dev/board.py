"""The live table of a demo run, from plain SQL on the product's tables."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN_LINE_SECONDS = 1.0
COUNTS = """
SELECT count(*),
       count(*) FILTER (WHERE report.status = 'pending'),
       count(*) FILTER (WHERE report.status = 'needs_review'),
       count(*) FILTER (WHERE report.status = 'judged_safe'),
       percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (
           ORDER BY extract(epoch FROM verdict.created_at - report.received_at)::float8)
FROM reports_report AS report
-- The first one: a batch may have asked again since.
LEFT JOIN LATERAL (SELECT min(created_at) AS created_at FROM classifier_classification
                   WHERE report_id = report.id) AS verdict ON true
WHERE report.received_at >= %s
"""


@dataclass(frozen=True)
class Counts:
    """Reports received since the start of a run; times from receipt to verdict in seconds."""

    received: int = 0
    pending: int = 0
    needs_review: int = 0
    judged_safe: int = 0
    verdict_p50_s: float | None = None
    verdict_p95_s: float | None = None

    def as_json(self, *, elapsed_s: float) -> str:
        """Return the one line that scripts read."""
        return json.dumps(
            {
                "received": self.received,
                "pending": self.pending,
                "needs_review": self.needs_review,
                "judged_safe": self.judged_safe,
                "verdict_p50_s": _rounded(self.verdict_p50_s),
                "verdict_p95_s": _rounded(self.verdict_p95_s),
                "elapsed_s": round(elapsed_s, 1),
            }
        )

    def as_line(self) -> str:
        return (
            f"received {self.received}, pending {self.pending}, "
            f"needs review {self.needs_review}, judged safe {self.judged_safe}, "
            f"verdict p50 {_seconds(self.verdict_p50_s)}, p95 {_seconds(self.verdict_p95_s)}"
        )

    def as_table(self) -> list[str]:
        p50, p95 = _seconds(self.verdict_p50_s), _seconds(self.verdict_p95_s)
        return [
            f"  received         {self.received:>7,}",
            f"  pending          {self.pending:>7,}",
            f"  needs review     {self.needs_review:>7,}",
            f"  judged safe      {self.judged_safe:>7,}",
            f"  time to verdict  {p50:>7} p50   {p95} p95",
        ]


class CountsReader:
    """Reads the counts of this run: of what was received after this object was made.

    The start is taken from the database's clock, which also stamps the reports.
    """

    def __init__(self, database_url: str) -> None:
        self._url = database_url
        self._connection: psycopg.Connection | None = None
        self._start = self._connect().execute("SELECT clock_timestamp()").fetchall()[0][0]

    def read(self) -> Counts | None:
        """Return the counts now; None while the database does not answer."""
        try:
            rows = self._connect().execute(COUNTS, [self._start]).fetchall()
        except psycopg.OperationalError:
            self.close()
            return None
        received, pending, needs_review, judged_safe, times = rows[0]
        p50, p95 = times or (None, None)
        return Counts(received, pending, needs_review, judged_safe, p50, p95)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> psycopg.Connection:
        if self._connection is None:
            self._connection = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        return self._connection


class Board:
    """Draws lines in place on a terminal; elsewhere prints one plain line when counts change."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._terminal = out.isatty()
        self._drawn: list[str] = []
        self._counts: Counts | None = None
        self._printed_at = 0.0

    def show(self, counts: Counts, *, above: str, below: Sequence[str] = ()) -> None:
        if self._terminal:
            self._draw([above, "", *counts.as_table(), *below])
        elif counts != self._counts and time.monotonic() - self._printed_at > PLAIN_LINE_SECONDS:
            self._printed_at = time.monotonic()
            self._counts = counts
            self._out.write(counts.as_line() + "\n")
            self._out.flush()

    def say(self, text: str) -> None:
        """Print a message that stays; a table comes below it again with the next `show`."""
        self._out.write(self._erase() + text + "\n")
        self._out.flush()

    def leave(self) -> None:
        """Let the table stand; what is written from now on comes below it."""
        self._drawn = []

    def _draw(self, lines: list[str]) -> None:
        # A wrapped line would take two rows, and the cursor would come back to the wrong place.
        width = shutil.get_terminal_size().columns - 1
        lines = [line[:width] for line in lines]
        if lines != self._drawn:
            self._out.write(self._erase() + "".join(f"{line}\n" for line in lines))
            self._out.flush()
            self._drawn = lines

    def _erase(self) -> str:
        rows, self._drawn = len(self._drawn), []
        return f"\r\x1b[{rows}A\x1b[J" if rows else ""


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f} s"
