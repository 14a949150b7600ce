"""Blind audits of reports whose truth is known: whether the interval holds it, and who is named."""

from __future__ import annotations

import os
import random
import statistics
import time
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from dev import programs
from dev.bench.buried_rows import LANGUAGE, write_buried
from dev.bench.prepared import prepared, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dev.processes import Interruption, Supervisor
    from dev.services import Services
    from reviews.quality.estimates import Estimates, Share

LOOK_EVERY = 20
ALIKE = 0.03
"""The share missed in every language where none is worse than the others."""


class Audit(NamedTuple):
    """One audit and what the person found."""

    language: str
    found: bool
    weight: float = 1
    """So many items it stands for."""


@dataclass
class Tally:
    """What came of all runs together."""

    runs: int = 0
    audits: int = 0
    covered: int = 0
    """Runs in which the overall interval held the true share, and likewise that of the language."""
    covered_language: int = 0
    named_after: list[int] = field(default_factory=list)
    """Audits until the language was named, of the runs in which it was."""
    wrongly: int = 0
    """Runs in which, at any look, another language was named."""
    alike_at_last: int = 0
    """Runs in which any was named at the last look, had each audit been as likely a miss; see `ALIKE`."""
    alike_ever: int = 0
    """Likewise, at any look."""
    widths: list[float] = field(default_factory=list)


def bench_audits(  # noqa: PLR0913 - as the command line has it
    services: Services,
    supervisor: Supervisor,
    interruption: Interruption,
    *,
    rows: int,
    runs: int,
    rate: float,
) -> dict[str, Any]:
    """So many draws of the same reports, each answered by the truth and estimated by the product."""
    prepared(services, supervisor, interruption)
    os.environ.update(
        programs.environment(database_url=services.database_url, redis_url=services.redis_url)
    )
    began = time.perf_counter()
    say(f"judging and writing {rows:,} reports")
    with psycopg.connect(services.database_url, autocommit=True) as database:
        passed = write_buried(database, interruption, rows=rows)
        database.execute("UPDATE reviews_samplingrate SET rate = %s WHERE of = 'audits'", [rate])
    say(f"{passed} passed as safe, and of them wrongly; {time.perf_counter() - began:.0f} s")
    import django  # noqa: PLC0415  after the environment is set

    django.setup()
    tally, began = Tally(), time.perf_counter()
    for number in range(runs):
        interruption.check()
        run_once(tally, passed, seed=f"run {number}")
    seconds = time.perf_counter() - began
    for line in table(tally, passed, rate=rate):
        say(line)
    return {
        "rows": rows,
        "runs": runs,
        "rate": rate,
        "passed": passed,
        "seconds_a_run": round(seconds / runs, 2),
        **vars(tally),
        "widths": round(statistics.median(tally.widths), 5),
    }


def run_once(tally: Tally, passed: dict[str, tuple[int, int]], *, seed: str) -> None:
    """One draw, answered, estimated and rolled back."""
    from django.db import transaction  # noqa: PLC0415

    from reviews.quality.draw import draw  # noqa: PLC0415
    from reviews.quality.estimates import read_estimates  # noqa: PLC0415

    with transaction.atomic():
        draw(actor_name="bench", seed=seed)
        audits = answer_by_the_truth(seed)
        estimates = read_estimates()
        transaction.set_rollback(True)
    count(tally, passed, estimates, audits)
    count_alike(tally, audits, seed=seed)


def answer_by_the_truth(seed: str) -> list[Audit]:
    """Decide about all that was drawn; in a chance order, as they are handed out."""
    from django.db import connection  # noqa: PLC0415

    from reviews.quality.answers import refresh_answers  # noqa: PLC0415

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(_DECIDE)
        answered = [row[0] for row in cursor.fetchall()]
        # As in an installation that has decided for a while: these tables were empty until now.
        cursor.execute("ANALYZE reviews_decision, reviews_decidedreport, reviews_blindaudit")
        refresh_answers(answered)
        cursor.execute("SET LOCAL session_replication_role = origin")
        cursor.execute(_ANSWERED, [seed])
        return [Audit(*row) for row in cursor.fetchall()]


def count(
    tally: Tally,
    passed: dict[str, tuple[int, int]],
    estimates: Estimates,
    audits: Sequence[Audit],
) -> None:
    overall = estimates.overall
    language = next(each for each in estimates.by_language if each.label == LANGUAGE)
    there, missed = map(sum, zip(*passed.values(), strict=True))
    tally.runs += 1
    tally.audits = len(audits)
    tally.covered += _covers(overall, missed / there)
    tally.covered_language += _covers(language, passed[LANGUAGE][1] / passed[LANGUAGE][0])
    tally.widths.append((overall.high or 0) - (overall.low or 0))
    named = named_at(audits)
    if LANGUAGE in named:
        tally.named_after.append(named[LANGUAGE])
    tally.wrongly += bool(named.keys() - {LANGUAGE})


