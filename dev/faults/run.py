"""One case while it runs: it sends, breaks something, and watches until everything is quiet."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psycopg
import redis

from dev.faults import timing
from dev.faults.client import Client, bodies

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from dev.faults.cases import Case
    from dev.faults.stack import Stack

# Pending and not parked: somebody or something still has to act.
UNSETTLED = """
SELECT count(*) FROM reports_report AS report WHERE status = 'pending' AND NOT EXISTS (
    SELECT FROM classifier_job AS job WHERE job.report_id = report.id AND job.parked)
"""
HELD = "SELECT count(*) FROM classifier_job WHERE lease_until > clock_timestamp()"
# Time is moved by writing rows: what waits is due, and no model rests.
HASTEN = """
UPDATE classifier_job SET not_before = NULL WHERE not_before IS NOT NULL AND NOT parked;
UPDATE classifier_providermodel SET rests_until = clock_timestamp()
    WHERE rests_until > clock_timestamp()
"""
VERDICTS = "SELECT report_id, policy_version_id, id, answer_hash FROM classifier_classification"
STEADY_SECONDS = 0.3


class NeverQuietError(Exception):
    """Something was still going on at the end of the case's time."""


@dataclass
class Run:
    """The state of one case. `faults` is how many model calls may have been lost to faults."""

    stack: Stack
    case: Case
    tag: str
    random: random.Random
    faults: int = 0
    fault_at: float = 0.0
    """When the last fault struck, or ended where it lasts; seconds since 1970, 0 for none."""
    hasten: bool = False
    broken: list[str] = field(default_factory=list)
    """What the case itself found not to be as it must."""
    replaced: list[str] = field(default_factory=list)
    longest_queue: int = 0

    def __post_init__(self) -> None:
        self.client = Client(self.stack.processes.port, self.stack.api_key)
        self._first: dict[tuple[int, int], tuple[int, str]] = {}
        self._woken: set[float] = set()
        self._deadline = time.monotonic() + timing.QUIET_SECONDS

    def began(self) -> None:
        """The slate is clean: the case's time runs from here."""
        self._deadline = time.monotonic() + timing.QUIET_SECONDS

    # --- what a case does

    def send(self, *, count: int = 10, pause: float = 0.0) -> None:
        """Begin to send the bodies, in a thread."""
        self.client.start(bodies(self.tag, count), pause=pause)

    def send_and_wait(self, *, count: int = 10) -> None:
        self.send(count=count)
        self.wait_for(lambda: not self.client.is_sending, what="everything is sent")

    def struck(self, *, costs: int = 0) -> None:
        """A fault has just struck or ended; it may have cost that many calls of the model."""
        self.fault_at = time.time()
        self.faults += costs

    def wait_for(self, condition: Callable[[], bool], *, what: str) -> None:
        """Until the condition holds; meanwhile the dead are revived and the stopped woken."""
        while not self._holds(condition):
            if time.monotonic() > self._deadline:
                raise NeverQuietError(f"{what}: not in {timing.QUIET_SECONDS:.0f} s")
            self.step()
            time.sleep(0.03)

    def lasts(self, seconds: float) -> None:
        """Let a fault last, and go on looking after the processes."""
        until = time.monotonic() + seconds
        self.wait_for(lambda: time.monotonic() > until, what="the fault's time")

    def calls(self) -> int:
        """How often the model was asked."""
        return len(self.about_reports())

    def about_reports(self) -> list[dict[str, Any]]:
        """The model's calls without those about a harmless text, which end a rest."""
        calls = self.stack.standin.calls()
        return [call for call in calls if call["ref"] and call["item_type"] != "probe"]

    def report_ids(self) -> list[int]:
        return [row[0] for row in self.stack.query("SELECT id FROM reports_report ORDER BY id")]

    def heal(self) -> None:
        """Sweep by hand what a case without a sweep has left, until all has its outcome."""

        def is_settled() -> bool:
            unsettled = self.stack.query(UNSETTLED)[0][0]
            if unsettled:
                self.stack.query(HASTEN)
                self.stack.sweep()
            return not unsettled

        self.wait_for(is_settled, what="a sweep brings the rest")

    # --- watching

    def watch(self) -> tuple[float, float]:
        """Until all is quiet; returns when every report had its outcome, and when it was quiet."""
        outcome_at = 0.0
        quiet_since = 0.0
        while not (quiet_since and time.time() - quiet_since > STEADY_SECONDS):
            if time.monotonic() > self._deadline:
                raise NeverQuietError(self._what_goes_on())
            self.step()
            settled, spent = self._look()
            now = time.time()
            if not settled:
                outcome_at = 0.0
            elif not outcome_at:
                outcome_at = now
            quiet_since = (quiet_since or now) if settled and spent else 0.0
            time.sleep(0.05)
        return outcome_at, quiet_since

    def step(self) -> None:
        """Look after the processes, and note each verdict as it was first seen."""
        self.stack.check()
        self.stack.processes.revive()
        self._wake()
        try:
            for report, version, row, digest in self.stack.query(VERDICTS):
                first = self._first.setdefault((report, version), (row, digest))
                if first != (row, digest):
                    self.replaced.append(f"report {report} under {version}")
            if self.hasten:
                self.stack.query(HASTEN)
        except psycopg.OperationalError:
            pass

    def vanished(self) -> list[str]:
        """Verdicts that were seen and are no longer there."""
        there = {(report, version) for report, version, *_ in self.stack.query(VERDICTS)}
        return [
            f"report {report} under {version}" for report, version in self._first.keys() - there
        ]

    def shots(self) -> list[float]:
        return self.stack.processes.fired(self.case.point, self.case.times)

    def _look(self) -> tuple[bool, bool]:
        """Whether every report has its outcome; whether all messages are spent and all leases over."""
        if self.client.is_sending or self._sleeps():
            return False, False
        try:
            unsettled = self.stack.query(UNSETTLED)[0][0]
            held = self.stack.query(HELD)[0][0]
            queued: Any = self.stack.broker.llen("live")
            unacked: Any = self.stack.broker.hlen("unacked")
        except (psycopg.OperationalError, redis.RedisError):
            return False, False
        self.longest_queue = max(self.longest_queue, queued)
        spent = not queued and not unacked and not held
        # Without a sweep what waits keeps waiting: that is its outcome for now.
        without_sweep = not self.case.layout.sweeps
        return (not unsettled) or (without_sweep and spent), spent

    def _wake(self) -> None:
        """SIGCONT to what a fail point stopped, once its leases have run out."""
        if self.case.layout.action != "stop":
            return
        for moment in self.shots():
            if moment not in self._woken and time.time() > moment + timing.STOPPED_FOR:
                self._woken.add(moment)
                self.stack.processes.signal(self._armed_name(), signal.SIGCONT)
                self.fault_at = time.time()

    def _sleeps(self) -> bool:
        return self.case.layout.action == "stop" and len(self._woken) < len(self.shots())

    def _armed_name(self) -> str:
        armed = self.case.layout.armed
        return armed if armed == "web" else f"{armed}-a"

    def _holds(self, condition: Callable[[], bool]) -> bool:
        try:
            return condition()
        except (psycopg.OperationalError, redis.RedisError):
            return False

    def _what_goes_on(self) -> str:
        try:
            unsettled = self.stack.query(UNSETTLED)[0][0]
            held = self.stack.query(HELD)[0][0]
            queued: Any = self.stack.broker.llen("live")
            unacked: Any = self.stack.broker.hlen("unacked")
        except (psycopg.OperationalError, redis.RedisError) as error:
            return f"a server does not answer: {error}"
        return (
            f"sending {self.client.is_sending}, {unsettled} without outcome, {held} leased, "
            f"{queued} queued, {unacked} not acknowledged"
        )
