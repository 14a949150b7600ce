"""What the reconciling process does between two pieces of work: it shows that it lives, and gives way."""

import logging
import math
import time
from collections.abc import Callable

from django.conf import settings
from django.db.models.functions import Now

from classifier.batches.pressure import live_lane_waits
from classifier.models import Heartbeat

log = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
LOOK_AGAIN_SECONDS = 1.0
LOOK_EVERY = 20


class BetweenPieces:
    """Called after each piece: each `look_every`th time it waits for as long as arrivals wait too long.

    `wait` sleeps so many seconds.
    """

    def __init__(self, *, wait: Callable[[float], object], look_every: int = LOOK_EVERY) -> None:
        self._wait = wait
        self._look_every = look_every
        self._pieces = 0
        self._beaten = -math.inf

    def __call__(self) -> None:
        self.beat()
        self._pieces += 1
        if self._pieces % self._look_every or not live_lane_waits():
            return
        began = time.monotonic()
        log.info(
            "history waits: arrivals that could be asked have waited for more than %g s",
            settings.LIVE_TARGET_SECONDS,
        )
        while live_lane_waits():
            self._wait(LOOK_AGAIN_SECONDS)
            self.beat()
        log.info("history goes on after %.0f s", time.monotonic() - began)

    def beat(self) -> None:
        """Leave a heartbeat, unless the last one is of just now."""
        now = time.monotonic()
        if now - self._beaten < BEAT_SECONDS:
            return
        self._beaten = now
        Heartbeat.objects.update_or_create(name=Heartbeat.RECONCILE, defaults={"at": Now()})