def count_alike(tally: Tally, audits: Sequence[Audit], *, seed: str) -> None:
    """The same audits, had all languages been alike: what is named then, chance has named."""
    chance = random.Random(f"{seed} alike")  # noqa: S311 - to be the same each time
    alike = [audit._replace(found=chance.random() < ALIKE) for audit in audits]
    named = looks(alike)
    tally.alike_at_last += bool(named[-1][1])
    tally.alike_ever += any(languages for _place, languages in named)


def named_at(audits: Sequence[Audit]) -> dict[str, int]:
    """After how many audits each language was first named, to who looks every so many answers."""
    first: dict[str, int] = {}
    for place, languages in looks(audits):
        for language in languages:
            first.setdefault(language, place)
    return first


def looks(audits: Sequence[Audit]) -> list[tuple[int, list[str]]]:
    """Every so many answers, and after the last: after how many, and which languages are named then."""
    from reviews.quality.estimates import Share, named_languages  # noqa: PLC0415
    from reviews.quality.intervals import Weights  # noqa: PLC0415

    sums: dict[str, list[float]] = {}
    looked = []
    for place, audit in enumerate(audits, start=1):
        found, weight = audit.found, audit.weight
        adding = (1, weight, found * weight, weight**2, found * weight**2)
        so_far = sums.get(audit.language, [0] * len(adding))
        sums[audit.language] = [one + more for one, more in zip(so_far, adding, strict=True)]
        if place % LOOK_EVERY and place != len(audits):
            continue
        shares = []
        for label, (answered, *weighed) in sums.items():
            of, weights = int(answered), Weights(int(answered), *weighed)
            shares.append(Share(label, of, of, of, 0, weights.share, None, None, weights.effective))
        looked.append((place, named_languages(shares)))
    return looked


def table(tally: Tally, passed: dict[str, tuple[int, int]], *, rate: float) -> list[str]:
    """What people read."""

    def after(share: float) -> str:
        """Audits after which the language was named in such a share of all runs."""
        place = ceil(share * tally.runs) - 1
        return f"{named[place]:,} audits" if place < len(named) else "not within them"

    named = sorted(tally.named_after)
    there, missed = map(sum, zip(*passed.values(), strict=True))
    own = passed[LANGUAGE][1] / passed[LANGUAGE][0]
    return [
        f"{tally.runs} runs of {tally.audits:,} audits of {there:,} items judged safe, at {rate:.1%}",
        f"truly missed           {missed / there:.3%} overall, {own:.3%} in {LANGUAGE}, none elsewhere",
        f"covered overall        {tally.covered / tally.runs:.1%}, nominal 95%",
        f"covered in {LANGUAGE}          {tally.covered_language / tally.runs:.1%}",
        f"median width           {statistics.median(tally.widths):.3%}",
        f"{LANGUAGE} named               in {len(named)} runs",
        f"  in half of the runs  after {after(0.5)}",
        f"  in 95 of 100         after {after(0.95)}",
        f"another one named      in {tally.wrongly} runs, at any of the looks",
        f"were {ALIKE:.0%} missed in each, one named in {tally.alike_at_last} runs at the last look",
        f"                       in {tally.alike_ever} runs at any of the looks",
    ]


def _covers(share: Share, truth: float) -> bool:
    return share.low is not None and share.high is not None and share.low <= truth <= share.high


_DECIDE = """
WITH answered AS (
    SELECT report.id, report.item_id, EXISTS (
        SELECT FROM bench_truth WHERE report_id = report.id) AS missed
    FROM reviews_blindaudit AS audit JOIN reports_report AS report ON report.id = audit.report_id
), decided AS (
    INSERT INTO reviews_decision (item_id, reviewer_id, kind, action, category, severity, note,
        reason, effective_at)
    SELECT item_id, (SELECT id FROM auth_user WHERE username = 'bench'), 'decision',
        CASE WHEN missed THEN 'remove' ELSE 'no_violation' END,
        CASE WHEN missed THEN 'credible_threat' ELSE '' END, 4 * missed::int, '', '', now()
    FROM answered RETURNING id, item_id
)
INSERT INTO reviews_decidedreport (decision_id, report_id)
SELECT decided.id, answered.id FROM decided JOIN answered USING (item_id)
RETURNING report_id
"""

_ANSWERED = """
SELECT stratum.language, decision.action = 'remove', stratum.population::float8 / stratum.drawn
FROM reviews_blindaudit AS audit JOIN reviews_stratum AS stratum ON stratum.id = audit.stratum_id
JOIN reviews_decision AS decision ON decision.id = audit.decision_id
ORDER BY md5(%s || 'answered' || audit.report_id)
"""
