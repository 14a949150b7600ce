"""Scripts, and the kinds of step that change a completion or the end of its connection."""

import contextlib
import http.client
import json
import time

import pytest

from dev.standin.client import Standin
from dev.standin.script import ScriptError
from dev.standin.words import SURE
from dev.tests.test_standin import ask, connect, evidence, post, request_body, send, verdict_of
from dev.tests.test_standin_swaps import wait_until_asked


def test_steps_are_taken_in_order_and_then_answers_are_normal(standin: Standin) -> None:
    standin.script(
        {"kind": "verdict", "category": "unheard_of"}, {"kind": "verdict", "confidence": 95}
    )
    first, second, third = (verdict_of(ask(standin, evidence("Good morning"))[1]) for _ in "123")
    assert first["category"] == "unheard_of"
    assert second["confidence"] == 95
    assert (third["category"], third["confidence"]) == ("none", SURE)


def test_times_repeats_the_steps(standin: Standin) -> None:
    standin.script({"kind": "error", "status": 500}, times=2)
    statuses = [ask(standin, evidence("Good morning"))[0] for _ in range(3)]
    assert statuses == [500, 500, 200]


def test_times_null_repeats_until_cleared(standin: Standin) -> None:
    standin.script({"kind": "error", "status": 503}, times=None)
    assert [ask(standin, evidence("x"))[0] for _ in range(4)] == [503] * 4
    standin.clear()
    assert ask(standin, evidence("x"))[0] == 200
    assert len(standin.calls()) == 1


def test_match_picks_the_evidence_it_is_meant_for(standin: Standin) -> None:
    standin.script({"kind": "error", "status": 500}, match='سأقول "شيئا"')
    assert ask(standin, evidence("Good morning"))[0] == 200
    assert ask(standin, evidence('ثم سأقول "شيئا" آخر'))[0] == 500


def test_an_error_carries_its_code_and_headers(standin: Standin) -> None:
    standin.script(
        {
            "kind": "error",
            "status": 429,
            "code": "rate_limit_exceeded",
            "message": "Slow down",
            "headers": {"retry-after": "1"},
        }
    )
    body = request_body(evidence("x"))
    status, raw, response = post(standin, body)
    assert status == 429
    assert response.headers["retry-after"] == "1"
    assert json.loads(raw)["error"]["code"] == "rate_limit_exceeded"


def test_content_is_sent_as_it_was_written(standin: Standin) -> None:
    for content in (
        '```json\n{"category": "none"}\n```',
        "",
        None,
        '{"x": NaN}',
        "\ud800",
    ):
        standin.script({"kind": "content", "content": content})
        _, completion = ask(standin, evidence("x"))
        assert completion["choices"][0]["message"]["content"] == content


def test_a_raw_body_is_sent_with_its_status_and_type(standin: Standin) -> None:
    headers = {"Content-Type": "text/html"}
    standin.script({"kind": "body", "status": 200, "body": "<html>", "headers": headers})
    body = request_body(evidence("x"))
    status, raw, response = post(standin, body)
    assert (status, raw, response.headers["content-type"]) == (200, b"<html>", "text/html")


def test_finish_refusal_model_ref_and_usage_can_be_wrong(standin: Standin) -> None:
    standin.script(
        {"kind": "finish", "finish_reason": "length", "content": '{"ref": "r-'},
        {"kind": "finish", "finish_reason": "content_filter"},
        {"kind": "refusal", "refusal": "I cannot help with that."},
        {"kind": "wrong_model", "model": "other-model"},
        {"kind": "wrong_ref"},
        {"kind": "usage", "prompt_tokens": 50},
    )
    answers = [ask(standin, evidence("x"))[1] for _ in range(6)]
    assert answers[0]["choices"][0]["finish_reason"] == "length"
    assert answers[0]["choices"][0]["message"]["content"] == '{"ref": "r-'
    assert answers[1]["choices"][0]["finish_reason"] == "content_filter"
    assert verdict_of(answers[1])["category"] == "none"
    assert answers[2]["choices"][0]["message"]["content"] is None
    assert answers[2]["choices"][0]["message"]["refusal"] == "I cannot help with that."
    assert answers[3]["model"] == "other-model"
    assert verdict_of(answers[4])["ref"] != "r-17"
    assert answers[5]["usage"]["prompt_tokens"] == 50


def test_delay_answers_later(standin: Standin) -> None:
    standin.script({"kind": "delay", "seconds": 0.3})
    started = time.monotonic()
    status, completion = ask(standin, evidence("x"))
    assert time.monotonic() - started >= 0.3
    assert (status, verdict_of(completion)["category"]) == (200, "none")


def test_hang_sends_nothing_and_then_closes(standin: Standin) -> None:
    standin.script({"kind": "hang", "seconds": 60}, {"kind": "hang", "seconds": 0.1})
    body = request_body(evidence("x"))
    with pytest.raises(TimeoutError):
        post(standin, body, timeout=0.3)
    wait_until_asked(standin, 1)
    with pytest.raises(http.client.RemoteDisconnected):
        post(standin, body)
    assert [(call["step"], call["status"]) for call in standin.calls()] == [("hang", None)] * 2


def test_drip_keeps_the_connection_busy_before_the_answer(standin: Standin) -> None:
    standin.script({"kind": "drip", "interval": 0.05, "seconds": 0.3})
    body = request_body(evidence("x"))
    started = time.monotonic()
    _, raw, _ = post(standin, body)
    assert time.monotonic() - started >= 0.3
    assert raw.startswith(b"\n\n\n")
    assert verdict_of(json.loads(raw))["category"] == "none"


def test_cut_ends_in_the_middle_of_the_body(standin: Standin) -> None:
    standin.script({"kind": "cut"})
    body = request_body(evidence("x"))
    with pytest.raises(http.client.IncompleteRead):
        post(standin, body)


def test_drop_after_answer_leaves_a_dead_kept_connection(standin: Standin) -> None:
    standin.script({"kind": "drop_after_answer"})
    body = request_body(evidence("x"))
    with contextlib.closing(connect(standin)) as connection:
        status, _, response = send(connection, "POST", "/v1/chat/completions", body)
        assert status == 200
        assert response.headers.get("connection") is None
        assert connection.sock.recv(1) == b""
        with pytest.raises(ConnectionError):
            send(connection, "POST", "/v1/chat/completions", body)


def test_a_script_it_cannot_read_is_refused_with_a_sentence(standin: Standin) -> None:
    with pytest.raises(ScriptError, match="kind is one of"):
        standin.script({"kind": "explode"})
    with pytest.raises(ScriptError, match="needs seconds"):
        standin.script({"kind": "hang"})
    with pytest.raises(ScriptError, match="at least one step"):
        standin.script()
    with pytest.raises(ScriptError, match="times is a positive"):
        standin.script({"kind": "cut"}, times=0)
    assert ask(standin, evidence("x"))[0] == 200


def test_the_log_says_what_was_asked_and_answered(standin: Standin) -> None:
    standin.script({"kind": "error", "status": 500}, match="boom")
    ask(standin, evidence("boom", ref="r-1"), model="a")
    ask(standin, evidence("Good morning", ref="r-2"), model="b")
    first, second = standin.calls()
    logged = [
        (call["ref"], call["status"], call["step"], call["model"]) for call in (first, second)
    ]
    assert logged == [("r-1", 500, "error", "a"), ("r-2", 200, None, "b")]
    assert (second["message_ids"], second["text"]) == (["m1"], "Good morning")
