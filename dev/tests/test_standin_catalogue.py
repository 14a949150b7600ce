"""Each shape that real servers are known to send can be sent over real HTTP.

The shapes are those of the project's catalogue of malformed replies and public bug reports. What
the product makes of them is tested with the classifier; here only that each is on the wire.
"""

from collections.abc import Callable
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.tests.test_standin import evidence, exchange, request_body

BODY = request_body(evidence("I will kill you tomorrow"))
Step = dict[str, Any]


def edit(*replacements: list[str], **more: Any) -> Step:
    return {"kind": "edit", "replace": list(replacements), **more}


def number(written: str) -> Step:
    return edit(['"$"', written], add={"confidence": "$"})


def verdict(**fields: Any) -> Step:
    return {"kind": "verdict", **fields}


def finish(reason: str, content: str) -> Step:
    return {"kind": "finish", "finish_reason": reason, "content": content}


def dress(before: str = "", after: str = "", **more: Any) -> Step:
    return {"kind": "dress", "before": before, "after": after, **more}


def message(**fields: Any) -> Step:
    return {"kind": "message", "fields": fields}


def error(status: int, **fields: Any) -> Step:
    return {"kind": "error", "status": status, **fields}


FILTERED = {
    "error": {
        "code": "content_filter",
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True}},
        },
    }
}
HTML = {"kind": "body", "body": "<html>", "headers": {"Content-Type": "text/html"}}
CHANNELS = "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>"

