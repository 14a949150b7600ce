"""What befalls PostgreSQL while reports are sent, while the model is asked, while verdicts are written."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psycopg

from dev.faults import timing
from dev.faults.cases import AWAY, NONE, Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.faults.run import Run

OUTAGE = 1.5
LOCKED = 2.0
OTHERS = "pid <> pg_backend_pid() AND backend_type = 'client backend'"


def fast_restart(run: Run) -> None:
    run.stack.postgres.stop("fast")
    run.stack.postgres.start()


def immediate_restart(run: Run) -> None:
    run.stack.postgres.stop("immediate")
    run.stack.postgres.start()


def killed(run: Run) -> None:
    """Kill -9 of the postmaster; the backends end by themselves."""
    run.stack.postgres.kill()
    run.stack.postgres.start()


def away(run: Run) -> None:
    run.stack.postgres.stop("fast")
    run.lasts(OUTAGE)
    run.stack.postgres.start()


def one_backend_ended(run: Run) -> None:
    backends = run.stack.query(
        f"SELECT pid FROM pg_stat_activity WHERE {OTHERS} ORDER BY pid"  # noqa: S608  a constant
    )
    run.stack.query("SELECT pg_terminate_backend(%s)", [run.random.choice(backends)[0]])


def all_backends_ended(run: Run) -> None:
    run.stack.query(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {OTHERS}"  # noqa: S608  a constant
    )


def connections_exhausted(run: Run) -> None:
    """Every slot is taken for a while, and who held one before is cut off."""
    taken: list[psycopg.Connection] = []
    with contextlib.ExitStack() as ending:
        all_backends_ended(run)
        with contextlib.suppress(psycopg.OperationalError):
            while len(taken) < 250:
                connection = run.stack.connect()
                ending.callback(connection.close)
                taken.append(connection)
        run.lasts(OUTAGE)


def rows_locked(run: Run) -> None:
    """Somebody holds the rows of every report, for less than a lease."""
    with run.stack.connect() as other, other.transaction():
        other.execute("SELECT FROM reports_report FOR UPDATE")
        run.lasts(LOCKED)


def rows_locked_past_the_lease(run: Run) -> None:
    with run.stack.connect() as other, other.transaction():
        other.execute("SELECT FROM reports_report WHERE status = 'pending' FOR UPDATE")
        run.lasts(timing.LEASE + 1.0)


def items_locked(run: Run) -> None:
    with run.stack.connect() as other, other.transaction():
        other.execute("SELECT FROM reports_item FOR UPDATE")
        run.lasts(LOCKED)


FAULTS: tuple[tuple[str, Callable[[Run], None]], ...] = (
    ("restarted fast", fast_restart),
    ("restarted immediately", immediate_restart),
    ("killed", killed),
    ("away for a while", away),
    ("loses one backend", one_backend_ended),
    ("loses all backends", all_backends_ended),
    ("has no connection left", connections_exhausted),
    ("has the reports locked", rows_locked),
    ("has the reports locked past the lease", rows_locked_past_the_lease),
    ("has the items locked", items_locked),
)


def while_sending(fault: Callable[[Run], None]) -> Callable[[Run], None]:
    def play(run: Run) -> None:
        run.send(pause=0.05)
        run.wait_for(lambda: run.calls() >= 2, what="the model is asked")
        fault(run)
        # An answer is kept in hand until the lease ends; only what lasts longer may cost a call.
        run.struck(costs=int(fault is rows_locked_past_the_lease))

    return play


def while_asking(fault: Callable[[Run], None]) -> Callable[[Run], None]:
    def play(run: Run) -> None:
        run.stack.standin.script({"kind": "delay", "seconds": 0.8}, times=None)
        run.send_and_wait()
        run.wait_for(lambda: run.calls() >= 4, what="the model is asked")
        fault(run)
        # An answer is kept in hand until the lease ends; only what lasts longer may cost a call.
        run.struck(costs=int(fault is rows_locked_past_the_lease))

    return play


QUICK = {"postgres restarted fast while asking", "postgres loses all backends while sending"}


def cases() -> list[Case]:
    made = []
    for what, fault in FAULTS:
        for when, moment in (("while sending", while_sending), ("while asking", while_asking)):
            name = f"postgres {what} {when}"
            made.append(
                Case(
                    name,
                    moment(fault),
                    may_answer=frozenset({NONE, AWAY}),
                    quick=name in QUICK,
                )
            )
    return made
