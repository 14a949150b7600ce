"""Runs cases one after the other on one stack, and says what became of each."""

from __future__ import annotations

import random
import re
import shutil
import time
import zlib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import psycopg
import redis

from dev.errors import DevError
from dev.faults import checks, timing
from dev.faults.cases import Case, undisturbed
from dev.faults.run import NeverQuietError, Run
from dev.faults.stack import Stack, open_stack
from dev.programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

LOGS = ROOT / ".local" / "faults"
"""Where the logs of broken cases are kept."""


@dataclass
class Result:
    """What became of a case, in seconds from its last fault.

    `recovery` until every report had its outcome, which is bounded; `quiet` until the messages of
    dead workers had come back too and were found spent, which takes the visibility timeout.
    """

    name: str
    broken: list[str] = field(default_factory=list)
    recovery: float = 0.0
    quiet: float = 0.0
    took: float = 0.0
    paid_calls: int = 0

    def line(self) -> str:
        state = "ok" if not self.broken else "BROKEN " + "; ".join(self.broken)
        return (
            f"{self.name}: {state}, recovered in {self.recovery:.1f} s, quiet in {self.quiet:.1f} s"
        )

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def run_cases(
    cases: Sequence[Case], *, seed: int, slack: float, check: Callable[[], None]
) -> Iterator[Result]:
    """Run them on a stack of their own; the undisturbed order is taken first.

    `slack` multiplies the bounds of the recovery. `check` is asked all the time and may raise.
    """
    with open_stack() as stack:
        stack.check = check
        baseline = run_case(stack, Case("undisturbed", undisturbed), seed=seed)
        if baseline.broken:
            yield baseline
        order = checks.reviewers_order(stack)
        for case in cases:
            expected = order if case.same_order and not baseline.broken else None
            result = run_case(stack, case, seed=seed, slack=slack, expected_order=expected)
            if result.broken:
                keep_logs(stack, case)
                # Whatever hangs about must not break the next case too.
                stack.processes.end_all()
            yield result


def keep_logs(stack: Stack, case: Case) -> None:
    """The processes' logs of a broken case, which would go with the stack."""
    name = re.sub(r"[^a-z0-9]+", "-", case.name.lower())
    shutil.copytree(stack.services.home.logs, LOGS / name, dirs_exist_ok=True)


def run_case(
    stack: Stack,
    case: Case,
    *,
    seed: int,
    slack: float = 1.0,
    expected_order: list[tuple[str, str]] | None = None,
) -> Result:
    """One case from a clean slate to its checks; what goes wrong stands in the result."""
    began = time.monotonic()
    result = Result(case.name)
    tag = f"{zlib.crc32(f'{seed} {case.name}'.encode()):08x}"
    run = Run(stack, case, tag, random.Random(f"{seed} {case.name}"))  # noqa: S311  no secret
    try:
        stack.mend()
        stack.processes.bring_into(case.layout)
        stack.clean_slate()
        run.began()
        _play(run, result)
        result.broken += checks.broken_invariants(run, expected_order=expected_order)
        result.paid_calls = max(checks.paid_calls(run).values(), default=0)
        _judge_time(result, case, slack)
    except (NeverQuietError, DevError, psycopg.Error, redis.RedisError) as error:
        result.broken.append(f"never quiet: {error}")
    finally:
        run.client.stop()
    result.took = round(time.monotonic() - began, 1)
    return result


def _play(run: Run, result: Result) -> None:
    """Break, wait for quiet, note the times; without a sweep see what is left and sweep it up."""
    case = run.case
    case.play(run)
    outcome_at, quiet_at = run.watch()
    if case.times and not run.shots():
        result.broken.append("the fail point was never reached")
    run.faults += case.costs * len(run.shots())
    if case.layout.action != "stop":
        run.fault_at = max([run.fault_at, *run.shots()])
    if run.fault_at:
        since = max(run.fault_at, run.client.ended_at)
        result.recovery = round(max(0.0, outcome_at - since), 1)
        result.quiet = round(max(0.0, quiet_at - since), 1)
    if not case.layout.sweeps:
        result.broken += checks.left_behind(run)
        run.heal()


def _judge_time(result: Result, case: Case, slack: float) -> None:
    usual = timing.RECOVERY_BOUND if case.layout.sweeps else timing.REDELIVERY_BOUND
    bound = slack * (usual if case.bound is None else case.bound)
    if result.recovery > bound:
        result.broken.append(f"slow: {result.recovery} s, the bound is {bound:g} s")
