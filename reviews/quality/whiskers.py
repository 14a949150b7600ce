"""Shares and agreement as pictures: a point on an axis with a whisker as long as its interval.

Geometry only; a template draws it. Across, positions are percentages of the width and down they are
pixels, so that a picture is as wide as its place and its words stay as large as those around them.
Positions are strings, because a template would write numbers in the reader's way.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import floor, log10

from reports.foreign_text import shorten

ROW = 48
"""The height of one row: its words above, its whisker below."""
WORDS, WHISKER = 17, 34
"""Where both stand in it."""
AXIS = 24
"""What is left for the numbers of the axis."""
COLUMNS = 180
"""The height of the picture over time, without the numbers below."""
LABEL_CHARACTERS = 31
"""So much of a name, and a number beside it, has place on a narrow screen."""
SCALE = 0.14
"""So much of the width is left for the numbers beside the months."""
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Measured:
    """What was measured of one kind, with its interval; None throughout where nothing answers it.

    `n` is what it rests on: answers, pairs.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Tick:
    """A line of the axis; `anchor` says which end of its number stands at it."""

    value: float
    at: str
    anchor: str


@dataclass(frozen=True)
class Row:
    """`at`, `low` and `high` are blank where nothing was measured, the two alone where too little was
    for an interval; `name` is the label, cut.
    """

    of: Measured
    name: str
    words: str
    middle: str
    at: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class Whiskers:
    """Rows one below the other on one axis."""

    rows: list[Row]
    ticks: list[Tick]
    height: int
    bottom: int
    start: str
    end: str


@dataclass(frozen=True)
class Column:
    """One month. `at`, `low` and `high` go down from the top; blank as those of a `Row`.

    `anchor` says which end of its name stands at it. Blank: it is not named, for only the oldest and
    the newest have place for a name in every language.
    """

    of: Measured
    x: str
    anchor: str
    at: str = ""
    low: str = ""
    high: str = ""


@dataclass(frozen=True)
class OverTime:
    """Months one beside the other, and the lines from each to the next: x, y, x, y."""

    columns: list[Column]
    lines: list[tuple[str, str, str, str]]
    ticks: list[Tick]
    height: int
    start: str
    """The side that the reader begins at."""


def draw_whiskers(
    measured: Sequence[Measured], *, start: float = 0, end: float | None = None, mirrored: bool
) -> Whiskers | None:
    """Rows in the order they came; None where nothing was measured at all.

    The axis goes from `start` to `end`, or to the next round number above every interval. What lies
    beyond is cut. `mirrored` puts its beginning at the right, for readers who begin there.
    """
    if all(each.value is None for each in measured):
        return None
    end = round_maximum(each.high or 0 for each in measured) if end is None else end

    def across(value: float) -> str:
        share = _within(value, start, end)
        return f"{100 * (1 - share if mirrored else share):.2f}%"

    rows = []
    for number, each in enumerate(measured):
        name = shorten(each.label, at_most=LABEL_CHARACTERS)
        words, middle = str(number * ROW + WORDS), str(number * ROW + WHISKER)
        rows.append(Row(each, name, words, middle, *_ends(each, across)))
    bottom = len(rows) * ROW
    ticks = [
        Tick(value, across(value), anchor)
        for value, anchor in _ticks(start, end, ("start", "middle", "end"))
    ]
    return Whiskers(rows, ticks, bottom + AXIS, bottom, across(start), across(end))


def draw_over_time(measured: Sequence[Measured], *, mirrored: bool) -> OverTime | None:
    """Months as columns, the oldest first; None where nothing was measured in any."""
    if all(each.value is None for each in measured):
        return None
    end = round_maximum(each.high or 0 for each in measured)

    def down(value: float) -> str:
        return f"{COLUMNS * (1 - _within(value, 0, end)):.2f}"

    columns = []
    for number, each in enumerate(measured):
        share = SCALE + (1 - SCALE) * (number + 0.5) / len(measured)
        x = f"{100 * (1 - share if mirrored else share):.2f}%"
        columns.append(Column(each, x, _anchor(number, len(measured)), *_ends(each, down)))
    seen = [each for each in columns if each.at]
    lines = [(one.x, one.at, two.x, two.at) for one, two in itertools.pairwise(seen)]
    ticks = [Tick(value, down(value), "start") for value, _anchor in _ticks(0, end, ("",) * 3)]
    return OverTime(columns, lines, ticks, COLUMNS + AXIS, "100%" if mirrored else "0%")


def round_maximum(values: Iterable[float]) -> float:
    """The least of 1, 2 and 5 times a power of ten that no value exceeds, and 1 at most: a share."""
    most = max(values, default=0)
    if not 0 < most < 1:
        return 1
    power = 10.0 ** floor(log10(most))
    # A whisker that ends at the axis' own end must not be pushed to the next by how floats are kept.
    return min(1, next(step * power for step in _STEPS if most <= step * power * (1 + 1e-9)))


def _ticks(start: float, end: float, anchors: Sequence[str]) -> list[tuple[float, str]]:
    values = (start, (start + end) / 2, end)
    return list(zip(values, anchors, strict=True))


def _anchor(number: int, months: int) -> str:
    if months == 1:
        return "middle"
    return {0: "start", months - 1: "end"}.get(number, "")


def _within(value: float, start: float, end: float) -> float:
    """Where a value lies between the ends of the axis: 0 to 1."""
    return min(1, max(0, (value - start) / (end - start)))


def _ends(of: Measured, place: Callable[[float], str]) -> tuple[str, str, str]:
    """Where value and interval stand; blank what is not known."""
    if of.value is None:
        return "", "", ""
    if of.low is None or of.high is None:
        return place(of.value), "", ""
    return place(of.value), place(of.low), place(of.high)
