"""Drawing samples: what a machine judged safe, and what people decided, to be looked at again."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any, NamedTuple

from django.db import connection, transaction

from reports.audit import write_audit
from reports.models import Report
from reviews.models import BlindAudit, Draw
from reviews.quality.answers import refresh_answers
from reviews.quality.strata import ANYTHING, DRAW, DUE, PLAN


class PlannedStratum(NamedTuple):
    """How many there are of a kind, and how many would be drawn."""

    sender_id: int
    language: str
    category: str
    band: str
    policy_version: int | None
    population: int
    drawn: int


@dataclass(frozen=True)
class PlannedDraw:
    """What a draw of the time [since, until) would take. A draw lies within one month, UTC."""

    of: Draw.Of
    since: datetime
    until: datetime
    strata: list[PlannedStratum]

    @property
    def population(self) -> int:
        return sum(stratum.population for stratum in self.strata)

    @property
    def drawn(self) -> int:
        return sum(stratum.drawn for stratum in self.strata)


def plan_draw() -> list[PlannedDraw]:
    """What `draw` would draw now; times of which there is nothing are left out. Only reads."""
    planned = []
    with connection.cursor() as cursor:
        for of, since, until in _due():
            cursor.execute(PLAN[of], {"of": of, "since": since, "until": until})
            strata = [PlannedStratum(*row) for row in cursor.fetchall()]
            if strata:
                planned.append(PlannedDraw(of, since, until, strata))
    return planned


def draw(*, actor_name: str, seed: str = "") -> list[Draw]:
    """Draw from all time since the last draws of each kind, until an hour ago, which is past.

    By then what was written has committed. One transaction, which a second one waits for, and one
    audit row, unless there was nothing to draw from. `seed`: to draw again as somebody drew before;
    otherwise a new one.
    """
    seed = seed or token_hex(16)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('draw of samples'))")
        rows = [
            _draw_from(of=of, since=since, until=until, seed=seed, actor_name=actor_name)
            for of, since, until in _due()
        ]
        drawn = [row for row in rows if row]
        if drawn:
            write_audit(
                action="samples_drawn",
                of=drawn[0],
                actor_name=actor_name,
                detail={"draws": [row.pk for row in drawn]},
            )
    return drawn


def _draw_from(
    *, of: Draw.Of, since: datetime, until: datetime, seed: str, actor_name: str
) -> Draw | None:
    """One draw of the time [since, until), in the caller's transaction; None where nothing is there."""
    values: dict[str, Any] = {"of": of, "since": since, "until": until, "seed": seed}
    with connection.cursor() as cursor:
        cursor.execute(ANYTHING[of], values)
        if not cursor.fetchone()[0]:
            return None
        row = Draw.objects.create(**values, actor_name=actor_name)
        cursor.execute(DRAW[of], {**values, "draw": row.pk})
    _answer_what_came(row)
    return row


def _answer_what_came(row: Draw) -> None:
    """Who decided about a report just while it was drawn did not see the audit: it is seen to here.

    Whoever decides has the reports' locks, so after these there is nobody under way.
    """
    audits = BlindAudit.objects.filter(stratum__draw=row).values_list("report", flat=True)
    reports = Report.objects.filter(pk__any=list(audits)).order_by("id")
    locked = reports.select_for_update(no_key=True).values_list("pk", flat=True)
    refresh_answers(list(locked))


def _due() -> Iterator[tuple[Draw.Of, datetime, datetime]]:
    """The times that nothing was drawn from yet, cut where a month begins."""
    for of in Draw.Of:
        with connection.cursor() as cursor:
            cursor.execute(DUE[of], {"of": of})
            since, end = cursor.fetchone()
        while since is not None and since < end:
            until = min(end, _next_month(since))
            yield of, since, until
            since = until


def _next_month(moment: datetime) -> datetime:
    moment = moment.astimezone(UTC)
    first = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
