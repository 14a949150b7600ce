"""Two versions side by side: what was added, removed, changed or moved, and nothing else."""

from typing import Any

from classifier.models import Category, PolicyVersion
from classifier.policies.comparison import (
    WORDS_COMPARED,
    Change,
    Text,
    compare,
    compare_lines,
    compare_words,
)


def category(
    name: str, *, severity: int = 2, safe: bool = False, guidance: str = "What it is."
) -> Category:
    return {
        "id": name,
        "name": name.title(),
        "severity": severity,
        "safe": safe,
        "guidance": guidance,
    }


def version(*categories: Category, **changes: Any) -> PolicyVersion:
    values = {
        "number": 1,
        "model": "m",
        "prompt": "One.\nTwo.\nThree.",
        "safe_threshold": 0.8,
        "revisions": {"floor": 1},
        "content_hash": "0",
        **changes,
    }
    return PolicyVersion(categories=list(categories), **values)


def plain(text: Text | None) -> str | None:
    return None if text is None else "".join(piece.text for piece in text)


def marked(text: Text | None) -> list[str]:
    return [piece.text for piece in text or () if piece.differs]


def changes(old: list[Category], new: list[Category]) -> list[tuple[str, str]]:
    found = compare(version(*old), version(*new)).categories
    return [(pair.id, pair.change.value) for pair in found]


def test_the_same_is_the_same() -> None:
    found = compare(version(category("spam")), version(category("spam")))

    assert found.same_content
    assert [pair.change for pair in found.prompt] == [Change.SAME] * 3
    assert [pair.change for pair in found.categories] == [Change.SAME]
    assert found.revisions == []
    assert found.model.change == Change.SAME
    assert not found.safe_threshold.differs


def test_a_rewritten_line_stands_beside_its_new_wording_and_only_the_words_are_marked() -> None:
    pairs = compare_lines(["Same.", "Judge every text."], ["Same.", "Judge each  text."])

    assert [pair.change for pair in pairs] == [Change.SAME, Change.CHANGED]
    assert marked(pairs[1].old) == ["every "]
    assert marked(pairs[1].new) == ["each  "]
    assert plain(pairs[1].old) == "Judge every text."


def test_lines_that_only_one_side_has_stand_alone() -> None:
    pairs = compare_lines(["a", "b", "c"], ["b", "c", "d", ""])

    assert [(pair.change.value, plain(pair.old), plain(pair.new)) for pair in pairs] == [
        ("removed", "a", None),
        ("same", "b", "b"),
        ("same", "c", "c"),
        ("added", None, "d"),
        ("added", None, ""),
    ]


def test_both_sides_are_always_whole() -> None:
    old = ["x y z", "", " q\tr"]
    new = ["x z", " q  r", "new"]
    pairs = compare_lines(old, new)

    assert [plain(pair.old) for pair in pairs if pair.old is not None] == old
    assert [plain(pair.new) for pair in pairs if pair.new is not None] == new


def test_a_line_too_long_to_be_compared_by_words_is_marked_whole() -> None:
    long = "word " * WORDS_COMPARED

    pair = compare_words(long + "a", long + "b")

    assert marked(pair.old) == [long + "a"]
    assert marked(pair.new) == [long + "b"]


def test_categories_are_matched_by_their_ids() -> None:
    spam, hate, scam, none = (category(name) for name in ("spam", "hate", "scam", "none"))

    assert changes([spam, hate, none], [spam, scam, none]) == [
        ("spam", "same"),
        ("hate", "removed"),
        ("scam", "added"),
        ("none", "same"),
    ]
    assert changes([spam, none], [category("spam", severity=4), none]) == [
        ("spam", "changed"),
        ("none", "same"),
    ]


def test_one_that_moved_is_told_for_order_is_precedence_and_those_it_passed_are_not() -> None:
    a, b, c, d = (category(name) for name in "abcd")

    assert changes([a, b, c, d], [b, c, a, d]) == [
        ("b", "same"),
        ("c", "same"),
        ("a", "moved"),
        ("d", "same"),
    ]
    (pair,) = [
        each
        for each in compare(version(a, b, c, d), version(b, c, a, d)).categories
        if each.change == Change.MOVED
    ]
    assert (pair.old_place, pair.new_place) == (1, 3)


def test_a_category_that_moved_and_changed_is_told_as_changed() -> None:
    a, b, c = (category(name) for name in "abc")

    assert changes([a, b, c], [b, c, category("a", safe=True)])[2] == ("a", "changed")


def test_model_threshold_and_revisions_are_told_where_they_differ() -> None:
    found = compare(
        version(revisions={"floor": 1, "gone": 3, "kept": 1}),
        version(
            model="n",
            safe_threshold=0.9,
            revisions={"floor": 2, "new": 1, "kept": 1},
            content_hash="1",
        ),
    )

    assert (marked(found.model.old), marked(found.model.new)) == (["m"], ["n"])
    assert (found.safe_threshold.old, found.safe_threshold.new) == (0.8, 0.9)
    assert [(pair.name, pair.old, pair.new) for pair in found.revisions] == [
        ("floor", 1, 2),
        ("gone", 3, None),
        ("new", None, 1),
    ]
    assert not found.same_content
