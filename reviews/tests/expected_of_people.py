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
    undone: bool = False


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
        """What its sender sees: nothing of what may still be undone; a proposal is no decision."""
        about = [row for row in reversed(self.standing()) if report.id in row.before]
        status = report.status
        for row in about:
            if row.kind == "proposal" or row.over:
                break
            status = report.without_decision(row.before[report.id].status)
        counts = (row.action for row in about if row.kind == "decision" and row.over)
        return status, next(counts, None) if status == "resolved" else None
