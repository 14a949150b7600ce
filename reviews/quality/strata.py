"""What is drawn from, kind by kind, and how much of each kind: one statement, and so one snapshot.

The kinds are a sender, a primary language (“ar-EG” is “ar”; “und-Arab”, a script alone, stays), a
category, for verdicts also a band of confidence and a policy version. Of the sampling rates that
match a kind, the one with the most fields set counts, and of several such the highest.

What is drawn for audits are items, each by one of its verdicts of safe: a decision answers all reports
of an item at once, so two of them would be one answer counted twice. An item that is judged safe again
at another time is in that draw too. What was judged safe and came to count later, by an undo or where
an invalidation was revoked, is in none.
"""
# ruff: noqa: S608 - the statements are put together from our own constants

from reviews.models import Draw

# Where one band of confidence ends and the next begins.
EDGES = ("0.80", "0.90", "0.95", "0.99")
BANDS = tuple(f"{low}-{high}" for low, high in zip(("0.00", *EDGES), (*EDGES, "1.00"), strict=True))

_LANGUAGE = """lower(CASE WHEN report.language ILIKE 'und%%' THEN report.language
            ELSE split_part(report.language, '-', 1) END)"""

# Of an item's verdicts one by chance, in an order that the seed has no part in: of several the first in
# the seed's order would be drawn more often than the only one of another item.
_VERDICTS = f"""
    SELECT DISTINCT ON (report.item_id)
        current.id, current.report_id, report.sender_id, {_LANGUAGE} AS language,
        current.category, current.policy_version_id,
        ('{{{",".join(BANDS)}}}'::text[])[
            1 + width_bucket(current.confidence, '{{{",".join(EDGES)}}}'::float8[])] AS band
    FROM classifier_classification AS current
    JOIN reports_report AS report ON report.id = current.report_id
    WHERE current.created_at >= %(since)s AND current.created_at < %(until)s
        AND current.safe AND NOT current.superseded AND report.status = 'judged_safe'
    ORDER BY report.item_id, md5(current.id::text)"""

_IN_EFFECT = """NOT EXISTS (SELECT FROM reviews_decision AS later
            WHERE later.item_id = decision.item_id AND later.id > decision.id
            AND later.kind <> 'undo' AND NOT EXISTS (SELECT FROM reviews_decision AS undo
                WHERE undo.overrides_id = later.id AND undo.kind = 'undo'))
        AND NOT EXISTS (SELECT FROM reviews_decision AS undo
            WHERE undo.overrides_id = decision.id AND undo.kind = 'undo')"""

# The language of a decision is that of the first report that it names.
_DECISIONS = f"""
    SELECT decision.id, NULL::bigint AS report_id, report.sender_id, {_LANGUAGE} AS language,
        CASE action.outcome WHEN 'upholds' THEN decision.category ELSE '' END AS category,
        NULL::bigint AS policy_version_id, '' AS band
    FROM reviews_decision AS decision
    JOIN reviews_action AS action ON action.slug = decision.action
    JOIN reports_report AS report ON report.id = (
        SELECT min(report_id) FROM reviews_decidedreport WHERE decision_id = decision.id)
    WHERE decision.effective_at >= %(since)s AND decision.effective_at < %(until)s
        AND decision.kind = 'decision' AND action.outcome IN ('clears', 'upholds')
        AND {_IN_EFFECT}"""

_KIND = "sender_id, language, category, band, policy_version_id"


def _strata_of(population: str) -> str:
    return f"""
WITH population AS MATERIALIZED ({population}
), counted AS (
    SELECT {_KIND}, count(*) AS population FROM population GROUP BY {_KIND}
), rated AS (
    SELECT counted.*, least(counted.population, greatest(
        coalesce(rate.at_least, 0),
        -- As it was typed: seven of a hundred are not eight, as binary fractions would have it.
        ceil(coalesce(rate.rate, 0)::numeric * counted.population)))::int AS drawn
    FROM counted LEFT JOIN LATERAL (
        SELECT * FROM reviews_samplingrate AS each
        WHERE each.of = %(of)s AND (each.sender_id IS NULL OR each.sender_id = counted.sender_id)
            AND each.language IN ('', counted.language)
            AND each.category IN ('', counted.category) AND each.band IN ('', counted.band)
        ORDER BY (each.sender_id IS NOT NULL)::int + (each.language <> '')::int
            + (each.category <> '')::int + (each.band <> '')::int DESC, each.rate DESC, each.at_least DESC
        LIMIT 1
    ) AS rate ON true
)"""


def _samples_into(table: str, columns: str, values: str) -> str:
    """Those that come first in the order that the seed gives, with their strata."""
    return f""", written AS (
    INSERT INTO reviews_stratum (draw_id, {_KIND}, population, drawn)
    SELECT %(draw)s, {_KIND}, population, drawn FROM rated
    RETURNING id, {_KIND}, drawn
), ordered AS (
    SELECT *, row_number() OVER (
        PARTITION BY {_KIND} ORDER BY md5(%(seed)s || population.id), population.id) AS place
    FROM population
)
INSERT INTO {table} (stratum_id, {columns})
SELECT written.id, {values} FROM ordered JOIN written
    ON (written.sender_id, written.language, written.category, written.band)
        = (ordered.sender_id, ordered.language, ordered.category, ordered.band)
    AND written.policy_version_id IS NOT DISTINCT FROM ordered.policy_version_id
WHERE ordered.place <= written.drawn
"""


_POPULATION = {Draw.Of.AUDITS: _VERDICTS, Draw.Of.DOUBLE_REVIEWS: _DECISIONS}
_STRATA = {of: _strata_of(population) for of, population in _POPULATION.items()}

ANYTHING = {of: f"SELECT EXISTS ({population})" for of, population in _POPULATION.items()}
"""By kind of draw: whether there is anything to draw from. Needs `since` and `until`."""

PLAN = {
    of: f"{strata}\nSELECT {_KIND}, population, drawn FROM rated" for of, strata in _STRATA.items()
}
"""Likewise, how many there are of each kind and how many to draw. Needs `of` as well."""

_SAMPLES = {
    Draw.Of.AUDITS: _samples_into(
        "reviews_blindaudit", "classification_id, report_id", "ordered.id, ordered.report_id"
    ),
    Draw.Of.DOUBLE_REVIEWS: _samples_into(
        "reviews_doublereview", "decision_id, category, note, side", "ordered.id, '', '', ''"
    ),
}
DRAW = {of: _STRATA[of] + samples for of, samples in _SAMPLES.items()}
"""Likewise, with `draw` and `seed`: writes the strata and the samples."""

_OLDEST = {
    Draw.Of.AUDITS: "SELECT min(created_at) FROM classifier_classification",
    Draw.Of.DOUBLE_REVIEWS: "SELECT min(effective_at) FROM reviews_decision",
}

DUE = {
    of: f"""SELECT coalesce((SELECT max(until) FROM reviews_draw AS draw WHERE draw.of = %(of)s),
        ({oldest})), now() - interval '1 hour'"""
    for of, oldest in _OLDEST.items()
}
"""By kind of draw: from when and until when nothing was drawn yet. Needs `of`."""
