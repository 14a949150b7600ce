"""Faults that come without a death: doubled messages, slow workers, two of a kind, a bad model."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from dev.faults import timing
from dev.faults.cases import Case, waits_for_its_rows
from dev.faults.processes import WORKER_POINTS, Layout

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.faults.run import Run

MAX_ATTEMPTS = 3  # of classifier.models.Job
SECOND_MODEL = "stand-in-second"
SLOW = f"sleep:{timing.LEASE + 1.0:g}"
BRIEF = "sleep:2.5"
# Two rests in a row: 5 s, then 10 s, each with its jitter.
TWO_WAITS = timing.RECOVERY_BOUND + 10.0 * 1.2


# --- the same work twice


def nudged_five_times(run: Run) -> None:
    run.send_and_wait()
    for report in run.report_ids():
        for _ in range(5):
            run.stack.nudge(report)
    run.struck()


def nudged_while_asking(run: Run) -> None:
    run.stack.standin.script({"kind": "delay", "seconds": 1.0}, times=None)
    run.send_and_wait()
    run.wait_for(lambda: run.calls() >= 4, what="the model is asked")
    for report in run.report_ids():
        for _ in range(5):
            run.stack.nudge(report)
    run.struck()


def saved_message_pushed_again(run: Run) -> None:
    """The raw messages, once more while they are worked on and once more when all is done."""
    stack = run.stack
    stack.processes.signal("worker-a", signal.SIGSTOP)
    run.send_and_wait()
    run.wait_for(lambda: stack.broker.llen("live") >= 8, what="the nudges are out")
    saved: list[bytes] = stack.broker.lrange("live", 0, -1)  # type: ignore[assignment]
    stack.broker.lpush("live", *saved)
    stack.processes.signal("worker-a", signal.SIGCONT)
    run.watch()
    stack.broker.lpush("live", *saved)
    run.struck()


def poison(run: Run) -> None:
    """One report whose every worker dies: its attempts are bounded, and it says why it waits."""
    run.stack.processes.arm(run.case.point, run.case.times)
    run.send_and_wait(count=1)
    run.watch()
    waits = run.stack.query("SELECT parked, reason, attempts FROM classifier_job")
    if waits != [(True, "holder_died", MAX_ATTEMPTS)] or len(run.shots()) != MAX_ATTEMPTS:
        run.broken.append(f"V9 after {len(run.shots())} deaths the report waits like {waits}")


# --- two at once


def slow_beside_fast(run: Run) -> None:
    run.stack.processes.arm(run.case.point, run.case.times)
    run.send_and_wait()
    run.wait_for(lambda: bool(run.shots()), what=f"{run.case.point} fires")


def new_version(run: Run) -> None:
    """Another version becomes active while the first one's calls are under way."""
    run.stack.standin.script({"kind": "delay", "seconds": 0.8}, times=None)
    run.send(pause=0.1)
    run.wait_for(lambda: run.calls() >= 3, what="the model is asked")
    run.stack.activate_policy(SECOND_MODEL)
    run.struck()


def new_version_before_a_late_answer(run: Run) -> None:
    """A worker holds answers of the old version until the new one has answered."""
    run.stack.processes.arm(run.case.point, run.case.times)
    run.send_and_wait()
    run.wait_for(lambda: bool(run.shots()), what=f"{run.case.point} fires")
    run.stack.activate_policy(SECOND_MODEL)
    run.struck()


def three_versions(run: Run) -> None:
    run.stack.standin.script({"kind": "delay", "seconds": 0.8}, times=None)
    run.send(pause=0.1)
    run.wait_for(lambda: run.calls() >= 3, what="the model is asked")
    run.stack.activate_policy(SECOND_MODEL)
    run.wait_for(lambda: run.calls() >= 7, what="the second model is asked")
    run.stack.activate_policy("stand-in-third")
    run.struck()


def lost_nudges(run: Run) -> None:
    """Both sweeps find the same backlog."""
    run.stack.processes.signal("worker-a", signal.SIGSTOP)
    run.send_and_wait()
    run.stack.broker.delete("live")
    run.stack.processes.signal("worker-a", signal.SIGCONT)
    run.struck()


