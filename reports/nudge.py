"""The nudge: a hint to the workers, handed over outside the request.

The row is the truth and the sweep finds it; so a nudge may be dropped, doubled or late, and the
request never waits for Redis. One small thread a process publishes from a bounded queue.
"""

import logging
import os
import queue
import threading
import time

from celery import current_app
from django.conf import settings
from django.db import models

from reports.failpoints import Point, hit

log = logging.getLogger(__name__)

TASK = "classifier.classify"  # by its name: intake does not import the classifier
QUEUED_AT_MOST = 1_000
# After a failed publish the broker is left alone for a while: each try costs seconds.
PAUSE_SECONDS = 5.0
# How long a count of the queue is trusted; meanwhile our own nudges are added to it.
LENGTH_HOLDS_SECONDS = 1.0


class Lane(models.TextChoices):
    """Which queue and worker: arrivals, or history. The value is the queue's name."""

    LIVE = "live"
    BATCH = "batch"


class _Publisher:
    """The thread and its queue. Made anew after a fork, because threads do not survive one."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.waiting: queue.Queue[tuple[int, Lane]] = queue.Queue(QUEUED_AT_MOST)
        self.resume_at = 0.0
        self.counted_at: dict[Lane, float] = {}
        self.lengths: dict[Lane, int] = {}
        threading.Thread(target=self._run, name="nudge", daemon=True).start()

    def offer(self, report_id: int, lane: Lane) -> bool:
        try:
            self.waiting.put_nowait((report_id, lane))
        except queue.Full:
            return False
        return True

    def _run(self) -> None:
        self._warm_up()
        while True:
            report_id, lane = self.waiting.get()
            if time.monotonic() < self.resume_at:
                continue  # dropped: the sweep will find the row
            try:
                if self._has_room(lane):
                    publish(report_id=report_id, lane=lane)
            except Exception as error:  # noqa: BLE001 - whatever the broker's client raises
                self.resume_at = time.monotonic() + PAUSE_SECONDS
                log.warning(
                    "nudges pause for %.0f s: the broker does not answer (%s)",
                    PAUSE_SECONDS,
                    type(error).__name__,
                )

    def _has_room(self, lane: Lane) -> bool:
        """False while the lane's queue is at its bound: with no worker running it would only grow."""
        now = time.monotonic()
        if now - self.counted_at.get(lane, -LENGTH_HOLDS_SECONDS) >= LENGTH_HOLDS_SECONDS:
            self.counted_at[lane], self.lengths[lane] = now, queue_length(lane)
        self.lengths[lane] += 1
        return self.lengths[lane] <= queue_bound(lane)

    def _warm_up(self) -> None:
        """Connect before the first nudge, which otherwise waits a second for it."""
        try:
            with current_app.producer_pool.acquire(block=True) as producer:
                if producer.connection is not None:
                    producer.connection.ensure_connection(max_retries=1)
        except Exception as error:  # noqa: BLE001 - the first publish will say more
            log.info("the broker does not answer yet (%s)", type(error).__name__)


_lock = threading.Lock()
_publisher: _Publisher | None = None


def nudge(*, report_id: int, lane: Lane) -> bool:
    """Hand over a hint and return at once; False when it was dropped because the queue is full."""
    return start_publisher().offer(report_id, lane)


def start_publisher() -> _Publisher:
    """The publisher of this process; a web process starts it before its first request."""
    global _publisher  # noqa: PLW0603 - one thread a process
    publisher = _publisher
    if publisher is None or publisher.pid != os.getpid():
        with _lock:
            publisher = _publisher
            if publisher is None or publisher.pid != os.getpid():
                publisher = _publisher = _Publisher()
    return publisher


def publish(*, report_id: int, lane: Lane) -> None:
    """Put one message into the lane's queue; raises what the broker's client raises."""
    current_app.send_task(
        TASK, kwargs={"report_id": report_id, "lane": lane}, queue=lane, retry=False
    )
    hit(Point.NUDGE_AFTER_PUBLISH)


def queue_bound(lane: Lane) -> int:
    """How many nudges may lie in the lane's queue."""
    bound: int = settings.QUEUE_BOUND if lane is Lane.LIVE else settings.BATCH_QUEUE_BOUND
    return bound


def queue_length(lane: Lane) -> int:
    """How many nudges lie in the lane's queue; raises what the broker's client raises."""
    with current_app.connection_for_read() as broker:
        redis = broker.default_channel.client  # type: ignore[attr-defined]  # of kombu's Redis
        return int(redis.llen(lane.value))