# The step, and what must then be among the bytes of the answer.
SHAPES: dict[str, tuple[Step, str]] = {
    "1 a fence around the whole": (dress("```json\n", "\n```"), r'"content": "```json\n{'),
    "2 a byte order mark": (dress("\ufeff"), r'"content": "\ufeff{'),
    "2 white space around": (dress(" \n", "\n\n"), r'"content": " \n{'),
    "3 thinking in tags": (dress("<think>Hm.</think>"), "<think>Hm.</think>{"),
    "4 thinking without its first tag": (dress("Hm.</think>"), '"Hm.</think>{'),
    "5 thinking that never ends": (finish("length", "<think>Hm. "), '"<think>Hm. "'),
    "6 content in chunks": (dress(parts=True), '"content": [{"type": "thinking"'),
    "7 the verdict as reasoning": (
        message(content=None, reasoning_content="$verdict"),
        r'"reasoning_content": "{\"ref\"',
    ),
    "8 content null": ({"kind": "content", "content": None}, '"content": null'),
    "8 content empty": ({"kind": "content", "content": ""}, '"content": ""'),
    "9 cut by its length": (finish("length", '{"category": "no'), r'\"no"'),
    "11 white space until the end": (
        finish("length", '{"category":' + "\n" * 900),
        r"\n" * 900 + '"',
    ),
    "12 a content filter": (
        {"kind": "finish", "finish_reason": "content_filter"},
        '"finish_reason": "content_filter"',
    ),
    "13 a content filter's 400": (error(400, body=FILTERED), "ResponsibleAIPolicyViolation"),
    "14 a refusal": ({"kind": "refusal", "refusal": "I cannot."}, '"refusal": "I cannot."'),
    "14 a refusal in prose": ({"kind": "content", "content": "I cannot."}, '"I cannot."'),
    "14 a refusal next to content": (message(refusal="No."), '"refusal": "No."'),
    "17 HTML": (HTML, "text/html"),
    "17 nothing": ({"kind": "body", "body": ""}, "Content-Length: 0"),
    "17 no JSON": ({"kind": "body", "body": '{"choices": ['}, '\r\n\r\n{"choices": ['),
    "18 text after it": (dress(after="\nOn reflection"), r'}\nOn reflection"'),
    "19 two objects": (dress(after="{}"), '}{}"'),
    "20 a key twice": (
        edit(['"category":', '"category": "spam", "category":']),
        r"\"category\": \"spam\", \"category\": \"credible",
    ),
    "21 NaN": (number("NaN"), r"\"confidence\": NaN"),
    "21 Infinity": (number("-Infinity"), r"\"confidence\": -Infinity"),
    "21 1e999": (number("1e999"), r"\"confidence\": 1e999"),
    "23 confidence as text": (verdict(confidence="0.9"), r"\"confidence\": \"0.9\""),
    "24 confidence 95": (verdict(confidence=95), r"\"confidence\": 95"),
    "25 confidence true": (verdict(confidence=True), r"\"confidence\": true"),
    "26 confidence high": (verdict(confidence="high"), r"\"confidence\": \"high\""),
    "26 confidence null": (verdict(confidence=None), r"\"confidence\": null"),
    "27 a category in another case": (verdict(category=" Spam "), r"\" Spam \""),
    "28 a translated category": (verdict(category="تهديد"), r"\u062a\u0647"),
    "29 an extra key": (verdict(action="remove"), r"\"action\": \"remove\""),
    "30 a missing key": (edit(drop=["quotes"]), r'\"confidence\": 0.95}"'),
    "32 single quotes": (edit(['"', "'"]), "\"{'ref': 'r-17'"),
    "32 a trailing comma": (edit(["}", ",}"]), ',}"'),
    "32 a line break in a text": (edit(["Stand", "\n"]), r"\"summary\": \"\n-in"),
    "32 smart quotes": (edit(['"', "“"]), r"{\u201cref\u201c"),
    "32 Arabic digits": (number("٠٫٥"), r"\u0660\u066b\u0665"),
    "33 NUL": (edit(["Stand", r"\u0000"]), r"\\u0000-in"),
    "33 a lone surrogate": (edit(["Stand", r"\ud800"]), r"\\ud800-in"),
    "33 a bare control character": (edit(["Stand", "\x01"]), r"\"\u0001-in"),
    "34 a change of direction": (verdict(summary="\u202eFine"), r"\u202eFine"),
    "36 a long summary": (verdict(summary="a" * 50_000), "a" * 50_000),
    "39 another model": ({"kind": "wrong_model", "model": "other"}, '"model": "other"'),
    "40 too few tokens": ({"kind": "usage", "prompt_tokens": 2050}, '"prompt_tokens": 2050'),
    "41 a missing ref": (edit(drop=["ref"]), r'"content": "{\"summary\"'),
    "42 a guard's words": ({"kind": "content", "content": "unsafe\nS1, S2"}, r"unsafe\nS1"),
    "43 a 500 that is a 400": (
        error(500, body={"error": {"message": "[{'type': 'literal_error'"}}),
        "literal_error",
    ),
    "a 429 without its header": (
        error(429, message="Try again in 60 seconds"),
        "Try again in 60 seconds",
    ),
    "a 429 for an empty account": (error(429, code="insufficient_quota"), "insufficient_quota"),
    "channels": (dress(CHANNELS), "final<|message|>{"),
    "everything null": (message(content=None, reasoning=None), '"reasoning": null'),
    "the verdict as a tool's call": (
        message(content=None, tool_calls=[{"function": {"arguments": "$verdict"}}]),
        r'"arguments": "{\"ref\"',
    ),
    "choices null": ({"kind": "envelope", "fields": {"choices": None}}, '"choices": null'),
    "choices empty": ({"kind": "envelope", "fields": {"choices": []}}, '"choices": []'),
    "an error in a 200": (
        {"kind": "body", "body": '{"error": {"message": "overloaded"}}'},
        "HTTP/1.1 200 OK",
    ),
    "an unknown finish reason": (
        {"kind": "finish", "finish_reason": "error"},
        '"finish_reason": "error"',
    ),
}

ABSENT: dict[str, tuple[Step, Callable[[str], bool]]] = {
    "41 a wrong ref": ({"kind": "wrong_ref"}, lambda answer: "r-17" not in answer),
    "no choices": (
        {"kind": "envelope", "without": ["choices"]},
        lambda answer: '"choices"' not in answer and '"usage"' in answer,
    ),
    "17 a cut body": ({"kind": "cut"}, lambda answer: not answer.endswith("}")),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_known_shape_is_on_the_wire(standin: Standin, shape: str) -> None:
    step, wanted = SHAPES[shape]
    standin.script(step)
    assert wanted in exchange(standin, BODY).decode()


@pytest.mark.parametrize("shape", ABSENT)
def test_what_a_known_shape_lacks_is_not_on_the_wire(standin: Standin, shape: str) -> None:
    step, lacks = ABSENT[shape]
    standin.script(step)
    assert lacks(exchange(standin, BODY).decode())