def a_sweep_dies_beside_another(run: Run) -> None:
    lost_nudges(run)
    run.stack.processes.signal("sweep-a", signal.SIGKILL)
    run.struck()


# --- the model


def model_says(*steps: dict[str, object], times: int | None) -> Callable[[Run], None]:
    """The next calls are answered like this; what follows is normal."""

    def play(run: Run) -> None:
        run.stack.standin.script(*steps, times=times)
        run.send_and_wait()
        run.struck()

    return play


def storm_of_429(run: Run) -> None:
    """The first report is refused more often than it has attempts; time is moved on.

    One call finds out for all, so a storm of any length falls on the most urgent report.
    """
    run.hasten = True
    step = {"kind": "error", "status": 429, "headers": {"Retry-After": "1"}}
    run.stack.standin.script(step, times=12)
    run.send_and_wait()
    run.struck()


def outage_of_the_model(run: Run) -> None:
    run.hasten = True
    run.stack.standin.script({"kind": "error", "status": 503}, times=12)
    run.send_and_wait()
    run.struck()


def _model_cases() -> list[Case]:
    late = {"kind": "drip", "seconds": timing.MODEL_DEADLINE + 0.6, "interval": 0.2}
    busy = {"kind": "error", "status": 429, "headers": {"Retry-After": "1"}}
    plays = {
        "answers after the deadline": model_says(late, times=4),
        "drops after the answer": model_says({"kind": "drop_after_answer"}, times=None),
        "cuts its answers": model_says({"kind": "cut"}, times=5),
        "refuses with 429 once": model_says(busy, times=10),
        "fails with 500": model_says({"kind": "error", "status": 500}, times=7),
        "hangs": model_says({"kind": "hang", "seconds": 4}, times=4),
        "answers with another ref": model_says({"kind": "wrong_ref"}, times=5),
        "answers garbage": model_says({"kind": "content", "content": "yes"}, times=5),
    }
    made = [
        Case(f"model {what}", play, bound=TWO_WAITS, quick=what == "drops after the answer")
        for what, play in plays.items()
    ]
    refuses = model_says({"kind": "refusal", "refusal": "no"}, times=3)
    made += [
        Case("model refuses to judge", refuses, same_order=False),
        Case("model in a storm of 429", storm_of_429),
        Case("model away for long", outage_of_the_model),
    ]
    return made


def _slow_cases() -> list[Case]:
    return [
        Case(
            f"a slow worker beside a fast one, {SLOW} at {point}",
            slow_beside_fast,
            layout=Layout(workers=2, armed="worker", action=SLOW),
            point=point,
            times=2,
            costs=1,
            may_answer=waits_for_its_rows(point),
            # A transaction that stands still is waited for, however long it stands.
            bound=timing.RECOVERY_BOUND + timing.LEASE,
        )
        for point in WORKER_POINTS
    ]


def _version_cases() -> list[Case]:
    late = ("task.after_model", "task.after_read", "record.after_supersede", "record.after_insert")
    return [
        Case("two policy versions at once", new_version),
        Case("three policy versions at once", three_versions),
        *(
            Case(
                f"a new policy version, old answers late at {point}",
                new_version_before_a_late_answer,
                layout=Layout(workers=2, armed="worker", action=BRIEF),
                point=point,
                times=2,
            )
            for point in late
        ),
    ]


def cases() -> list[Case]:
    return [
        Case("each report nudged five times", nudged_five_times, quick=True),
        Case("each report nudged five times while asking", nudged_while_asking),
        Case("saved messages pushed again", saved_message_pushed_again, quick=True),
        Case(
            "a report that kills every worker",
            poison,
            layout=Layout(armed="worker", action="kill"),
            point="task.after_model",
            times=MAX_ATTEMPTS + 1,
            costs=1,
            same_order=False,
        ),
        *_slow_cases(),
        *_version_cases(),
        Case("two sweeps, all nudges lost", lost_nudges, layout=Layout(sweeps=2)),
        Case("two sweeps, one dies", a_sweep_dies_beside_another, layout=Layout(sweeps=2)),
        Case(
            "two workers, two sweeps, undisturbed", _undisturbed, layout=Layout(workers=2, sweeps=2)
        ),
        *_model_cases(),
    ]


def _undisturbed(run: Run) -> None:
    run.send_and_wait()
