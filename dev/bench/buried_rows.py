"""Reports with a known truth: what a machine that buries some of one language made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dev.standin.answers import verdict_by
from dev.standin.manners import Manners, read_manners

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from dev.processes import Interruption

LANGUAGE = "ar"
# A tenth of the reports is a violation, and of those in one language a tenth is called safe.
VIOLATION_IN = 10
BURIED = 0.1
MANNERS: Manners = read_manners({"buries": {"language": LANGUAGE, "share": BURIED}})

# Of a hundred reports, by language; of sixteen, by sender.
LANGUAGES = ("en",) * 40 + ("ar",) * 24 + ("ar-EG",) * 6 + ("fr",) * 15 + ("es",) * 10 + ("tr",) * 5
SENDERS = (1,) * 8 + (2,) * 4 + (3,) * 2 + (4, 5)
_HARMLESS = {"ar": "نلتقي غدا في المكتبة"}
_VIOLATION = {"ar": "سأقتلك غدا"}
DAYS = 60


@dataclass(frozen=True)
class Buried:
    """One report: what it is, and what the machine called it."""

    number: int
    sender: int
    language: str
    violates: bool
    category: str
    confidence: float

    @property
    def is_missed(self) -> bool:
        return self.violates and self.category == "none"


def judged_reports(rows: int) -> Iterator[Buried]:
    """So many, always the same; the verdicts are the stand-in's own."""
    for number in range(1, rows + 1):
        # Steps that share no factor with the rows of the tables, so that all mixes come.
        language = LANGUAGES[number * 37 % 100]
        violates = number * 7 % 101 % VIOLATION_IN == 0
        texts = _VIOLATION if violates else _HARMLESS
        default = "I will kill you tomorrow" if violates else "See you at lunch"
        text = f"{texts.get(language[:2], default)} {number}"
        evidence = {"ref": "r", "language": language, "messages": [{"text": text}]}
        said = verdict_by(MANNERS, evidence)
        yield Buried(
            number,
            SENDERS[number * 5 % 16],
            language,
            violates,
            said["category"],
            said["confidence"],
        )


def write_buried(
    database: psycopg.Connection[Any], interruption: Interruption, *, rows: int
) -> dict[str, tuple[int, int]]:
    """The rows of so many; by primary language, how many passed as safe and how many of them wrongly.

    With a table `bench_truth` of the reports that were missed. Contents are left out: nothing here
    reads one.
    """
    # In bulk: the rows agree with one another, and a trigger for each would take minutes.
    database.execute("SET session_replication_role = replica")
    for statement in _BEFORE:
        database.execute(statement)
    passed: dict[str, tuple[int, int]] = {}
    with database.cursor().copy(f"COPY bench_judged ({_COLUMNS}) FROM STDIN") as copy:
        for each in judged_reports(rows):
            copy.write_row(
                (
                    each.number,
                    each.sender,
                    each.language,
                    each.violates,
                    each.category,
                    each.confidence,
                )
            )
            if each.number % 1000 == 0:
                interruption.check()
            if each.category == "none":
                primary = each.language[:2]
                there, missed = passed.get(primary, (0, 0))
                passed[primary] = there + 1, missed + each.is_missed
    for statement in _AFTER:
        database.execute(statement, {"rows": rows, "days": DAYS} if "%(" in statement else None)
    return passed


_COLUMNS = "number, sender, language, violates, category, confidence"
_BEFORE = (
    """CREATE TABLE bench_judged (number bigint, sender bigint, language text, violates boolean,
        category text, confidence float8)""",
    """INSERT INTO reports_sender (id, name, is_active, latency_budget)
    SELECT n, 'sender-' || n, true, interval '5 minutes' FROM generate_series(1, 5) AS n""",
    """INSERT INTO auth_user (username, password, first_name, last_name, email, is_superuser,
        is_staff, is_active, date_joined)
    VALUES ('bench', '', '', '', '', false, false, true, now())""",
)
_AFTER = (
    """INSERT INTO reports_item (id, sender_id, type, external_id, list, rank, since)
    SELECT number, sender, 'post', 'p-' || number,
        CASE category WHEN 'none' THEN 'judged_safe' ELSE 'needs_review' END, 0,
        now() - interval '2 hours' - (%(rows)s - number) * (make_interval(days => %(days)s) / %(rows)s)
    FROM bench_judged""",
    """INSERT INTO reports_report (id, public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, author_pseudonym, language, received_at, due_at)
    SELECT item.id, gen_random_uuid(), sender_id, item.id, external_id, '', 1, false, list, 0, '[]',
        0, '', '', '', judged.language, since, since
    FROM reports_item AS item JOIN bench_judged AS judged ON judged.number = item.id""",
    """INSERT INTO classifier_classification (id, report_id, policy_version_id, superseded, category,
        confidence, summary, quotes, severity, safe, rules, served_model, model_seconds, answer_hash,
        created_at)
    SELECT number, number, 1, false, category, confidence, '', '[]', 0, category = 'none', '[]',
        'stand-in-not-a-model', 0.1, repeat('0', 64), received_at
    FROM bench_judged JOIN reports_report AS report ON report.id = number""",
    """CREATE TABLE bench_truth AS SELECT number AS report_id FROM bench_judged
    WHERE violates AND category = 'none'""",
    "ALTER TABLE bench_truth ADD PRIMARY KEY (report_id)",
    "DROP TABLE bench_judged",
    "VACUUM ANALYZE",
)
