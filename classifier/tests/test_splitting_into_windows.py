import itertools
import math
import random

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from classifier.tokens import Counting, count
from classifier.windows import Piece, TooManyWindowsError, Window, cut, split

FRAME = 8


def bytes_cost(piece: Piece) -> int:
    return len(piece.text.encode()) + FRAME


def split_up(
    texts: list[str], *, reported: tuple[int, ...] = (0,), budget: int = 400, at_most: int = 10_000
) -> list[Window]:
    return split(
        texts=texts,
        reported=[index in reported for index in range(len(texts))],
        cost=bytes_cost,
        budget=budget,
        at_most=at_most,
    )


SIGNS = st.sampled_from(
    ["a", "b", " ", "ه", "ً", "😂", "\u200d", "👩🏽", "🇪", "🇬", "é", "e\u0301", "한", "\n"]
)
TEXTS = st.lists(SIGNS, max_size=900).map("".join)
CONVERSATIONS = st.lists(st.one_of(TEXTS, st.text(max_size=60)), min_size=1, max_size=25)


def test_what_fits_is_one_window_in_order() -> None:
    [window] = split_up(["one", "", "two"])
    assert window.pieces == (Piece(0, "one"), Piece(1, ""), Piece(2, "two"))
    assert window.covers == [0, 1, 2]


@given(texts=CONVERSATIONS, budget=st.integers(60, 2_000), data=st.data())
def test_every_message_and_character_stands_in_a_window_within_the_budget(
    texts: list[str], budget: int, data: st.DataObject
) -> None:
    reported = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    windows = split(texts=texts, reported=reported, cost=bytes_cost, budget=budget, at_most=10_000)
    pieces = {piece for window in windows for piece in window.pieces}
    assert {piece.message for piece in pieces} == set(range(len(texts)))
    for window in windows:
        assert sum(map(bytes_cost, window.pieces)) <= budget
        order = [(piece.message, piece.part) for piece in window.pieces]
        assert order == sorted(set(order))
    for message, text in enumerate(texts):
        parts = sorted((p for p in pieces if p.message == message), key=lambda p: p.part)
        assert [part.part for part in parts] == list(range(1, parts[0].parts + 1))
        assert {part.parts for part in parts} == {len(parts)}
        assert stitched([part.text for part in parts], text)
    if any(reported):
        holds = [any(reported[index] for index in window.covers) for window in windows]
        assert holds[: sum(holds)] == [True] * sum(holds) or grew_over(windows, reported)


def grew_over(windows: list[Window], reported: list[bool]) -> bool:
    """A later window may share a reported message as context; the first ones hold all of them."""
    seen: set[int] = set()
    wanted = {index for index, each in enumerate(reported) if each}
    for window in windows:
        if wanted <= seen:
            return True
        if not wanted & set(window.covers):
            return False
        seen.update(window.covers)
    return True


def stitched(parts: list[str], text: str) -> bool:
    """Do the parts, each overlapping the one before, spell the text?"""
    reached = {0}
    for part in parts:
        reached = {
            at + len(part)
            for end in reached
            for at in range(max(0, end - len(part)), end + 1)
            if at + len(part) >= end and text.startswith(part, at)
        }
    return len(text) in reached


@given(text=TEXTS.filter(bool), budget=st.integers(40, 500))
def test_the_parts_of_a_message_lose_no_character_and_break_no_grapheme(
    text: str, budget: int
) -> None:
    def cost(start: int, end: int) -> int:
        return len(text[start:end].encode())

    try:
        spans = list(cut(text, cost, budget=budget, whole=cost(0, len(text)), at_most=10_000))
    except TooManyWindowsError:
        assert max(len(each.encode()) for each in regex.findall(r"\X", text)) > budget
        return
    borders = {0, *itertools.accumulate(map(len, regex.findall(r"\X", text)))}
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    for (start, end, spent), (begin, until, _spent) in itertools.pairwise(spans):
        assert start < begin <= end < until
        assert spent <= budget
    assert {position for start, end, _ in spans for position in (start, end)} <= borders


