"""The counts of differences as a table: what the machine found by what people found."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from reviews.quality.differences import NO_VIOLATION, UNSURE, Kind, kind_of


@dataclass(frozen=True)
class Cell:
    """So many reports; `query` narrows the list to them. None of both where there are none."""

    many: int
    query: str
    kind: Kind | None
    here: bool


@dataclass(frozen=True)
class Table:
    """Category ids as heads: `people` of the columns; the first of each row is the machine's, which
    may be `UNSURE` as well.
    """

    people: list[str]
    rows: list[tuple[str, list[Cell]]]


def table_of(counts: Mapping[tuple[str, str], int], *, chosen: Mapping[str, str]) -> Table:
    """`chosen`: what narrows the list already, by the names in the address."""
    machines = sorted({machine for machine, _people in counts}, key=_no_violation_first)
    people = sorted({people for _machine, people in counts}, key=_no_violation_first)
    return Table(
        people,
        [
            (machine, [_cell(counts, machine, found, chosen) for found in people])
            for machine in machines
        ],
    )


def _no_violation_first(category: str) -> tuple[int, str]:
    first = [NO_VIOLATION, UNSURE]
    return first.index(category) if category in first else len(first), category


def _cell(
    counts: Mapping[tuple[str, str], int], machine: str, people: str, chosen: Mapping[str, str]
) -> Cell:
    many = counts.get((machine, people), 0)
    if not many:
        return Cell(0, "", None, here=False)
    rest = {name: value for name, value in chosen.items() if name != "kind"}
    pair = {"machine": machine, "people": people}
    here = pair == {name: chosen.get(name) for name in pair}
    return Cell(many, urlencode({**rest, **pair}), kind_of(machine, people), here=here)
