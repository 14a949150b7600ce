"""A dozen cases of the fault bench, with real processes; `make faults` runs all of them."""

import json
import os
import subprocess
import sys

import pytest

from dev.errors import DevError
from dev.faults.__main__ import share_out
from dev.faults.cases import all_cases
from dev.faults.mutations import MUTATIONS, Mutation, mutated
from dev.faults.processes import ACTIONS, POINTS
from dev.programs import ROOT

pytestmark = pytest.mark.long
QUICK = sorted(case.name for case in all_cases() if case.quick)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """What the bench says about them, each case once; the last line is its summary."""
    done = subprocess.run(
        [sys.executable, "-m", "dev.faults", "--quick", "--lanes", "2"],
        cwd=ROOT,
        env={**os.environ, "SEED": "1", "CASES": ""},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("name", QUICK)
def test_what_breaks_leaves_nothing_lost_doubled_or_reordered(name: str, lines: list[str]) -> None:
    said = [line for line in lines if line.startswith(f"{name}: ")]
    assert len(said) == 1, lines
    assert said[0].startswith(f"{name}: ok,")


def test_the_last_line_is_one_object_for_programs(lines: list[str]) -> None:
    summary = json.loads(lines[-1])
    assert summary.pop("slowest_recovery_s") > 0
    assert summary.pop("paid_calls_max") >= 2  # a killed worker's call is paid again
    assert summary == {"cases": len(QUICK), "broken": 0, "seed": 1}


def test_every_action_is_tried_at_every_fail_point() -> None:
    tried = {(case.layout.armed, case.layout.action, case.point) for case in all_cases()}
    for process, points in POINTS.items():
        assert {(process, action, point) for action in ACTIONS for point in points} <= tried
    assert len(all_cases()) >= 150


def test_a_seed_repeats_the_order() -> None:
    def order(seed: int) -> list[list[str]]:
        shares = share_out(all_cases(), lanes=3, seed=seed)
        return [[case.name for case in share] for share in shares]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(name for share in order(1) for name in share) == sorted(
        case.name for case in all_cases()
    )


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda each: each.name)
def test_a_mutation_still_finds_what_it_changes(mutation: Mutation) -> None:
    source = (ROOT / mutation.file).read_text("utf-8")
    assert mutated(source, mutation) != source
    assert [case for case in all_cases() if mutation.case in case.name]


def test_a_mutation_of_code_that_has_moved_on_is_refused() -> None:
    with pytest.raises(DevError, match="no longer holds"):
        mutated("moved on", MUTATIONS[0])
