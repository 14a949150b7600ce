"""What must come of what people decide about an item, in plain Python: its one line of rows."""

from dataclasses import dataclass, field

from reviews.tests.expected import Before, Expected

ACTIONS = ("no_violation", "warn", "remove", "suspend", "escalate", "reopen")
UPHOLD = {"warn", "remove", "suspend"}
LEAVE_OPEN = {"escalate", "reopen"}
NEED_TWO = {"suspend"}


@dataclass
class Row:
    """A decision, a proposal or an undo."""

    pk: int
    kind: str
    who: str
    action: str | None
    before: dict[int, Before] = field(default_factory=dict)
    """How each report that it is about stood."""
    waited: tuple[str, str] | None = None
    """For whom the item waited until then."""
    approves: int | None = None
    overrides: "Row | None" = None
    of: int = 0
    """How many reports the item had."""
    over: bool = False
    """Whether the time to undo is."""
    settled: int = 0
    """How many rows of its line were over when it was written."""
    undone: bool = False
    brought_back: int | None = None
    """The report by which people had brought the item back until then."""


@dataclass
class Line:
    """An item's rows, the oldest first."""

    rows: list[Row] = field(default_factory=list)

    @property
    def newest(self) -> Row | None:
        return self.rows[-1] if self.rows else None

    def standing(self) -> list[Row]:
        return [row for row in self.rows if row.kind != "undo" and not row.undone]

    def shown(self, report: Expected) -> tuple[str, str | None]:
        """What its sender sees: nothing of what may still be undone, or was overridden before its
        time; a proposal is no decision, and takes back nothing that is resolved."""
        about = [row for row in reversed(self.standing()) if report.id in row.before]
        status, in_review = report.status, ""
        newer: Row | None = None
        for row in about:
            in_time = newer is None or newer.settled > row.settled
            if row.kind == "decision" and row.over and in_time:
                if status == "resolved":
                    return status, row.action
                break
            if row.kind == "proposal":
                in_review = in_review or status
            status, newer = report.without_decision(row.before[report.id].status), row
        return in_review or status, None
