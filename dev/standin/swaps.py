"""Where two calls exchange their answers."""

import threading

from dev.standin.answers import Answer


class _Place:
    def __init__(self, answer: Answer) -> None:
        self.mine = answer
        self.other: Answer | None = None


class Swaps:
    """Pairs calls in the order they come. Safe among threads."""

    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._changed = threading.Condition()
        self._waiting: _Place | None = None

    def exchange(self, answer: Answer, seconds: float) -> Answer:
        """The answer of another call within that time; this one where none comes."""
        with self._changed:
            if self._waiting is not None:
                place, self._waiting = self._waiting, None
                place.other = answer
                self._changed.notify_all()
                return place.mine
            if self._stopping.is_set():
                return answer
            place = self._waiting = _Place(answer)
            self._changed.wait_for(lambda: self._waiting is not place, seconds)
            if self._waiting is place:
                self._waiting = None
            return answer if place.other is None else place.other

    def release(self) -> None:
        """Let whoever waits go with their own answer."""
        with self._changed:
            self._waiting = None
            self._changed.notify_all()
