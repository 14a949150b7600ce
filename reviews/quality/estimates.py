"""What the blind audits say of all that a machine judged safe: the share missed, with its interval."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from reports.models import Severity
from reviews.quality.exact_test import chance_of_as_many, holm
from reviews.quality.intervals import Weights, weighted

# So often, all languages taken together, one is named although none is worse than the others.
NAMED_WRONGLY = 0.05


@dataclass(frozen=True)
class Share:
    """The share missed in one part. `share`, `low` and `high` are None where nobody answered yet."""

    label: str
    """A language, a category, a sender's name, a band, a version's number or a month, “2026-11”."""
    population: int
    """Verdicts of safe that were drawn from."""
    drawn: int
    answered: int
    found: int
    """Audits in which a person found a violation."""
    share: float | None
    """Weighted: each answer stands for as many verdicts as its stratum's sample does."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Estimates:
    overall: Share
    by_language: list[Share]
    by_category: list[Share]
    by_sender: list[Share]
    by_band: list[Share]
    by_version: list[Share]
    by_month: list[Share]
    severe: int
    """Misses that were HIGH or more."""
    open: int
    """Drawn and not answered."""


class _Cell(NamedTuple):
    """Strata of several draws that are alike, and the sums over their audits; see `Weights`."""

    language: str
    category: str
    sender: str
    band: str
    version: str
    month: str
    population: int
    drawn: int
    answered: int
    found: int
    severe: int
    weight: float
    found_weight: float
    squares: float
    found_squares: float


def read_estimates(
    *, since: datetime | None = None, until: datetime | None = None, version: int | None = None
) -> Estimates:
    """Of the draws whose time begins in [since, until), and of one policy version or all.

    One statement. An answer weighs what its stratum says, N of n; where not all are answered, the
    answers of each language and category weigh so much more that they stand for all of it, for
    reviewers choose languages and avoid categories. What nobody answered of a whole language and
    category is in `population` and in no share.
    """
    bounds = {
        "since": since,
        "until": until,
        "version": version,
        "severe": Severity.HIGH,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CELLS, bounds)
        cells = [_Cell(*row) for row in cursor.fetchall()]
    cells = _standing_for_all(cells)
    return Estimates(
        overall=_share("", cells),
        by_language=_shares(cells, lambda cell: cell.language),
        by_category=_shares(cells, lambda cell: cell.category),
        by_sender=_shares(cells, lambda cell: cell.sender),
        by_band=_shares(cells, lambda cell: cell.band),
        by_version=_shares(cells, lambda cell: cell.version),
        by_month=_shares(cells, lambda cell: cell.month),
        severe=sum(cell.severe for cell in cells),
        open=sum(cell.drawn - cell.answered for cell in cells),
    )


def named_languages(by_language: Sequence[Share]) -> list[str]:
    """The languages in which more is missed than in the rest, beyond what chance gives.

    Fisher's exact test of each language against all others, one-sided, by the plain counts of
    answers and finds; Holm's correction (1979) for their number, so that at most one look in twenty
    names any language where all are alike.
    """
    answered = sum(share.answered for share in by_language)
    found = sum(share.found for share in by_language)
    chances = {
        share.label: chance_of_as_many(
            share.found,
            share.answered,
            rest_found=found - share.found,
            rest_of=answered - share.answered,
        )
        for share in by_language
        if share.answered
    }
    named = holm(chances, level=NAMED_WRONGLY)
    return [share.label for share in by_language if share.label in named]


def _standing_for_all(cells: Sequence[_Cell]) -> list[_Cell]:
    """With the weights of what is answered raised to what was there, by language and category."""
    there: dict[tuple[str, str], int] = {}
    weighs: dict[tuple[str, str], float] = {}
    for cell in cells:
        kind = cell.language, cell.category
        there[kind] = there.get(kind, 0) + cell.population
        weighs[kind] = weighs.get(kind, 0) + cell.weight
    raised = []
    for cell in cells:
        kind = cell.language, cell.category
        factor = there[kind] / weighs[kind] if weighs[kind] else 0
        raised.append(
            cell._replace(
                weight=cell.weight * factor,
                found_weight=cell.found_weight * factor,
                squares=cell.squares * factor**2,
                found_squares=cell.found_squares * factor**2,
            )
        )
    return raised


def _shares(cells: Iterable[_Cell], label: Callable[[_Cell], str]) -> list[Share]:
    parts: dict[str, list[_Cell]] = {}
    for cell in cells:
        parts.setdefault(label(cell), []).append(cell)
    return [_share(name, parts[name]) for name in sorted(parts)]


def _share(label: str, cells: Sequence[_Cell]) -> Share:
    sums = Weights(
        answered=sum(cell.answered for cell in cells),
        weight=sum(cell.weight for cell in cells),
        found_weight=sum(cell.found_weight for cell in cells),
        squares=sum(cell.squares for cell in cells),
        found_squares=sum(cell.found_squares for cell in cells),
    )
    low, high = weighted(sums) if sums.answered else (None, None)
    return Share(
        label=label,
        population=sum(cell.population for cell in cells),
        drawn=sum(cell.drawn for cell in cells),
        answered=sums.answered,
        found=sum(cell.found for cell in cells),
        share=sums.share if sums.answered else None,
        low=low,
        high=high,
    )


_CELLS = """
WITH strata AS (
    SELECT stratum.id, stratum.draw_id, stratum.sender_id, stratum.language, stratum.category,
        stratum.band, stratum.policy_version_id, stratum.population, stratum.drawn,
        stratum.population::float8 / nullif(stratum.drawn, 0) AS weight,
        count(audit.decision_id) AS answered,
        count(*) FILTER (WHERE action.outcome = 'upholds') AS found,
        count(*) FILTER (WHERE action.outcome = 'upholds' AND decision.severity >= %(severe)s)
            AS severe
    FROM reviews_stratum AS stratum
    LEFT JOIN reviews_blindaudit AS audit ON audit.stratum_id = stratum.id
    LEFT JOIN reviews_decision AS decision ON decision.id = audit.decision_id
    LEFT JOIN reviews_action AS action ON action.slug = decision.action
    GROUP BY stratum.id)
SELECT strata.language, strata.category, sender.name, strata.band,
    coalesce(strata.policy_version_id::text, ''),
    to_char(draw.since AT TIME ZONE 'UTC', 'YYYY-MM'),
    sum(strata.population)::bigint, sum(strata.drawn)::bigint,
    sum(strata.answered)::bigint, sum(strata.found)::bigint, sum(strata.severe)::bigint,
    coalesce(sum(strata.answered * strata.weight), 0),
    coalesce(sum(strata.found * strata.weight), 0),
    coalesce(sum(strata.answered * strata.weight ^ 2), 0),
    coalesce(sum(strata.found * strata.weight ^ 2), 0)
FROM strata
JOIN reviews_draw AS draw ON draw.id = strata.draw_id
JOIN reports_sender AS sender ON sender.id = strata.sender_id
WHERE draw.of = 'audits'
    AND (%(since)s::timestamptz IS NULL OR draw.since >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR draw.since < %(until)s)
    AND (%(version)s::bigint IS NULL OR strata.policy_version_id = %(version)s)
GROUP BY 1, 2, 3, 4, strata.policy_version_id, 6
"""
