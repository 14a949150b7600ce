"""Whatever a server sends, the reader reads it as a strict second reading does, or refuses it."""

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from classifier.reader import AnswerRefusedError, UnreadableReplyError
from classifier.tests.situations import verdict_fields
from classifier.tests.test_reader import CONTENT, GOOD, POLICY, TEXT, read, reply, said
from dev.fuzz.replies import REF
from dev.fuzz.run import (
    ACCEPTED_WRONGLY,
    Tally,
    a_lax_reader,
    expectation,
    read_many,
    read_one,
    the_reader,
)
from dev.fuzz.strict_reading import NotStrictError, read_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
LIKELY = st.sampled_from(
    [0.93, 1, 0, True, "none", "spam", "r-17", "Fine.", "\u202e", [], ["lunch"]]
)


@st.composite
def mutated_verdicts(draw: st.DrawFn) -> str:
    """A valid verdict after up to three changes of its values, and up to two of its characters."""
    fields = verdict_fields(quotes=["lunch"])
    for key in draw(st.lists(st.sampled_from(sorted(fields)), max_size=3, unique=True)):
        fields[key] = draw(LIKELY | JSON)
    text = json.dumps(fields, ensure_ascii=draw(st.booleans()))
    for _change in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(start + 30, len(text))))
        repeated = text[start:end] * draw(st.integers(0, 2))
        text = text[:start] + draw(st.text(max_size=3)) + repeated + text[end:]
    return text


def strictly(text: str) -> dict[str, Any] | None:
    """The verdict by a second, plainer reading; None where it is not exactly one."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _value in pairs}) < len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        found = json.loads(
            text.strip().removeprefix("\ufeff").strip(),
            object_pairs_hook=unique,
            parse_constant=refuse,
        )
    except ValueError:
        return None
    if type(found) is not dict or set(found) != set(verdict_fields()):
        return None
    summary, quotes, confidence = found["summary"], found["quotes"], found["confidence"]
    strings: list[Any] = [summary, *quotes] if isinstance(quotes, list) else [None]
    right = (
        all(type(each) is str for each in (*strings, found["category"]))
        and found["ref"] == "r-17"
        and type(confidence) in {int, float}
        and 0 <= confidence <= 1
        and found["category"].strip().casefold() in {each["id"] for each in CONTENT.categories}
        and len(summary) <= 1000
        and len(quotes) <= 8
        and all(len(quote) <= 500 for quote in quotes)
        and not any(re.search(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", s) for s in strings)
    )
    if not right:
        return None
    shown = "".join(c for c in summary if c in "\u200c\u200d" or unicodedata.category(c) != "Cf")
    return {
        "summary": shown,
        "category": found["category"].strip().casefold(),
        "confidence": confidence,
        "quotes": [quote for quote in quotes if quote.strip() and quote in TEXT],
    } if shown.strip() else None  # fmt: skip


@settings(max_examples=200)
@example(GOOD)
@given(mutated_verdicts())
def test_the_reader_accepts_exactly_what_a_strict_reading_accepts(text: str) -> None:
    try:
        read_verdict: dict[str, Any] | None = read(reply(text)).verdict.model_dump()
    except AnswerRefusedError:
        read_verdict = None

    assert read_verdict == strictly(text)


@settings(max_examples=200)
@given(st.data())
def test_any_bytes_are_a_verdict_or_one_of_two_errors(data: st.DataObject) -> None:
    body = bytearray(reply(said(quotes=["lunch"])))
    for _change in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(body)))
        end = data.draw(st.integers(start, len(body)))
        body[start : min(end, start + 40)] = data.draw(st.binary(max_size=8))

    try:
        answer = read(bytes(body))
    except (AnswerRefusedError, UnreadableReplyError):
        return

    # What survives such damage to the bytes was damaged outside the verdict's meaning.
    assert answer.verdict.category in {each["id"] for each in CONTENT.categories}
    assert 0 <= answer.verdict.confidence <= 1
    assert answer.served_model == POLICY.model
    assert all(quote in TEXT for quote in answer.verdict.quotes)


# --- `python -m dev.fuzz`, in small


def test_four_hundred_mutated_replies_are_read_as_a_strict_reading_reads_them() -> None:
    tally = read_many(seed="tests", count=400)

    assert [(finding.what, finding.body) for finding in tally.findings] == []
    assert tally.outcomes["accepted"] > 50
    assert len(tally.outcomes) > 15


def test_a_lax_reader_is_found_out() -> None:
    tally = read_many(seed="tests", count=400, reader=a_lax_reader)

    assert tally.found[ACCEPTED_WRONGLY] > 20


def test_a_text_that_ends_in_an_escape_is_refused_in_a_moment() -> None:
    """As long as a content may be: else one reply keeps a worker, and all its threads, for minutes."""
    tally = Tally()

    for text in ('"' + '\\"' * 99_999 + "\\", '{"a": "' + '\\"' * 60_000 + "\\"):
        read_one(reply(text), expectation(thinks=False), the_reader, tally)
        read_one(text.encode(), expectation(thinks=False), the_reader, tally)

    assert tally.outcomes == {"answer_invalid: not_json": 2, "unreadable: not_json": 2}


def test_replies_do_not_depend_on_what_was_read_before() -> None:
    first, again = (read_many(seed="same", count=100).outcomes for _run in range(2))

    assert first == again


@pytest.mark.parametrize("kind", [["thinking"], {"thinking": 1}, 7, None, True])
def test_a_part_whose_type_is_no_text_is_passed_over(kind: Any) -> None:
    text = json.dumps(verdict_fields(ref=REF))
    content = [{"type": kind, "text": "Hm."}, {"type": "text", "text": text}]
    tally = Tally()

    read_one(reply(content), expectation(thinks=False), the_reader, tally)

    assert dict(tally.outcomes) == {"accepted": 1}
    assert tally.findings == []


@settings(max_examples=60)
@given(JSON)
def test_the_strict_reading_reads_what_json_writes(value: Any) -> None:
    text = json.dumps(value)
    if re.search(r"NaN|Infinity", re.sub(r'"(?:[^"\\]|\\.)*"', "", text)):
        with pytest.raises(NotStrictError):
            read_json(text)
    else:
        assert read_json(text) == value
