"""A conversation too long for a model, as windows that are judged one by one; nothing is left out.

Costs are tokens of a piece with its frame, and add up. The caller's `cost` is asked about once for
every message, and a few times for every part of a message that is cut.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import regex

# Of a window's budget, what neighbours may share on top of what the window is there for.
_SHARED = 8
# Code points that two parts of one message share, so that a threat on the cut is whole in one.
_OVERLAP = 240
# Longer graphemes are nobody's writing (thousands of marks on one letter): cut inside, at a code
# point.
_LONGEST_GRAPHEME = 64
# So far around a cut borders are looked for as well, which keeps its cost the same wherever it is. In
# a longer row of flags, with nothing else, one may be halved.


class TooManyWindowsError(Exception):
    """More windows than allowed, or one grapheme over the budget; `needed` is the least number."""

    def __init__(self, needed: int) -> None:
        super().__init__(f"{needed} windows")
        self.needed = needed


@dataclass(frozen=True)
class Piece:
    """A message, by its index from 0, or one part of it (`part` of `parts`, from 1)."""

    message: int
    text: str
    part: int = 1
    parts: int = 1


@dataclass(frozen=True)
class Window:
    """Pieces in the conversation's order; costs no more than the budget."""

    pieces: tuple[Piece, ...]

    @property
    def covers(self) -> list[int]:
        """The messages of which at least a part stands here."""
        return list(dict.fromkeys(piece.message for piece in self.pieces))


def split(
    *,
    texts: Sequence[str],
    reported: Sequence[bool],
    cost: Callable[[Piece], int],
    budget: int,
    at_most: int,
) -> list[Window]:
    """One window where all fits, else several that together hold every character.

    Windows around the reported messages come first, with as much context as fits, nearest first;
    then the rest, from the nearest on, sharing about an eighth of the budget with its neighbours.
    Where none is reported all are. A message over the budget is cut between graphemes into parts
    that share up to 240 code points; within a grapheme of more than 64, at a code point.

    Raises `TooManyWindowsError` beyond `at_most` windows. Source of the order: the reference on
    token counting, section 5.
    """
    wholes = [Piece(message, text) for message, text in enumerate(texts)]
    costs = [cost(piece) for piece in wholes]
    if sum(costs) <= budget:
        return [Window(tuple(wholes))]
    if budget < 1 or (least := math.ceil(sum(costs) / budget)) > at_most:
        raise TooManyWindowsError(least if budget >= 1 else at_most + 1)
    core = budget - budget // _SHARED
    units: list[tuple[Piece, int]] = []
    for piece, whole in zip(wholes, costs, strict=True):
        units += (
            [(piece, whole)]
            if whole <= budget
            else _parts(piece, cost, core=core, whole=whole, at_most=at_most)
        )
    marked = any(reported)
    wanted = [not marked or reported[piece.message] for piece, _cost in units]
    ranges = _Packing([each for _piece, each in units], budget=budget, core=core).ranges(wanted)
    if len(ranges) > at_most:
        raise TooManyWindowsError(len(ranges))
    return [Window(tuple(piece for piece, _cost in units[a:b])) for a, b in ranges]


