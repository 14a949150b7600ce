"""The kinds of step that change the text or the shape of a completion."""

import json
import time
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.tests.test_standin import ask, evidence, verdict_of

FOUND = evidence("I will kill you tomorrow")


def answered(standin: Standin, **step: Any) -> dict[str, Any]:
    standin.script(step)
    status, completion = ask(standin, FOUND)
    assert status == 200, completion
    return dict(completion)


def content(standin: Standin, **step: Any) -> Any:
    return answered(standin, **step)["choices"][0]["message"]["content"]


@pytest.fixture
def normal(standin: Standin) -> str:
    """The verdict's JSON text."""
    return str(ask(standin, FOUND)[1]["choices"][0]["message"]["content"])


def test_dress_puts_text_around_the_verdict(standin: Standin, normal: str) -> None:
    fenced = content(standin, kind="dress", before="```json\n", after="\n```")
    assert fenced == f"```json\n{normal}\n```"
    assert content(standin, kind="dress", before="\ufeff\ud800") == f"\ufeff\ud800{normal}"
    assert content(standin, kind="dress") == normal


def test_dressed_in_parts_a_thought_comes_before_the_text_in_two(
    standin: Standin, normal: str
) -> None:
    thought, one, two = content(standin, kind="dress", after="!", parts=True)
    assert thought == {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    assert (one["type"], two["type"]) == ("text", "text")
    assert one["text"] + two["text"] == f"{normal}!"
    assert one["text"]
    assert two["text"]


def test_edit_drops_keys_then_adds_some_then_replaces_text(standin: Standin) -> None:
    text = content(
        standin,
        kind="edit",
        drop=["summary", "quotes", "confidence"],
        add={"confidence": "$1", "action": None},
        replace=[['"$1"', "1e999"], ["credible_threat", "تهديد"], ["not in there", ""]],
    )
    assert text == '{"ref": "r-17", "category": "تهديد", "confidence": 1e999, "action": null}'


def test_an_edit_can_write_what_no_json_holds(standin: Standin, normal: str) -> None:
    twice = [['"category":', '"category": "spam", "category":']]
    assert content(standin, kind="edit", replace=twice).count('"category":') == 2
    assert content(standin, kind="edit", replace=[['"', "'"]]) == normal.replace('"', "'")
    assert content(standin, kind="edit", replace=[["0.95", "٠٫٩٥"]]).count("٠٫٩٥") == 1
    assert "\x00" in content(standin, kind="edit", replace=[["Stand", "\x00"]])


def test_an_edit_that_finds_nothing_says_so(standin: Standin) -> None:
    standin.script({"kind": "edit", "replace": [["0.96", "NaN"]]})
    status, body = ask(standin, FOUND)
    assert (status, body["error"]["code"]) == (400, "nothing_to_edit")


def test_message_sets_fields_of_the_message(standin: Standin, normal: str) -> None:
    fields = {
        "content": None,
        "reasoning_content": "$verdict",
        "tool_calls": [{"function": {"arguments": "<$ref> $verdict"}}],
    }
    (choice,) = answered(standin, kind="message", fields=fields)["choices"]
    assert choice["message"] == {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning_content": normal,
        "tool_calls": [{"function": {"arguments": f"<r-17> {normal}"}}],
    }
    assert choice["finish_reason"] == "stop"


def test_a_mark_in_the_reported_text_stays_as_it_is(standin: Standin) -> None:
    marked = evidence("I will kill you $ref $verdict")
    standin.script({"kind": "message", "fields": {"content": "$verdict"}})
    _, completion = ask(standin, marked)
    assert verdict_of(completion)["quotes"] == ["I will kill you $ref $verdict"]


def test_choice_sets_fields_of_the_choice(standin: Standin) -> None:
    fields = {"message": None, "index": 3, "finish_reason": "error"}
    (choice,) = answered(standin, kind="choice", fields=fields)["choices"]
    assert choice == {"index": 3, "message": None, "logprobs": None, "finish_reason": "error"}


def test_envelope_sets_and_removes_fields_of_the_whole(standin: Standin, normal: str) -> None:
    fields = {"choices": [{"message": {"content": "$verdict"}}], "error": {"message": "x"}}
    whole = answered(standin, kind="envelope", fields=fields, without=["usage", "model"])
    assert whole.keys() == {"id", "object", "created", "choices", "error"}
    assert whole["choices"] == [{"message": {"content": normal}}]
    assert answered(standin, kind="envelope", fields={"choices": None})["choices"] is None


def test_an_error_may_name_a_parameter_or_have_a_body_of_its_own(standin: Standin) -> None:
    own = {"error": {"code": "content_filter", "innererror": {"violence": {"filtered": True}}}}
    standin.script(
        {"kind": "error", "status": 400, "code": "unsupported_parameter", "param": "temperature"},
        {"kind": "error", "status": 400, "body": own},
    )
    assert ask(standin, FOUND)[1]["error"]["param"] == "temperature"
    assert ask(standin, FOUND) == (400, own)


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "verdict", "confidence": 95},
        {"kind": "dress", "before": "x"},
        {"kind": "error", "status": 503},
    ],
)
def test_after_seconds_answers_the_same_later(standin: Standin, step: dict[str, Any]) -> None:
    standin.script(step, step | {"after_seconds": 0.2})
    first = ask(standin, FOUND)
    started = time.monotonic()
    later = ask(standin, FOUND)
    assert time.monotonic() - started >= 0.2
    assert _without_chance(later) == _without_chance(first)


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "dress"},
        {"kind": "edit"},
        {"kind": "message", "fields": {}},
        {"kind": "choice", "fields": {}},
        {"kind": "envelope"},
        {"kind": "gzip", "megabytes": 1},
        {"kind": "swap", "seconds": 5},
    ],
)
def test_a_step_that_needs_a_verdict_is_a_400_without_evidence(
    standin: Standin, step: dict[str, Any]
) -> None:
    standin.script(step)
    status, body = ask(standin, {"ref": "r", "messages": []})
    assert (status, body["error"]["code"]) == (400, "no_evidence")


def _without_chance(answer: tuple[int, Any]) -> str:
    status, body = answer
    return json.dumps([status, {name: body[name] for name in body.keys() - {"id", "created"}}])
