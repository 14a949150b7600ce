"""What two policy versions say differently, for a page that sets them side by side."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import Generic, TypeVar

from classifier.models import Category, PolicyVersion

# Word by word takes the square of the words: a longer line is shown as changed whole.
WORDS_COMPARED = 1_000

Value = TypeVar("Value")


class Change(StrEnum):
    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    MOVED = "moved"


@dataclass(frozen=True)
class Piece:
    """A stretch of text, and whether the other side has it."""

    text: str
    differs: bool


Text = tuple[Piece, ...]


@dataclass(frozen=True)
class TextPair:
    """A line of each side; None where a side has none."""

    change: Change
    old: Text | None
    new: Text | None


@dataclass(frozen=True)
class CategoryPair:
    """One category on each side, with its place in the order of precedence, from 1."""

    id: str
    change: Change
    old: Category | None
    new: Category | None
    old_place: int | None
    new_place: int | None
    guidance: TextPair


@dataclass(frozen=True)
class ValuePair(Generic[Value]):
    name: str
    old: Value | None
    new: Value | None

    @property
    def differs(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True)
class Comparison:
    model: TextPair
    safe_threshold: ValuePair[float]
    prompt: list[TextPair]
    categories: list[CategoryPair]
    revisions: list[ValuePair[int]]
    """Only those that differ."""
    same_content: bool


def compare(old: PolicyVersion, new: PolicyVersion) -> Comparison:
    """Both sides in full, but of the rules' revisions, where only what differs is told."""
    names = sorted(old.revisions.keys() | new.revisions.keys())
    revisions = [ValuePair(n, old.revisions.get(n), new.revisions.get(n)) for n in names]
    return Comparison(
        model=compare_words(old.model, new.model),
        safe_threshold=ValuePair("safe_threshold", old.safe_threshold, new.safe_threshold),
        prompt=compare_lines(old.prompt.split("\n"), new.prompt.split("\n")),
        categories=_categories(old.categories, new.categories),
        revisions=[pair for pair in revisions if pair.differs],
        same_content=old.content_hash == new.content_hash,
    )


def compare_lines(old: Sequence[str], new: Sequence[str]) -> list[TextPair]:
    """All lines, equal ones beside each other; a line that was rewritten beside its new wording."""
    pairs: list[TextPair] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pairs += [TextPair(Change.SAME, _whole(line), _whole(line)) for line in old[a:b]]
            continue
        both = min(b - a, d - c)
        pairs += [compare_words(old[a + n], new[c + n]) for n in range(both)]
        pairs += [_one_sided(line, None) for line in old[a + both : b]]
        pairs += [_one_sided(None, line) for line in new[c + both : d]]
    return pairs


def compare_words(old: str, new: str) -> TextPair:
    """One text beside the other, what differs marked by words; white space counts."""
    if old == new:
        return TextPair(Change.SAME, _whole(old), _whole(new))
    a, b = (re.findall(r"\s+|\S+", text) for text in (old, new))
    if not a or not b or max(len(a), len(b)) > WORDS_COMPARED:
        return TextPair(Change.CHANGED, _whole(old, differs=True), _whole(new, differs=True))
    steps = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return TextPair(
        Change.CHANGED,
        tuple(Piece("".join(a[i:j]), kind != "equal") for kind, i, j, _k, _m in steps if i < j),
        tuple(Piece("".join(b[k:m]), kind != "equal") for kind, _i, _j, k, m in steps if k < m),
    )


def _one_sided(old: str | None, new: str | None) -> TextPair:
    return TextPair(
        Change.ADDED if old is None else Change.REMOVED,
        None if old is None else _whole(old, differs=True),
        None if new is None else _whole(new, differs=True),
    )


def _whole(text: str, *, differs: bool = False) -> Text:
    return (Piece(text, differs),) if text else ()


def _categories(old: Sequence[Category], new: Sequence[Category]) -> list[CategoryPair]:
    """In the new order, each removed one where it stood. One moved whose order among others changed."""
    before = {each["id"]: (place, each) for place, each in enumerate(old, 1)}
    after = {each["id"]: (place, each) for place, each in enumerate(new, 1)}
    pairs: list[CategoryPair] = []
    for kind, a, b, c, d in SequenceMatcher(
        None, list(before), list(after), autojunk=False
    ).get_opcodes():
        gone = [key for key in list(before)[a:b] if key not in after]
        pairs += [_pair(key, before[key], None, moved=False) for key in gone]
        pairs += [
            _pair(key, before.get(key), after[key], moved=kind != "equal")
            for key in list(after)[c:d]
        ]
    return pairs


def _pair(
    key: str,
    old: tuple[int, Category] | None,
    new: tuple[int, Category] | None,
    *,
    moved: bool,
) -> CategoryPair:
    old_place, before = old or (None, None)
    new_place, after = new or (None, None)
    if before is None or after is None:
        change = Change.ADDED if before is None else Change.REMOVED
        guidance = _one_sided(
            before["guidance"] if before else None, after["guidance"] if after else None
        )
    else:
        change = Change.CHANGED if before != after else Change.MOVED if moved else Change.SAME
        guidance = compare_words(before["guidance"], after["guidance"])
    return CategoryPair(key, change, before, after, old_place, new_place, guidance)
