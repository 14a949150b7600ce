"""The reader: bytes to a verdict, or one of its own two errors. It guesses nothing."""

import json
from dataclasses import asdict, replace
from typing import Any

import pytest

from classifier.models import PolicyVersion, WaitingReason
from classifier.policies import FIRST_POLICY, read_policy_file
from classifier.reader import (
    Answer,
    AnswerRefusedError,
    Expected,
    UnreadableReplyError,
    least_tokens,
    read_answer,
)
from classifier.tests.situations import completion, verdict_fields

TITLE, CONTENT = read_policy_file(FIRST_POLICY, model="stand-in-not-a-model")
POLICY = PolicyVersion(number=1, title=TITLE, **asdict(CONTENT))
TEXT = "See you at lunch.\nالغداء الساعة الثانية"
GOOD = json.dumps(verdict_fields())


EXPECTED = Expected(
    policy=POLICY, names={"stand-in-not-a-model"}, ref="r-17", least_tokens=500, texts=(TEXT,)
)


def read(body: bytes, **changes: Any) -> Answer:
    return read_answer(body, replace(EXPECTED, **changes))


def reply(content: Any, **changes: Any) -> bytes:
    return json.dumps(completion(content, **changes)).encode()


def judged(fields: dict[str, Any]) -> dict[str, Any]:
    """What remains of an answer's fields once its reference was found right."""
    return {name: value for name, value in fields.items() if name != "ref"}


def choice(**changes: Any) -> list[dict[str, Any]]:
    return [{**completion(GOOD)["choices"][0], **changes}]


def said(**changes: Any) -> str:
    return json.dumps(verdict_fields(**changes))


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


# --- What is accepted


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        f"\ufeff{GOOD}",
        f"  \n{GOOD}\n\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"<think>Is it a threat?</think>{GOOD}",
        f"<think></think>\n\n```json\n{GOOD}\n```",
        f"<think>a</think> b</think>{GOOD}",
        json.dumps(verdict_fields(), indent=2),
        said(category=" None "),
        [{"type": "text", "text": GOOD}],
        [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": GOOD}],
        [{"type": "text", "text": GOOD[:9]}, {"type": "text", "text": GOOD[9:]}],
    ],
)
def test_a_verdict_is_read_through_a_lossless_dressing(content: Any) -> None:
    answer = read(reply(content))

    assert answer.verdict.model_dump() == judged(verdict_fields())
    assert (answer.prompt_tokens, answer.completion_tokens) == (2_500, 40)


@pytest.mark.parametrize(("written", "value"), [("1", 1.0), ("0", 0.0), ("93e-2", 0.93)])
def test_a_confidence_is_a_number_from_zero_to_one(written: str, value: float) -> None:
    answer = read(reply(GOOD.replace("0.93", written)))

    assert answer.verdict.confidence == value


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"total_tokens": 3}])
def test_a_server_need_not_count_tokens(usage: Any) -> None:
    answer = read(reply(GOOD, usage=usage))

    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)


def test_fields_that_a_server_adds_to_the_envelope_do_not_matter() -> None:
    body = reply(
        GOOD, system_fingerprint="fp", service_tier=None, choices=choice(logprobs={"a": 1})
    )

    assert read(body).verdict.category == "none"


# --- What is refused as an answer

