"""The parts of `python -m dev.bench audits`, which does this two hundred times: with all of it audited."""

from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from dev.bench.audits import Audit, Tally, count_alike, named_at, run_once, table
from dev.bench.buried_rows import LANGUAGE, judged_reports, write_buried
from dev.processes import Interruption
from reviews.models import BlindAudit, Draw
from reviews.tests.sampling import rate_of

ROWS = 4_000


def test_the_same_reports_are_buried_each_time_and_in_one_language_alone() -> None:
    first, again = (list(judged_reports(400)) for _ in range(2))

    assert first == again
    missed = [each for each in first if each.is_missed]
    assert missed
    assert {each.language.partition("-")[0] for each in missed} == {LANGUAGE}
    found = [each for each in first if each.violates and not each.is_missed]
    assert {each.language for each in found} >= {"en", "ar", "fr"}


def test_a_language_is_named_at_the_first_look_at_which_it_stands_out() -> None:
    harmless = [Audit("en", found=False)] * 30 + [Audit("ar", found=False)] * 5
    found = [Audit("ar", found=True)] * 5

    assert named_at(harmless + found) == {"ar": 40}
    assert named_at(found + harmless) == {"ar": 20}
    assert named_at(harmless) == {}


def test_what_chance_names_where_all_are_alike_is_counted() -> None:
    tally = Tally()
    audits = [Audit(language, found=False) for language in ("en", "ar", "fr", "es")] * 100

    for run in range(40):
        count_alike(tally, audits, seed=str(run))

    assert tally.alike_at_last <= tally.alike_ever
    assert 0 < tally.alike_ever < 20


def test_an_audit_that_stands_for_more_weighs_more() -> None:
    rare = [Audit("ar", found=True, weight=1)] * 10 + [Audit("ar", found=False, weight=90)] * 30
    harmless = [Audit("en", found=False, weight=50)] * 160

    assert named_at([each._replace(weight=1) for each in rare] + harmless) == {"ar": 60}
    assert named_at(rare + harmless) == {}


@pytest.fixture
def passed(transactional_db: None) -> Iterator[dict[str, tuple[int, int]]]:  # noqa: ARG001
    """Written as the bench writes them."""
    rate_of("audits", 1)
    parameters = connection.get_connection_params()
    for name in ("cursor_factory", "context"):
        parameters.pop(name, None)
    with psycopg.connect(**parameters, autocommit=True) as database:
        yield write_buried(database, Interruption(), rows=ROWS)
        database.execute("DROP TABLE bench_truth")


@pytest.mark.usefixtures("policy")
def test_with_all_of_it_audited_the_truth_is_found_and_nothing_stays_behind(
    passed: dict[str, tuple[int, int]],
) -> None:
    there, missed = (sum(each) for each in zip(*passed.values(), strict=True))
    tally = Tally()

    for run in range(2):
        run_once(tally, passed, seed=str(run))

    assert (tally.runs, tally.audits) == (2, there)
    assert (tally.covered, tally.covered_language) == (2, 2)
    assert (len(tally.named_after), tally.wrongly) == (2, 0)
    assert not Draw.objects.exists()
    assert not BlindAudit.objects.exists()
    said = table(tally, passed, rate=1)
    assert said[0] == f"2 runs of {there:,} audits of {there:,} items judged safe, at 100.0%"
    assert f"{missed / there:.3%} overall" in said[1]
