"""What befalls Redis: before, while and after the reports are sent."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING

from dev.faults import timing
from dev.faults.cases import Case
from dev.faults.processes import Layout
from dev.faults.stack import wait_for_broker

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.faults.run import Run

OUTAGE = 2.5
# A worker that lost the broker asks again after 2, 4, 6 … s, and the web process after 5 s.
BACK_BOUND = timing.RECOVERY_BOUND + 6.0


def restarted_empty(run: Run) -> None:
    """Down for a while, and back without anything."""
    valkey = run.stack.valkey
    valkey.stop()
    shutil.rmtree(valkey.data / "appendonlydir", ignore_errors=True)
    run.lasts(OUTAGE)
    valkey.start()


def killed(run: Run) -> None:
    """Kill -9, back with its append-only file."""
    run.stack.valkey.kill()
    run.stack.valkey.start()


def away(run: Run) -> None:
    """Stopped for a while; it keeps its data."""
    run.stack.valkey.stop()
    run.lasts(OUTAGE)
    run.stack.valkey.start()


def flushed(run: Run) -> None:
    run.stack.broker.flushall()


def clients_killed(run: Run) -> None:
    run.stack.broker.client_kill_filter(_type="normal", skipme=True)


def paused(run: Run) -> None:
    run.stack.broker.client_pause(int(OUTAGE * 1000), all=True)
    run.lasts(OUTAGE)


def half_open(run: Run) -> None:
    """It accepts and never answers, longer than the clients' timeout of 5 s."""
    valkey = run.stack.valkey
    os.kill(valkey.pid, signal.SIGSTOP)
    try:
        run.lasts(6.5)
    finally:
        os.kill(valkey.pid, signal.SIGCONT)
    wait_for_broker(run.stack)


def full(run: Run) -> None:
    """Every write is refused."""
    run.stack.broker.config_set("maxmemory", 1)
    run.lasts(OUTAGE)
    run.stack.broker.config_set("maxmemory", 0)


def evicting(run: Run) -> None:
    """Wrongly set up as a cache: it throws the queue away to make room, and says nothing."""
    run.stack.broker.config_set("maxmemory-policy", "allkeys-lru")
    run.stack.broker.config_set("maxmemory", 1)
    run.lasts(OUTAGE)
    run.stack.mend()


FAULTS: tuple[tuple[str, Callable[[Run], None]], ...] = (
    ("restarted without persistence", restarted_empty),
    ("killed, back with its file", killed),
    ("away for a while", away),
    ("flushed", flushed),
    ("CLIENT KILL", clients_killed),
    ("paused", paused),
    ("half-open", half_open),
    ("full", full),
    ("evicting", evicting),
)


def before_sending(fault: Callable[[Run], None]) -> Callable[[Run], None]:
    """The reports arrive while the fault lasts."""

    def play(run: Run) -> None:
        run.send(pause=0.1)
        fault(run)
        run.struck()

    return play


def while_sending(fault: Callable[[Run], None]) -> Callable[[Run], None]:
    """Some reports are done, some on their way."""

    def play(run: Run) -> None:
        run.send(pause=0.05)
        run.wait_for(lambda: run.calls() >= 3, what="the model is asked")
        fault(run)
        run.struck()

    return play


def while_asking(fault: Callable[[Run], None]) -> Callable[[Run], None]:
    """All are sent, four are being asked about, the others queued."""

    def play(run: Run) -> None:
        run.stack.standin.script({"kind": "delay", "seconds": 1.0}, times=None)
        run.send_and_wait()
        run.wait_for(lambda: run.calls() >= 4, what="the model is asked")
        fault(run)
        run.struck()

    return play


MOMENTS = (
    ("before sending", before_sending),
    ("while sending", while_sending),
    ("while asking", while_asking),
)
QUICK = {"redis flushed while asking", "redis CLIENT KILL while asking"}


def cases() -> list[Case]:
    made = []
    for what, fault in FAULTS:
        for when, moment in MOMENTS:
            name = f"redis {what} {when}"
            made.append(Case(name, moment(fault), bound=BACK_BOUND, quick=name in QUICK))
    for what, fault in FAULTS:
        # What a broker keeps, the queue brings by itself.
        if fault in {killed, clients_killed, away}:
            made.append(
                Case(
                    f"redis {what} while asking, no sweep",
                    while_asking(fault),
                    layout=Layout(sweeps=0),
                    bound=timing.REDELIVERY_BOUND + 6.0,
                    may_lose=2,
                )
            )
    return made
