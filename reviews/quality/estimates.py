"""What the blind audits say of all that a machine judged safe: the share missed, with its interval."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from reports.models import Severity
from reviews.quality.answers import GIVEN_BLIND
from reviews.quality.exact_test import chance_of_as_many, holm
from reviews.quality.intervals import Weights, weighted

# So often at one look, all languages taken together, one is named although none is worse than the others.
NAMED_WRONGLY = 0.05


@dataclass(frozen=True)
class Share:
    """The share missed in one part. `share`, `low` and `high` are None where nobody answered yet."""

    label: str
    """A language, a category, a sender's name, a band, a version's number or a month, “2026-11”."""
    population: int
    """Items that were drawn from, each by a verdict of safe."""
    drawn: int
    answered: int
    found: int
    """Audits in which a person found a violation."""
    share: float | None
    """Weighted: each answer stands for as many items as its stratum's sample does."""
    low: float | None
    high: float | None
    effective: float = 0
    """As how many answers of equal weight they count; see `Weights`."""


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
    blind: int
    """Answers of people who had the item blind; what came before people otherwise answers as well."""
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
    blind: int
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
        blind=sum(cell.blind for cell in cells),
        open=sum(cell.drawn - cell.answered for cell in cells),
    )


def named_languages(by_language: Sequence[Share]) -> list[str]:
    """The languages in which more is missed than in the rest, beyond what chance gives at this look.

    Fisher's exact test of each language against all others, one-sided; Holm's correction (1979) for
    their number, so that at most one look in twenty names any language where all are alike. Who
    looks every night looks often: that chance names one at some look is far likelier than that.

    Counted is what the answers amount to, the share missed and the effective size, both rounded: a
    language of which much was drawn where much is missed has more finds and not a larger share. Of
    2,000 simulated samples of each of five situations with one share in all languages, at most 4 in
    100 named one; by plain counts, all did where a category of one language was drawn whole. A test
    within categories held as well, but was blind to a language that one sender alone writes. So what
    the mix of categories does to a language's share counts here.
    """
    counts = {
        share.label: (round(share.share * share.effective), round(share.effective))
        for share in by_language
        if share.share is not None
    }
    finds, every = (sum(each) for each in zip((0, 0), *counts.values(), strict=True))
    chances = {
        label: chance_of_as_many(found, of, rest_found=finds - found, rest_of=every - of)
        for label, (found, of) in counts.items()
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
        effective=sums.effective if sums.answered else 0,
    )


# Narrowed before the audits are read: there are years of them, and this is read every few seconds.
_CELLS = f"""
WITH strata AS (
    SELECT stratum.sender_id, stratum.language, stratum.category, stratum.band,
        stratum.policy_version_id, stratum.population, stratum.drawn,
        to_char(draw.since AT TIME ZONE 'UTC', 'YYYY-MM') AS month,
        stratum.population::float8 / nullif(stratum.drawn, 0) AS weight,
        count(decision.id) AS answered,
        count(*) FILTER (WHERE action.outcome = 'upholds') AS found,
        count(*) FILTER (WHERE action.outcome = 'upholds' AND decision.severity >= %(severe)s)
            AS severe,
        count(decision.id) FILTER (WHERE {GIVEN_BLIND}) AS blind
    FROM reviews_draw AS draw
    JOIN reviews_stratum AS stratum ON stratum.draw_id = draw.id
    LEFT JOIN reviews_blindaudit AS audit ON audit.stratum_id = stratum.id
    LEFT JOIN reviews_decision AS decision ON decision.id = audit.decision_id
    LEFT JOIN reviews_action AS action ON action.slug = decision.action
    WHERE draw.of = 'audits'
        AND (%(since)s::timestamptz IS NULL OR draw.since >= %(since)s)
        AND (%(until)s::timestamptz IS NULL OR draw.since < %(until)s)
        AND (%(version)s::bigint IS NULL OR stratum.policy_version_id = %(version)s)
    GROUP BY stratum.id, draw.id)
SELECT strata.language, strata.category, sender.name, strata.band,
    coalesce(strata.policy_version_id::text, ''), strata.month,
    sum(strata.population)::bigint, sum(strata.drawn)::bigint,
    sum(strata.answered)::bigint, sum(strata.found)::bigint, sum(strata.severe)::bigint,
    sum(strata.blind)::bigint,
    coalesce(sum(strata.answered * strata.weight), 0),
    coalesce(sum(strata.found * strata.weight), 0),
    coalesce(sum(strata.answered * strata.weight ^ 2), 0),
    coalesce(sum(strata.found * strata.weight ^ 2), 0)
FROM strata
JOIN reports_sender AS sender ON sender.id = strata.sender_id
GROUP BY 1, 2, 3, 4, strata.policy_version_id, 6
"""  # noqa: S608 - put together from our own text alone
