"""Patterns that begin at a word, put together so that a long text without them costs little.

`re` skips to the first letters of a pattern quickly only where every alternative begins with a
plain letter. So the letter stands first and what must not stand before it is tested after it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """One alternative of a pattern: its first letter, and a pattern for the rest of it."""

    letter: str
    rest: str


def at_word(starts: str, rest: str = "", *, after: str = "", unless: str = "") -> tuple[Piece, ...]:
    """What begins with one of the words `starts` (parted by |, each with a plain first letter).

    A letter of `after` may be written onto the beginning of the word. `unless` are patterns of
    fixed length (parted by |) of what must not stand before the word.
    """
    return tuple(
        Piece(letter, _begins(letter, after) + _unless(letter, tails, unless) + tails + rest)
        for letter, tails in _by_letter(starts)
    )


def anywhere(starts: str, rest: str = "") -> tuple[Piece, ...]:
    """The same for what may stand within a word."""
    return tuple(Piece(letter, tails + rest) for letter, tails in _by_letter(starts))


def any_of(*pieces: Iterable[Piece]) -> re.Pattern[str]:
    """One pattern of them all."""
    rests: defaultdict[str, list[str]] = defaultdict(list)
    for letter, rest in (piece for each in pieces for piece in each):
        rests[letter].append(rest)
    return re.compile("|".join(f"{letter}(?:{'|'.join(each)})" for letter, each in rests.items()))


def _by_letter(starts: str) -> list[tuple[str, str]]:
    tails: defaultdict[str, list[str]] = defaultdict(list)
    for start in starts.split("|"):
        tails[start[0]].append(start[1:])
    return [(letter, f"(?:{'|'.join(each)})") for letter, each in tails.items()]


def _begins(letter: str, after: str) -> str:
    begins = rf"(?<!\w{letter})"
    return rf"(?:{begins}|(?<=\b[{after}]{letter}))" if after else begins


def _unless(letter: str, tails: str, unless: str) -> str:
    if not unless:
        return ""
    # The word itself is tried first: what must not stand before it may be a long list.
    return f"(?={tails})" + "".join(rf"(?<!{before} {letter})" for before in unless.split("|"))
