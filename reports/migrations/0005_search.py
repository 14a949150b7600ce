"""What search reads: an index over the words of each content, and indexes for exact ids.

The words are indexed as a function of the content, so that a purge takes them along and no second
copy of a text is kept. Built beside running intake; stopped half-way it goes on at its next start.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

# PostgreSQL's tsvector ends at 1 MiB; so much text always fits. `reports.search_text` tells people.
CHARACTERS = 100_000
LONGEST_WORD = 60

# Code points, not classes of letters: those depend on the database's locale, an index may not.
MARKS = (
    r"\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    r"\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u08ca-\u08ff"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef"
)
# Tatweel, joiners, soft hyphens, signs of direction: a word is the same without them.
UNSEEN = r"\u0640\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
BETWEEN_WORDS = (
    r"\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7"
    r"\u060c\u060d\u061b\u061d-\u061f\u066a-\u066d\u06d4\u06dd\u06de\u06e9\u1680"
    r"\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\ufd3e\ufd3f\ufffc\ufffd"
    r"\U0001f000-\U0001faff"
)
# The Arabic letters as `reports.spelling` has them; hamza above and below goes with the marks.
LETTERS = {
    **dict.fromkeys("ٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    **dict.fromkeys("ةھہە", "ه"),
    **dict.fromkeys("کگ", "ك"),
    **{chr(zero + digit): str(digit) for zero in (0x660, 0x6F0) for digit in range(10)},
    **dict(zip("øłđħı", "oldhi", strict=True)),
}

WORDS = rf"""
CREATE OR REPLACE FUNCTION reports_search_words(said text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 500 AS $body$
DECLARE
    words text := left(said, {CHARACTERS});
BEGIN
    IF octet_length(words) > length(words) THEN
        -- Cut again: there are signs that are spelled by eighteen.
        words := left(lower(normalize(words, NFKD)), {CHARACTERS});
        words := regexp_replace(words, '[{MARKS}{UNSEEN}]', '', 'g');
        words := translate(words, '{"".join(LETTERS)}', '{"".join(LETTERS.values())}');
        words := replace(words, 'ß', 'ss');
    ELSE
        words := lower(words);
    END IF;
    words := regexp_replace(words, '[{BETWEEN_WORDS}]+', ' ', 'g');
    RETURN btrim(regexp_replace(words, '([^ ]{{{LONGEST_WORD}}})[^ ]+', '\1', 'g'));
END
$body$"""

# Nothing in it raises, whatever JSON a body holds: intake must not fail for the search's sake.
# A body in SQL's own form names the other function for good, whatever the search path.
TEXT = """
CREATE OR REPLACE FUNCTION reports_search_text(body jsonb) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 600
RETURN reports_search_words(
    coalesce((
        SELECT string_agg(said #>> '{}', ' ')
        FROM jsonb_path_query(body, '$.messages[*].text') AS said
    ), '') || coalesce(' ' || (body #>> '{comment}'), '')
)"""

# Without the list of pending entries: it would be worked off by some unlucky arrival.
INDEX = """
CREATE INDEX CONCURRENTLY content_searched ON reports_content
USING gin ((reports_search_text(body)::tsvector)) WITH (fastupdate = off)"""


def anew(name: str) -> migrations.RunSQL:
    """A build that was stopped leaves an index that is not valid."""
    return migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop)


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("reports", "0004_authors_of_stored_reports")]
    operations = [
        migrations.RunSQL(WORDS, "DROP FUNCTION reports_search_words(text)"),
        migrations.RunSQL(TEXT, "DROP FUNCTION reports_search_text(jsonb)"),
        anew("content_searched"),
        migrations.RunSQL(INDEX, "DROP INDEX CONCURRENTLY IF EXISTS content_searched"),
        anew("item_by_external_id"),
        AddIndexConcurrently(
            "item", models.Index(fields=["external_id", "id"], name="item_by_external_id")
        ),
        anew("report_of_author"),
        AddIndexConcurrently(
            "report",
            models.Index(
                fields=["author_pseudonym", "id"],
                name="report_of_author",
                condition=~models.Q(author_pseudonym=""),
            ),
        ),
        anew("report_of_reporter"),
        AddIndexConcurrently(
            "report",
            models.Index(
                fields=["reporter_pseudonym", "id"],
                name="report_of_reporter",
                condition=~models.Q(reporter_pseudonym=""),
            ),
        ),
    ]