@given(
    lengths=st.lists(st.integers(0, 4_000), min_size=1, max_size=30),
    place=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    seed=st.integers(0, 9),
)
def test_a_threat_at_any_place_stands_whole_in_some_window(
    lengths: list[int], place: tuple[float, float], seed: int
) -> None:
    letters = random.Random(seed)  # noqa: S311 - texts, not secrets
    texts = ["".join(letters.choices("abc d", k=length)) for length in lengths]
    needle = "سأنتظرك غدا عند باب المدرسة and nobody will know 🔪"
    message = min(int(place[0] * len(texts)), len(texts) - 1)
    at = int(place[1] * len(texts[message]))
    texts[message] = texts[message][:at] + needle + texts[message][at:]
    windows = split_up(texts, reported=(0,), budget=1_200)
    assert any(needle in piece.text for window in windows for piece in window.pieces)


@given(
    lengths=st.lists(st.integers(0, 300), min_size=1, max_size=120),
    share=st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    seed=st.integers(0, 9),
)
def test_there_are_few_windows(lengths: list[int], share: float, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - texts, not secrets
    texts = ["a" * length for length in lengths]
    reported = tuple(index for index in range(len(texts)) if chance.random() < share)
    least = math.ceil(sum(len(text) + FRAME for text in texts) / 2_000)
    assert len(split_up(texts, reported=reported, budget=2_000)) <= 2 * least + 1


def test_the_window_around_the_reported_message_comes_first_then_the_nearest() -> None:
    texts = [f"{number:03} {'x' * 84}" for number in range(60)]
    windows = split_up(texts, reported=(30,))
    assert windows[0].covers == [28, 29, 30, 31]
    away = [min(abs(index - 30) for index in window.covers) for window in windows]
    assert away == sorted(away)


def test_neighbours_share_messages() -> None:
    texts = [f"{number:03} {'x' * 26}" for number in range(60)]
    windows = sorted(split_up(texts, reported=(0,)), key=lambda window: window.covers)
    for one, other in itertools.pairwise(windows):
        assert set(one.covers) & set(other.covers)


def test_where_none_is_reported_all_are() -> None:
    windows = split_up(["x" * 100] * 20, reported=())
    assert [window.covers[0] for window in windows] == sorted(w.covers[0] for w in windows)


def test_twice_the_same() -> None:
    texts = [("word " * (number * 37 % 91)) for number in range(80)]
    assert split_up(texts, reported=(7, 50)) == split_up(texts, reported=(7, 50))


def test_thousands_of_marks_on_one_letter_are_cut_at_a_code_point() -> None:
    text = "a" + "".join(chr(0x300 + number * number % 97) for number in range(20_000))
    windows = split_up([text])
    parts = sorted((p for window in windows for p in window.pieces), key=lambda p: p.part)
    assert stitched([part.text for part in parts], text)


@pytest.mark.parametrize("budget", [0, -5, 12])
def test_a_grapheme_over_the_budget_is_for_a_person(budget: int) -> None:
    with pytest.raises(TooManyWindowsError):
        split_up(["👨‍👩‍👧‍👦" * 3], budget=budget)


def test_too_many_windows_are_told_with_their_number() -> None:
    with pytest.raises(TooManyWindowsError) as told:
        split_up(["x" * 392] * 12, at_most=11)
    assert told.value.needed == 12


@pytest.mark.parametrize("sign", ["a", "ه", "\u0301", "😂", "word "])
def test_the_largest_conversation_asks_for_few_costs(sign: str) -> None:
    counting, asked = Counting(ratios={"latin": 0.3}), 0

    def cost(piece: Piece) -> int:
        nonlocal asked
        asked += len(piece.text)
        return count(piece.text, counting) + 16

    text = (sign * 20_000)[:20_000]
    windows = split(
        texts=[text] * 500,
        reported=[index == 250 for index in range(500)],
        cost=cost,
        budget=6_000,
        at_most=10_000,
    )
    assert {index for window in windows for index in window.covers} == set(range(500))
    # Work, not time: each character is counted a few times, however long the conversation.
    assert asked <= 6 * 500 * len(text)
