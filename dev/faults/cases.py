"""The cases, and the matrix of fail points among them. A case is data and one function."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dev.faults import timing
from dev.faults.processes import ACTIONS, POINTS, SWEEP_POINTS, WEB_POINTS, WORKER_POINTS, Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.faults.run import Run

USUAL = Layout()
NONE, ERROR, AWAY = 0, 500, 503
"""Answers: no answer at all, an error of ours (a fail point raised it), the database is away."""


@dataclass(frozen=True)
class Case:
    """One thing that breaks. `play` sends and breaks; what follows is the same for all."""

    name: str
    play: Callable[[Run], None]
    layout: Layout = USUAL
    point: str = ""
    times: int = 0
    """How many shots the fail point has."""
    costs: int = 0
    """Calls of the model that each shot may lose."""
    may_answer: frozenset[int] = frozenset()
    """What POST may be answered besides 200 and 202."""
    may_lose: int = 0
    """Without a sweep: messages that the broker may lose when a worker dies."""
    same_order: bool = True
    """Whether the reviewers' order must be that of the undisturbed run."""
    bound: float | None = None
    """Seconds from the fault to the last outcome; None for the usual bound."""
    quick: bool = False
    """Whether it is one of the dozen that run with the tests."""


def undisturbed(run: Run) -> None:
    run.send_and_wait()


def _at_fail_point(run: Run) -> None:
    processes = run.stack.processes
    if run.case.layout.armed == "sweep":
        _give_the_sweep_work(run)
    else:
        processes.arm(run.case.point, run.case.times)
        run.send_and_wait()
    run.wait_for(lambda: bool(run.shots()), what=f"{run.case.point} fires")


def _give_the_sweep_work(run: Run) -> None:
    """All nudges are lost while the worker stands still, so that the sweep has to choose."""
    stack = run.stack
    stack.processes.signal("worker-a", signal.SIGSTOP)
    run.send_and_wait()
    run.wait_for(lambda: stack.broker.llen("live") >= 8, what="the nudges are out")
    stack.processes.arm(run.case.point, run.case.times)
    stack.broker.delete("live")
    run.wait_for(lambda: bool(run.shots()), what=f"{run.case.point} fires")
    stack.processes.signal("worker-a", signal.SIGCONT)


def _matrix() -> list[Case]:
    made = []
    for action in ACTIONS:
        made += [_worker_case(action, point) for point in WORKER_POINTS]
        made += [_web_case(action, point) for point in WEB_POINTS]
        made += [_sweep_case(action, point) for point in SWEEP_POINTS]
    for action in ("kill", "raise"):
        made += [_worker_case(action, point, times=2) for point in WORKER_POINTS]
    made += [_web_case("kill", point, times=2) for point in WEB_POINTS]
    made += [_sweep_case("kill", point, times=2) for point in SWEEP_POINTS]
    for action in ("kill", "memory"):
        made += [_worker_case(action, point, pool="prefork") for point in WORKER_POINTS]
    for action in ("kill", "term-group", "raise"):
        made += [_worker_case(action, point, sweeps=0) for point in WORKER_POINTS]
    made += [_web_case("kill", point, sweeps=0) for point in WEB_POINTS]
    return made


def _worker_case(
    action: str, point: str, *, times: int = 1, pool: str = "threads", sweeps: int = 1
) -> Case:
    # Another worker takes over from one that stands still.
    layout = Layout(pool, 2 if action == "stop" else 1, sweeps, "worker", action)
    usual = timing.RECOVERY_BOUND if sweeps else timing.REDELIVERY_BOUND
    return Case(
        name=_name(layout, point, times),
        play=_at_fail_point,
        layout=layout,
        point=point,
        times=times,
        costs=0 if action == "term-group" else 1,
        may_answer=waits_for_its_rows(point) if action == "stop" else frozenset(),
        may_lose=2,
        bound=usual + timing.ORDERLY_STOP if action == "term-group" else None,
        quick=(action, point, times, pool, sweeps)
        in {
            ("kill", "task.after_model", 1, "threads", 1),
            ("kill", "record.after_insert", 1, "threads", 1),
            ("memory", "task.before_model", 1, "threads", 1),
            ("raise", "record.after_commit", 1, "threads", 1),
        },
    )


def waits_for_its_rows(point: str) -> frozenset[int]:
    """What POST may be answered while somebody stands still there with the item's row locked."""
    inside = point in {"record.after_supersede", "record.after_insert"}
    return frozenset({NONE}) if inside else frozenset()


def _web_case(action: str, point: str, *, times: int = 1, sweeps: int = 1) -> Case:
    may_answer = {NONE, ERROR} if action in {"raise", "memory"} else {NONE}
    layout = Layout("threads", 1, sweeps, "web", action)
    return Case(
        name=_name(layout, point, times),
        play=_at_fail_point,
        layout=layout,
        point=point,
        times=times,
        may_answer=frozenset(may_answer),
        may_lose=10,  # nudges wait in the web process; without a sweep they die with it
        quick=(action, point, times, sweeps)
        in {("kill", "intake.after_commit", 1, 1), ("raise", "intake.after_insert", 1, 1)},
    )


def _sweep_case(action: str, point: str, *, times: int = 1) -> Case:
    layout = Layout("threads", 1, 1, "sweep", action)
    return Case(
        name=_name(layout, point, times),
        play=_at_fail_point,
        layout=layout,
        point=point,
        times=times,
        quick=(action, point, times) == ("kill", "sweep.after_choose", 1),
    )


def _name(layout: Layout, point: str, times: int) -> str:
    where = "" if layout.pool == "threads" else f" ({layout.pool})"
    twice = f"*{times}" if times > 1 else ""
    without = "" if layout.sweeps else ", no sweep"
    return f"{layout.armed}{where} {layout.action}{twice} at {point}{without}"


def all_cases() -> list[Case]:
    """Every case, in the order in which they are written down."""
    from dev.faults import broker_faults, database_faults, situations  # noqa: PLC0415  import us

    made = [
        Case("undisturbed", undisturbed, quick=True),
        *_matrix(),
        *broker_faults.cases(),
        *database_faults.cases(),
        *situations.cases(),
    ]
    names = [case.name for case in made]
    assert len(set(names)) == len(names), "two cases have one name"  # noqa: S101
    assert all(case.point in POINTS[case.layout.armed] for case in made if case.point)  # noqa: S101
    return made