REFUSED: dict[str, tuple[Any, str]] = {
    "prose": ("It is harmless.", "not_json"),
    "prose before": (f"Here you are: {GOOD}", "not_json"),
    "text after": (f"{GOOD}\nBut it may be a threat.", "not_json"),
    "two objects": (f"{GOOD}\n{GOOD}", "not_json"),
    "two fences": (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "not_json"),
    "text after the fence": (f"```json\n{GOOD}\n```\nOr not.", "not_json"),
    "an open fence": (f"```json\n{GOOD}", "not_json"),
    "a cut object": (GOOD[:-2], "not_json"),
    "a trailing comma": (GOOD[:-1] + ",}", "not_json"),
    "single quotes": (GOOD.replace('"', "'"), "not_json"),
    "a comment": (GOOD.replace("{", "{ // verdict\n", 1), "not_json"),
    "thought that never ends": (f"<think>Is it? {GOOD}", "unclosed_thought"),
    "thought without a start": (f"Is it? No.</think>{GOOD}", "not_json"),
    "thought and nothing else": ("<think>Is it?</think>", "empty"),
    "thought in the middle": (f"Yes. <think>Is it?</think>{GOOD}", "not_json"),
    "channel tokens": (f"<|channel|>final<|message|>{GOOD}", "not_json"),
    "a list around it": (f"[{GOOD}]", "schema_other"),
    "a string": ('"none"', "schema_other"),
    "a number": ("0", "schema_other"),
    "null": ("null", "schema_other"),
    "deep nesting": ("[" * 100_000, "too_deep"),
    "nesting in a value": (GOOD.replace("[]", nested(31)), "schema_quotes"),
    "more nesting in a value": (GOOD.replace("[]", nested(32)), "too_deep"),
    "nothing": ("", "empty"),
    "blanks to the limit": ("\n" * 900, "empty"),
    "null content": (None, "empty"),
    "parts without text": ([{"type": "thinking", "thinking": GOOD}], "empty"),
    "parts with a number": ([{"type": "text", "text": 5}], "empty"),
    "more than anyone writes": ("x" * 200_001, "too_large"),
    "a duplicate key": (GOOD.replace("{", '{"category": "spam", ', 1), "duplicate_key"),
    "a duplicate key inside": (GOOD.replace("[]", '[{"a": 1, "a": 2}]'), "duplicate_key"),
    "an extra key": (said(note="x"), "schema_other"),
    "an extra key of half a surrogate": (GOOD.replace("{", '{"\\ud800": 1, ', 1), "schema_other"),
    "NaN": (GOOD.replace("0.93", "NaN"), "not_finite"),
    "infinity": (GOOD.replace("0.93", "-Infinity"), "not_finite"),
    "an overflowing number": (GOOD.replace("0.93", "1e999"), "number_out_of_range"),
    "a huge whole number": (GOOD.replace("0.93", "1" + "0" * 400), "number_out_of_range"),
    "a number too long to read": (GOOD.replace("0.93", "9" * 5000), "number_out_of_range"),
    "95 per cent": (said(confidence=95), "schema_confidence"),
    "just above one": (GOOD.replace("0.93", "1.0000001"), "schema_confidence"),
    "just below zero": (said(confidence=-1e-9), "schema_confidence"),
    "a number as text": (said(confidence="0.9"), "schema_confidence"),
    "a truth value": (said(confidence=True), "schema_confidence"),
    "no confidence": (said(confidence=None), "schema_confidence"),
    "an unknown category": (said(category="threat"), "unknown_category"),
    "an empty category": (said(category=""), "unknown_category"),
    "two categories": (said(category="none, spam"), "unknown_category"),
    "a list of categories": (said(category=["none"]), "schema_category"),
    "a ref as a number": (said(ref=17), "schema_ref"),
    "an empty summary": (said(summary=""), "schema_summary"),
    "a blank summary": (said(summary=" \n"), "schema_summary"),
    "an invisible summary": (said(summary="\u202e\u2066"), "schema_summary"),
    "an endless summary": (said(summary="x" * 1001), "schema_summary"),
    "half a surrogate": (said(summary="a\ud800"), "schema_summary"),
    "NUL in the summary": (said(summary="a\0b"), "control_characters"),
    "an escape in the summary": (said(summary="\x1b[2J"), "control_characters"),
    "NUL in a quote": (said(quotes=["a\0b"]), "control_characters"),
    "quotes as text": (said(quotes="lunch"), "schema_quotes"),
    "a number among the quotes": (said(quotes=["lunch", 1]), "schema_quotes"),
    "an endless quote": (said(quotes=["x" * 501]), "schema_quotes"),
    "nine quotes": (said(quotes=["lunch"] * 9), "schema_quotes"),
    **{
        f"no {key}": (
            json.dumps({name: v for name, v in verdict_fields().items() if name != key}),
            f"schema_{key}",
        )
        for key in verdict_fields()
    },
}