@dataclass(frozen=True)
class _Packing:
    """Which ranges of units (from, up to but without) make the windows; only costs matter here."""

    costs: Sequence[int]
    budget: int
    core: int

    def ranges(self, wanted: Sequence[bool]) -> list[tuple[int, int]]:
        first = [
            self._grown(each, room=self.budget)
            for each in self._packed([index for index, is_wanted in enumerate(wanted) if is_wanted])
        ]
        covered = [False] * len(self.costs)
        for start, end in first:
            covered[start:end] = [True] * (end - start)
        rest: list[tuple[int, int]] = []
        for run in _runs(covered):
            inside = range(*run)
            whole = self._cost(run) <= self.budget
            for each in [run] if whole else self._packed(inside):
                room = min(self.budget, self._cost(each) + self.budget // _SHARED)
                rest.append(self._grown(each, room=room))
        near = _distances(wanted)
        rest.sort(key=lambda each: (min(near[each[0] : each[1]]), each))
        return first + rest

    def _cost(self, each: tuple[int, int]) -> int:
        return sum(self.costs[each[0] : each[1]])

    def _packed(self, indices: Sequence[int]) -> list[tuple[int, int]]:
        """Ranges that hold the units named, and what is between; as few as go into the core."""
        found: list[tuple[int, int]] = []
        spent = 0
        for index in indices:
            if found:
                more = self._cost((found[-1][1], index + 1))
                if spent + more <= self.core:
                    found[-1], spent = (found[-1][0], index + 1), spent + more
                    continue
            found.append((index, index + 1))
            spent = self.costs[index]
        return found

    def _grown(self, each: tuple[int, int], *, room: int) -> tuple[int, int]:
        """With units before and after, in turn, while they fit; a side ends at the first misfit."""
        start, end = each
        left = room - self._cost(each)
        before = after = True
        while before or after:
            if before := before and start > 0 and self.costs[start - 1] <= left:
                start -= 1
                left -= self.costs[start]
            if after := after and end < len(self.costs) and self.costs[end] <= left:
                left -= self.costs[end]
                end += 1
        return start, end


def _runs(covered: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The longest ranges of units that no window holds yet."""
    start = None
    for index, is_covered in enumerate([*covered, True]):
        if is_covered and start is not None:
            yield start, index
            start = None
        elif not is_covered and start is None:
            start = index


def _distances(wanted: Sequence[bool]) -> list[int]:
    """How many units each is away from the nearest wanted one."""
    far = len(wanted)
    found = [far] * far
    for indices in (range(far), range(far - 1, -1, -1)):
        last = far
        for index in indices:
            last = 0 if wanted[index] else last + 1
            found[index] = min(found[index], last)
    return found


def _parts(
    piece: Piece, cost: Callable[[Piece], int], *, core: int, whole: int, at_most: int
) -> list[tuple[Piece, int]]:
    """The message in parts, each with a cost within the core."""

    def cost_of(start: int, end: int) -> int:
        # The number of parts is not known yet; no number written out is longer than this one.
        return cost(replace(piece, text=piece.text[start:end], part=9_999, parts=9_999))

    spans = list(cut(piece.text, cost_of, budget=core, whole=whole, at_most=at_most))
    return [
        (Piece(piece.message, piece.text[start:end], part, len(spans)), each)
        for part, (start, end, each) in enumerate(spans, 1)
    ]


def cut(
    text: str, cost: Callable[[int, int], int], *, budget: int, whole: int, at_most: int
) -> Iterator[tuple[int, int, int]]:
    """Spans of the text (from, up to, cost) within the budget, each sharing its start with the last.

    `whole` is about the cost of all: the first guess at how much fits. Raises `TooManyWindowsError`
    where a single grapheme costs more, and beyond `at_most` twice over.
    """
    start, end, made = 0, 0, 0
    size = int(len(text) * budget / max(whole, 1) * 0.99)
    while end < len(text):
        if made > 2 * at_most:
            raise TooManyWindowsError(made)
        before = end
        end, spent = _longest(text, start, size, cost, budget)
        if spent > budget:
            raise TooManyWindowsError(at_most + 1)
        if end <= before:  # The shared start took all the room.
            start = before
            continue
        yield start, end, spent
        made += 1
        shared = _border(text, end - min(_OVERLAP, (end - start) // 4), after=start)
        size = int((end - start) * budget / max(spent, 1) * 0.99)
        start = shared if start < shared < end else end


def _longest(
    text: str, start: int, size: int, cost: Callable[[int, int], int], budget: int
) -> tuple[int, int]:
    """A border as far from `start` as fits, nearly, and the cost up to there.

    A few guesses by proportion: texts are much the same throughout. Over the budget: one grapheme.
    """
    best: tuple[int, int] | None = None
    too_far = len(text) + 1
    for _guess in range(12):
        end = _border(text, min(start + max(size, 1), len(text)), after=start)
        if best and end <= best[0]:
            break
        spent = cost(start, end)
        if spent <= budget:
            best = end, spent
            if spent >= budget * 0.8 or end == len(text) or end + 1 >= too_far:
                break
        elif end <= _border(text, start + 1, after=start):
            return best or (end, spent)
        else:
            too_far = end
        size = int((end - start) * min(2.0, max(0.1, budget / max(spent, 1) * 0.95)))
        size = min(size, too_far - 1 - start)
    return best or _halved(text, start, too_far, cost, budget)


def _halved(
    text: str, start: int, too_far: int, cost: Callable[[int, int], int], budget: int
) -> tuple[int, int]:
    """Where proportion misleads: half as much until it fits, or until it is one grapheme."""
    size = too_far - start
    while True:
        size //= 2
        end = _border(text, start + max(size, 1), after=start)
        spent = cost(start, end)
        if spent <= budget or size <= 1:
            return end, spent


def _border(text: str, at: int, *, after: int) -> int:
    """The last border between graphemes up to `at`; the next one where none is left `after`."""
    if at >= len(text):
        return len(text)
    begin = max(after, at - _LONGEST_GRAPHEME)
    ends = [
        begin + found.end() for found in regex.finditer(r"\X", text[begin : at + _LONGEST_GRAPHEME])
    ]
    near = [end for end in ends if end <= at]
    if near:
        return near[-1]
    # A first one that goes on for so long is cut where it is.
    return ends[0] if ends[0] - begin < _LONGEST_GRAPHEME else at
