"""Search over what was reported: questions in people's words, and the newest reports that match.

How words compare is said once, by `reports_search_words` in the database (migration 0005): the index
is made of it, and questions go through it.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from django.conf import settings
from django.db import OperationalError, connection
from psycopg.errors import QueryCanceled

from reports.counting import COUNTED_AT_MOST
from reports.fingerprint import author_pseudonym, pseudonym

SEARCHED_CHARACTERS = 100_000
"""So much of a report is searched."""
READ_AT_MOST = 2_000  # texts that are read again for words in a row
NAMED_AT_MOST = 10  # items that one id names, of each kind
_SHORTEST_BEGINNING = 3  # a shorter word must be met whole: half of all words begin with it

# What Arabic writes onto the word that follows: the article, "and", "in", "for", "like", and both.
_BEFORE_A_WORD = ("", "ال", "لل", "وال", "بال", "فال", "كال", "ولل", "و", "ف", "ب", "ل", "ك")
_ARTICLE = "ال"
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]*)["“”„«»]')
_ARABIC = re.compile(r"[\u0621-\u064a]+")


class SearchTookTooLongError(Exception):
    """The database was stopped after `SEARCH_SECONDS`: the question is too wide."""


@dataclass(frozen=True)
class Question:
    """What was asked for: words in texts, and reports that are named by an exact id."""

    words: str
    """As PostgreSQL's tsquery: all of them, each in one of its forms. Blank: no letter, no digit."""
    phrases: tuple[str, ...]
    """What must stand in a row, as `reports_search_words` writes it."""
    named: dict[int, str]
    """Report id to what the id names: item, report, key, author or reporter; the newest of each item."""


@dataclass(frozen=True)
class Hits:
    """The newest reports that match, as (report id, item id), the newest first."""

    reports: list[tuple[int, int]]
    looked_at: int | None
    """There are more that hold all the words: only so many, the newest, were looked at."""


def read_question(said: str, *, senders: Collection[int]) -> Question:
    """People's words as a question. Ids of authors and reporters are looked for at these senders."""
    quoted = [each for each in _QUOTED.findall(said) if each.strip()]
    name = said.strip()
    authors = [author_pseudonym(sender_id=each, author_id=name) for each in senders]
    reporters = [pseudonym(sender_id=each, reporter_id=name) for each in senders]
    with connection.cursor() as cursor:
        cursor.execute(
            _QUESTION,
            {
                "parts": [_QUOTED.sub(" ", said), *quoted],
                "name": name,
                "uuid": name if _UUID.fullmatch(name) else None,
                "senders": list(senders),
                "authors": authors,
                "reporters": reporters,
                "most": NAMED_AT_MOST,
            },
        )
        rows = cursor.fetchall()
    free, *phrases = [words for kind, _number, words in rows if kind == "words"]
    every = [_in_its_forms(word) for word in free.split()]
    every += [f"'{word}'" for phrase in phrases for word in phrase.split()]
    named = {number: kind for kind, number, _words in reversed(rows) if kind != "words" and number}
    return Question(" & ".join(every), tuple(filter(None, phrases)), named)


def newest_matches(question: Question) -> Hits:
    """Among the newest that hold all the words. Raises `SearchTookTooLongError`."""
    patterns = [f"% {phrase} %" for phrase in question.phrases]
    at_most = READ_AT_MOST if patterns else COUNTED_AT_MOST
    try:
        with connection.cursor() as cursor:
            # One message to the server is one transaction: the bounds end with it.
            cursor.execute(
                _MATCHES_IN_A_ROW if patterns else _MATCHES,
                {
                    "limit": f"{round(settings.SEARCH_SECONDS * 1000)}ms",
                    "words": question.words,
                    "patterns": patterns,
                    "most": at_most + 1,
                },
            )
            cursor.nextset()
            found, reports = cursor.fetchone()
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise SearchTookTooLongError from None
        raise
    return Hits([(report, item) for report, item in reports], at_most if found > at_most else None)


def _in_its_forms(word: str) -> str:
    return "(" + " | ".join(dict.fromkeys(_forms(word))) + ")"


def _forms(word: str) -> Iterator[str]:
    """The word (letters and digits only) as the beginning of others, Arabic also behind its particles."""
    if len(word) < _SHORTEST_BEGINNING:
        yield f"'{word}'"
        return
    yield f"'{word}':*"
    if not _ARABIC.fullmatch(word):
        return
    bare = word.removeprefix(_ARTICLE)
    stem = bare if len(bare) >= _SHORTEST_BEGINNING else word
    for before in _BEFORE_A_WORD:
        yield f"'{before}{stem}':*"


_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_QUESTION = """
SELECT 'words', place, reports_search_words(part)
FROM unnest(%(parts)s::text[]) WITH ORDINALITY AS said (part, place)
UNION ALL (
    SELECT 'item', (SELECT max(id) FROM reports_report WHERE item_id = item.id), NULL
    FROM reports_item AS item WHERE external_id = %(name)s ORDER BY item.id DESC LIMIT %(most)s
)
UNION ALL SELECT 'report', id, NULL FROM reports_report WHERE public_id = %(uuid)s::uuid
UNION ALL (
    SELECT 'key', id, NULL FROM reports_report
    WHERE sender_id = ANY(%(senders)s) AND idempotency_key = %(name)s ORDER BY id DESC LIMIT %(most)s
)
UNION ALL (
    SELECT 'author', max(id), NULL FROM (
        SELECT id, item_id FROM reports_report
        WHERE author_pseudonym = ANY(%(authors)s) AND author_pseudonym <> ''
        ORDER BY id DESC LIMIT 1000
    ) AS newest GROUP BY item_id ORDER BY 2 DESC LIMIT %(most)s
)
UNION ALL (
    SELECT 'reporter', max(id), NULL FROM (
        SELECT id, item_id FROM reports_report
        WHERE reporter_pseudonym = ANY(%(reporters)s) AND reporter_pseudonym <> ''
        ORDER BY id DESC LIMIT 1000
    ) AS newest GROUP BY item_id ORDER BY 2 DESC LIMIT %(most)s
)
"""
# Memory for the whole bitmap of a word that most reports hold: else each is read again. The sum
# keeps the planner from walking back through all reports in the hope of a match. What matches is
# looked up one by one: joined otherwise, every report would be read for the sake of a few.
_MATCHES = """
SELECT set_config('statement_timeout', %(limit)s, true), set_config('work_mem', '64MB', true),
    set_config('jit', 'off', true), set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true);
WITH matching AS MATERIALIZED (
    SELECT report_id FROM reports_content
    WHERE reports_search_text(body)::tsvector @@ %(words)s::tsquery
    ORDER BY report_id + 0 DESC LIMIT %(most)s
)
SELECT (SELECT count(*) FROM matching), ARRAY(
    SELECT ARRAY[report.id, report.item_id]
    FROM matching JOIN reports_report AS report ON report.id = matching.report_id
    /* in a row */
    ORDER BY report.id DESC
)
"""
_MATCHES_IN_A_ROW = _MATCHES.replace(
    "/* in a row */",
    """JOIN reports_content AS content ON content.report_id = report.id
    WHERE ' ' || reports_search_text(content.body) || ' ' LIKE ALL (%(patterns)s::text[])""",
)
