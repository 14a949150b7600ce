"""The flow of reports between categories as a picture: bands between two columns of bars.

Geometry only, in the units of an SVG's view box; a template draws it. Coordinates are strings,
because a template would write numbers in the reader's way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from reports.foreign_text import shorten

WIDTH = 780
BARS = 14
"""The width of a bar."""
LABELS = 230
"""What is left for the words at each side."""
REPORTS = 320
"""The height of all reports together."""
LABEL_HEIGHT = 36
GAP = 8
LEAST_BAND = 1.0
"""So thin is a single report among a million; it is seen all the same."""
LABEL_CHARACTERS = 31


@dataclass(frozen=True)
class Kind:
    """A category as the picture shows it; `severity` None: none is known."""

    id: str
    name: str
    severity: int | None = None


@dataclass(frozen=True)
class Bar:
    """One category at one side. Its words stand beside it, their middle at `label_y`."""

    kind: Kind
    reports: int
    x: str
    y: str
    height: str
    label: str
    label_x: str
    label_y: str
    count_y: str


@dataclass(frozen=True)
class Band:
    """The reports that went from one category to another; `path` is a closed shape."""

    before: Kind
    after: Kind
    reports: int
    path: str


@dataclass(frozen=True)
class FlowPicture:
    height: int
    before: list[Bar]
    after: list[Bar]
    bands: list[Band]
    width: int = WIDTH
    bar_width: int = BARS

    @property
    def sides(self) -> list[tuple[str, list[Bar]]]:
        return [("before", self.before), ("after", self.after)]


def draw_flows(
    flows: Iterable[tuple[Kind, Kind, int]], *, mirrored: bool = False
) -> FlowPicture | None:
    """Bars and bands, the most severe category on top; None where nothing flowed.

    `flows` holds each pair of categories before and after once, with its reports. `mirrored` puts
    what was before at the right, for readers who begin there.
    """
    rows = sorted(
        ((before, after, reports) for before, after, reports in flows if reports),
        key=lambda row: (_place(row[0]), _place(row[1])),
    )
    if not rows:
        return None
    total = sum(reports for *_, reports in rows)
    thick = [max(reports / total * REPORTS, LEAST_BAND) for *_, reports in rows]
    left = _stack((before, at, n) for (before, _after, n), at in zip(rows, thick, strict=True))
    right = _stack((after, at, n) for (_before, after, n), at in zip(rows, thick, strict=True))
    bands = [
        Band(
            before,
            after,
            reports,
            _ribbon(left[before.id].take(at), right[after.id].take(at), at, mirrored=mirrored),
        )
        for (before, after, reports), at in zip(rows, thick, strict=True)
    ]
    return FlowPicture(
        height=ceil(max(_end(left), _end(right))),
        before=[_bar(each, LABELS, LABELS - GAP, mirrored=mirrored) for each in left.values()],
        after=[
            _bar(each, WIDTH - LABELS - BARS, WIDTH - LABELS + GAP, mirrored=mirrored)
            for each in right.values()
        ],
        bands=bands,
    )


@dataclass
class _Stacked:
    """A bar in the making: the bands that begin or end at it take its height from top to bottom."""

    kind: Kind
    top: float = 0
    height: float = 0
    reports: int = 0
    taken: float = 0

    @property
    def slot(self) -> float:
        """The bar's height, or its words' where they need more."""
        return max(self.height, LABEL_HEIGHT)

    @property
    def y(self) -> float:
        return self.top + (self.slot - self.height) / 2

    def take(self, thickness: float) -> float:
        """Where the next band meets the bar."""
        at = self.y + self.taken
        self.taken += thickness
        return at


def _place(kind: Kind) -> tuple[int, bool, str]:
    """The most severe on top, what has no category at the bottom."""
    return 1 if kind.severity is None else -kind.severity, not kind.id, kind.id


def _stack(ends: Iterable[tuple[Kind, float, int]]) -> dict[str, _Stacked]:
    bars: dict[str, _Stacked] = {}
    for kind, thickness, reports in ends:
        bar = bars.setdefault(kind.id, _Stacked(kind))
        bar.height += thickness
        bar.reports += reports
    stacked = dict(sorted(bars.items(), key=lambda pair: _place(pair[1].kind)))
    top = 0.0
    for bar in stacked.values():
        bar.top = top
        top += bar.slot + GAP
    return stacked


def _end(bars: dict[str, _Stacked]) -> float:
    return max(bar.top + bar.slot for bar in bars.values())


def _bar(bar: _Stacked, x: int, label_x: int, *, mirrored: bool) -> Bar:
    middle = bar.top + bar.slot / 2
    return Bar(
        kind=bar.kind,
        reports=bar.reports,
        x=str(WIDTH - BARS - x if mirrored else x),
        y=_number(bar.y),
        height=_number(bar.height),
        label=shorten(bar.kind.name, at_most=LABEL_CHARACTERS),
        label_x=str(WIDTH - label_x if mirrored else label_x),
        label_y=_number(middle - 3),
        count_y=_number(middle + 13),
    )


def _ribbon(start: float, end: float, thickness: float, *, mirrored: bool) -> str:
    """A closed shape between two bars, its edges level where it meets them."""
    near, far = LABELS + BARS, WIDTH - LABELS - BARS
    if mirrored:
        near, far = far, near
    middle = (near + far) // 2
    y0, y1 = _number(start), _number(end)
    y2, y3 = _number(end + thickness), _number(start + thickness)
    return (
        f"M{near},{y0} C{middle},{y0} {middle},{y1} {far},{y1}"
        f" L{far},{y2} C{middle},{y2} {middle},{y3} {near},{y3} Z"
    )


def _number(value: float) -> str:
    return f"{value:.2f}"
