"""What the rules cost on the longest body: bounded, whatever it is filled with."""

import time

import pytest

from reports.spelling import LONGEST_FORM, spellings
from reports.submission import MAX_BODY_BYTES
from reports.tests.judging import submission_saying
from reports.triage import find_floor

# What a text may be filled with: plain things first, then the beginnings of rules.
UNITS = [
    "a", "a ", "a.", "a b cc ", "aaab", "!", "k!", "1", "1234567890", " \n", "😀",
    "س", "سلام عليكم ", "\u064b", "a\u0301", "\ufdfa", "½", "\u200b", "각",
    "طفل", "يمارس", "i ", "i will ", "i will a a a ", "i'm gonna ", "i know where you aaaa ",
    "1 w1ll t3ll y0u a.b.c 7ata ", "we should get rid of a ", "i will make a a ", "women should ",
    "deserve to be ", "killing a a ", "wish a a a a a a ", "die a a a a ", "people like a ",
    "kill him at ", "sexy ", "child ", "10 ", "اعرف وين ", "صور جنس ", "لازم ال ", "سوف ",
    "سنقتل ا ا ", "ساضرب ا ا ", "قتل ا ا ", "3aref a a ", "2t",
    "kiII ", "aI", "KlL", "i||", "2day ", "kill you ",
]  # fmt: skip


def messages_of(unit: str, size: int) -> list[str]:
    text = unit * (size // len(unit.encode()))
    return ["x", *(text[start : start + 20_000] for start in range(0, len(text), 20_000))]


def seconds_to_judge(texts: list[str]) -> float:
    """The processor's time, which a busy machine does not lengthen."""
    submission = submission_saying(*texts)
    began = time.process_time()
    find_floor(submission)
    return time.process_time() - began


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_compared_grows_no_faster_than_the_body(unit: str) -> None:
    text = unit * 1000

    assert len(spellings(text)) <= 3
    assert max(len(each) for each in spellings(text)) <= LONGEST_FORM * len(text)
    assert max(len(each) for each in spellings(text)) <= 2 * len(text.encode())


@pytest.mark.parametrize("unit", UNITS)
def test_the_longest_body_is_judged_in_the_time_of_a_request(unit: str) -> None:
    # Half a second to a second here; a pattern that goes over all of it from each place takes hours.
    assert seconds_to_judge(messages_of(unit, MAX_BODY_BYTES)) < 3


def test_a_body_of_every_sign_there_is_costs_no_more() -> None:
    signs = "".join(chr(code) for code in range(0x20, 0x30000) if not 0xD800 <= code < 0xE000)

    assert (
        seconds_to_judge([signs[start : start + 20_000] for start in range(0, 196_000, 20_000)]) < 3
    )
