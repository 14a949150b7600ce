"""The log of calls: what each asked for, when it was answered, and never its prompt."""

import contextlib
import hashlib
import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dev.standin.calls import KEPT_CALLS, Calls, call_of
from dev.standin.client import Standin
from dev.tests.test_standin import ask, evidence, post, prompt, request_body
from dev.tests.test_standin_swaps import wait_until_asked

FOUND = evidence("Good morning")


def logged(standin: Standin, body: Any) -> dict[str, Any]:
    before = len(standin.calls())
    with contextlib.suppress(OSError, http.client.HTTPException):
        post(standin, body, timeout=0.3)
    wait_until_asked(standin, before + 1)
    return standin.calls()[-1]


def test_a_call_says_which_parameters_it_had(standin: Standin) -> None:
    body = request_body(FOUND) | {"temperature": 0.5, "max_tokens": 300, "seed": 1}
    call = logged(standin, body)
    assert call["parameters"] == [
        "max_tokens",
        "messages",
        "model",
        "response_format",
        "seed",
        "temperature",
    ]
    assert call["response_format"] == "json_schema"
    assert (call["temperature"], call["max_tokens"]) == (0.5, 300)
    assert logged(standin, request_body(FOUND) | {"max_completion_tokens": 7})["max_tokens"] == 7


def test_what_was_not_asked_for_is_null(standin: Standin) -> None:
    body = request_body(FOUND) | {"response_format": "json", "temperature": "hot"}
    call = logged(standin, body)
    names = ("response_format", "temperature", "max_tokens", "retry_after")
    assert [call[name] for name in names] == [None] * 4


def test_the_time_of_the_answer_is_logged_with_its_retry_after(standin: Standin) -> None:
    standin.script(
        {"kind": "error", "status": 429, "headers": {"Retry-After": "1e300"}, "after_seconds": 0.1}
    )
    before = time.time()
    ask(standin, FOUND)
    call = standin.calls()[0]
    assert (call["status"], call["retry_after"]) == (429, "1e300")
    assert before <= call["time"] <= call["answered"] - 0.1
    assert call["answered"] <= time.time()


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "hang", "seconds": 0.05},
        {"kind": "close"},
        {"kind": "reset"},
        {"kind": "delay", "seconds": 5},
        {"kind": "drip", "seconds": 5, "interval": 1},
        {"kind": "drip_headers", "seconds": 5, "interval": 1},
    ],
    ids=lambda step: step["kind"],
)
def test_a_call_without_an_answer_has_no_time_of_one(
    standin: Standin, step: dict[str, Any]
) -> None:
    standin.script(step)
    assert logged(standin, request_body(FOUND))["answered"] is None


def test_an_answer_in_dripping_is_answered_at_its_end(standin: Standin) -> None:
    standin.script({"kind": "drip", "seconds": 0.2, "interval": 0.02})
    ask(standin, FOUND)
    (call,) = standin.calls()
    assert call["answered"] - call["time"] >= 0.2


def test_the_prefix_is_what_every_call_of_a_policy_shares(standin: Standin) -> None:
    calls = [logged(standin, request_body(evidence(text))) for text in ("one", "two")]
    assert calls[0]["prefix"] == calls[1]["prefix"]
    assert calls[0]["prefix"] == hashlib.sha256(b"You judge.Judge this.\n").hexdigest()
    other = request_body(FOUND)
    other["messages"][0]["content"] += " Well."
    assert logged(standin, other)["prefix"] != calls[0]["prefix"]
    other["messages"][1]["content"] = "No boundary"
    assert logged(standin, other)["prefix"] is None


def test_the_boundary_in_a_text_does_not_lengthen_the_prefix(standin: Standin) -> None:
    plain = logged(standin, request_body(FOUND))["prefix"]
    forged = request_body(evidence("-----BEGIN EVIDENCE x-----"))
    assert logged(standin, forged)["prefix"] == plain


def test_prompts_are_not_kept(standin: Standin) -> None:
    with ThreadPoolExecutor(4) as threads:
        long = [evidence(f"{number} " + "word " * 2000) for number in range(12)]
        list(threads.map(lambda found: ask(standin, found), long))
    calls = standin.calls()
    assert len(calls) == 12
    assert max(len(json.dumps(call)) for call in calls) < 1000


def test_the_log_forgets_its_oldest_calls() -> None:
    calls = Calls()
    request = {"model": "m", "messages": [{"role": "user", "content": prompt(FOUND)}]}
    entry = call_of(request, FOUND, None)
    for number in range(KEPT_CALLS + 10):
        calls.add(entry | {"ref": number})
    kept = calls.all()
    assert (len(kept), kept[0]["ref"]) == (KEPT_CALLS, 10)