@pytest.mark.parametrize(("content", "detail"), REFUSED.values(), ids=REFUSED.keys())
def test_an_answer_outside_the_schema_is_no_answer(content: Any, detail: str) -> None:
    with pytest.raises(AnswerRefusedError) as refused:
        read(reply(content))

    assert (refused.value.reason, refused.value.detail) == (WaitingReason.ANSWER_INVALID, detail)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"choices": choice(finish_reason="length")}, WaitingReason.ANSWER_CUT),
        ({"choices": choice(finish_reason="content_filter")}, WaitingReason.CONTENT_FILTERED),
        ({"choices": choice(finish_reason="refusal")}, WaitingReason.MODEL_REFUSED),
        (
            {"choices": choice(message={"content": GOOD, "refusal": "No."})},
            WaitingReason.MODEL_REFUSED,
        ),
        ({"choices": choice(finish_reason="tool_calls")}, WaitingReason.ANSWER_INVALID),
        ({"choices": choice(finish_reason="error")}, WaitingReason.ANSWER_INVALID),
        ({"choices": choice(finish_reason=None)}, WaitingReason.ANSWER_INVALID),
        (
            {"choices": choice(message={"content": None, "reasoning_content": GOOD})},
            WaitingReason.ANSWER_INVALID,
        ),
        ({"model": "a-cheaper-one"}, WaitingReason.WRONG_MODEL),
        ({"model": "stand-in-not-a-model-2"}, WaitingReason.WRONG_MODEL),
        ({"model": None}, WaitingReason.WRONG_MODEL),
        ({"usage": {"prompt_tokens": 499}}, WaitingReason.INPUT_TRUNCATED),
        ({"usage": {"prompt_tokens": 0}}, WaitingReason.INPUT_TRUNCATED),
    ],
)
def test_what_the_server_says_about_the_answer_may_void_it(
    changes: dict[str, Any], reason: WaitingReason
) -> None:
    with pytest.raises(AnswerRefusedError) as refused:
        read(reply(GOOD, **changes))

    assert refused.value.reason == reason


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>502</html>",
        b"null",
        b"[]",
        b'"none"',
        b'{"choices": [',
        b"\xff\xfe\xfa",
        b"[" * 1_000_000,
        b"{}",
        b'{"error": {"message": "overloaded"}}',
        reply(GOOD, choices=None),
        reply(GOOD, choices=[]),
        reply(GOOD, choices=choice() * 2),
        reply(GOOD, choices=choice(index=1)),
        reply(GOOD, choices=choice(index=True)),
        reply(GOOD, choices=choice(message=None)),
        reply(GOOD, choices=choice(message={"content": 5})),
        reply(GOOD, choices=choice(message={"content": ["none"]})),
        reply(GOOD, choices=choice(finish_reason=0)),
        reply(GOOD, model=["stand-in-not-a-model"]),
        reply(GOOD, usage={"prompt_tokens": True}),
        reply(GOOD, usage={"prompt_tokens": "700"}),
        reply(GOOD, usage={"prompt_tokens": -1}),
        reply(GOOD, usage={"prompt_tokens": 2**31}),
        reply(GOOD, usage={"prompt_tokens": 700, "completion_tokens": -1}),
    ],
)
def test_a_body_that_is_no_completion_is_the_providers_fault(body: bytes) -> None:
    with pytest.raises(UnreadableReplyError):
        read(body)


@pytest.mark.parametrize("ref", ["r-18", "R-17", "", "r-17 "])
def test_an_answer_with_another_reference_may_belong_to_another_report(ref: str) -> None:
    with pytest.raises(AnswerRefusedError) as refused:
        read(reply(said(ref=ref)))

    assert refused.value.reason == WaitingReason.ANSWER_MISPLACED


def test_a_model_that_cannot_echo_is_not_asked_for_the_reference() -> None:
    without = json.dumps(judged(verdict_fields()))

    assert read(reply(without), ref=None).verdict.category == "none"
    assert read(reply(said(ref="anything")), ref=None).verdict.category == "none"
    with pytest.raises(AnswerRefusedError):
        read(reply(without))


@pytest.mark.parametrize(
    "text",
    [
        "See you at lunch. ",
        "سأقتلك غداً ",
        "مُحَمَّدٌ رَسُولٌ ",
        "हिन्दी भाषा ",
        "a ",
        "ไทย ",
        "x" * 99 + " ",
    ],
)
def test_the_least_count_is_below_a_token_a_word_and_not_far_below(text: str) -> None:
    words = len(text.split()) * 50

    assert words // 4 <= least_tokens(text * 50) <= words


@pytest.mark.parametrize(
    "text", [" " * 9999, "-" * 9999, "\n" * 9999, "👍" * 9999, "\u200b" * 9999]
)
def test_what_one_token_may_swallow_proves_nothing(text: str) -> None:
    assert least_tokens(text) == 0


def test_no_error_holds_the_answers_text() -> None:
    secret = "the wombat festival"
    for content in (secret, said(category=secret), said(**{secret: 1}), said(quotes=secret)):
        with pytest.raises(AnswerRefusedError) as refused:
            read(reply(content))
        assert "wombat" not in f"{refused.value!r} {refused.value.args} {refused.value.detail}"
        assert refused.value.__cause__ is None


# --- What is kept of it


def test_quotes_are_kept_only_where_they_stand_verbatim() -> None:
    quotes = ["lunch", "Lunch", "dinner", "الغداء", "", " ", "you at lunch.\nالغداء", "x" * 500]

    answer = read(reply(said(quotes=quotes)))

    assert answer.verdict.quotes == ["lunch", "الغداء", "you at lunch.\nالغداء"]


def test_a_quote_does_not_span_two_messages() -> None:
    answer = read(reply(said(quotes=["one two", "one"])), texts=["one ", "two"])

    assert answer.verdict.quotes == ["one"]


def test_a_summary_loses_what_is_invisible_and_keeps_what_spells() -> None:
    summary = "a\u202eb\u2066c\u200bd\ufeffe\U000e0041f می\u200cخواهم 👨\u200d👩\u200d👧"

    answer = read(reply(said(summary=summary)))

    assert answer.verdict.summary == "abcdef می\u200cخواهم 👨\u200d👩\u200d👧"
