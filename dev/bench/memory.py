"""Whether a process's memory stays flat: its peak after a fifth of the work, and at the end."""

import resource


class Watched:
    """`look` is called now and then; the peak so far is what is noted."""

    def __init__(self) -> None:
        self._seen: list[int] = []

    def look(self) -> None:
        self._seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    @property
    def after_a_fifth(self) -> float:
        """MB."""
        return round(self._seen[len(self._seen) // 5] / 1024, 1)

    @property
    def at_the_end(self) -> float:
        """MB."""
        return round(self._seen[-1] / 1024, 1)
