"""Standing manners: how a kind of server behaves until told otherwise."""

import contextlib
import json
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.standin.script import ScriptError
from dev.tests.test_standin import (
    ask,
    connect,
    evidence,
    post,
    request_body,
    send,
    verdict_of,
)

FOUND = evidence("I will kill you tomorrow")


def wished(mode: str | None, **more: Any) -> dict[str, Any]:
    body = request_body(FOUND) | more
    del body["response_format"]
    return body if mode is None else body | {"response_format": {"type": mode}}


def told(standin: Standin, body: Any) -> tuple[int, Any]:
    status, raw, _ = post(standin, body)
    return status, json.loads(raw)


# --- Response formats


def test_without_manners_every_response_format_is_accepted(standin: Standin) -> None:
    for mode in ("json_schema", "json_object", "text", None):
        assert told(standin, wished(mode))[0] == 200


@pytest.mark.parametrize(
    ("refusal", "status", "answer"),
    [
        (
            "400",
            400,
            {
                "error": {
                    "message": "Invalid parameter: 'response_format' of type 'json_schema' "
                    "is not supported with this model.",
                    "type": "invalid_request_error",
                    "param": "response_format",
                    "code": None,
                }
            },
        ),
        (
            "422",
            422,
            {
                "detail": [
                    {
                        "type": "literal_error",
                        "loc": ["body", "response_format", "type"],
                        "msg": "Input should be 'json_object' or 'text'",
                        "input": "json_schema",
                    }
                ]
            },
        ),
        (
            "500",
            500,
            {
                "error": {
                    "message": "[{'type': 'literal_error', "
                    "'loc': ('body', 'response_format', 'type'), "
                    "'msg': \"Input should be 'json_object' or 'text'\", 'input': 'json_schema', "
                    "'ctx': {'expected': \"'json_object' or 'text'\"}}]",
                    "type": "internal_server_error",
                    "param": None,
                    "code": None,
                }
            },
        ),
    ],
)
def test_an_unaccepted_response_format_is_refused_in_its_way(
    standin: Standin, refusal: str, status: int, answer: dict[str, Any]
) -> None:
    standin.behave(modes=["json_object", "text"], mode_refusal=refusal)
    assert told(standin, wished("json_schema")) == (status, answer)
    for mode in ("json_object", "text", None):
        assert told(standin, wished(mode))[0] == 200


def test_an_unaccepted_response_format_may_be_ignored(standin: Standin) -> None:
    standin.behave(modes=[], mode_refusal="ignored")
    status, completion = told(standin, wished("json_object"))
    with pytest.raises(ValueError, match="Expecting value"):
        verdict_of(completion)
    assert (status, completion["choices"][0]["finish_reason"]) == (200, "stop")
    standin.behave(modes=[], mode_refusal="empty")
    assert told(standin, wished("json_object"))[1]["choices"][0]["message"]["content"] == ""
    assert verdict_of(told(standin, wished(None))[1])["ref"] == "r-17"


# --- Parameters


@pytest.mark.parametrize(
    ("style", "status", "answer"),
    [
        (
            "openai",
            400,
            {
                "error": {
                    "message": "Unsupported parameter: 'max_tokens' is not supported "
                    "with this model.",
                    "type": "invalid_request_error",
                    "param": "max_tokens",
                    "code": "unsupported_parameter",
                }
            },
        ),
        (
            "fastapi",
            422,
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "max_tokens"],
                        "msg": "Extra inputs are not permitted",
                        "input": 300,
                    }
                ]
            },
        ),
        (
            "message",
            400,
            {
                "error": {
                    "message": "Unrecognized request argument supplied: max_tokens",
                    "type": "invalid_request_error",
                    "param": None,
                    "code": None,
                }
            },
        ),
    ],
)
def test_a_refused_parameter_is_named_in_its_way(
    standin: Standin, style: str, status: int, answer: dict[str, Any]
) -> None:
    standin.behave(refused_parameters=["temperature", "max_tokens"], parameter_style=style)
    assert told(standin, wished(None, max_tokens=300)) == (status, answer)
    assert "temperature" in json.dumps(told(standin, wished(None, temperature=0, max_tokens=3)))
    assert told(standin, wished(None, max_completion_tokens=300))[0] == 200


# --- Answers


@pytest.mark.parametrize(
    ("thinks", "begins"), [("tags", "<think>\n"), ("open_tag_missing", "The rules are read")]
)
def test_a_thought_stands_before_the_verdict(standin: Standin, thinks: str, begins: str) -> None:
    standin.behave(thinks=thinks)
    _, completion = ask(standin, FOUND)
    thought, tag, text = completion["choices"][0]["message"]["content"].partition("</think>")
    assert thought.startswith(begins)
    assert tag
    assert json.loads(text)["category"] == "credible_threat"


def test_a_thought_stands_in_a_field_of_its_own(standin: Standin) -> None:
    standin.behave(thinks="field")
    _, completion = ask(standin, FOUND)
    assert completion["choices"][0]["message"]["reasoning_content"]
    assert verdict_of(completion)["category"] == "credible_threat"


def test_a_server_that_does_not_echo_makes_up_a_ref(standin: Standin) -> None:
    standin.behave(echoes_ref=False)
    refs = {verdict_of(ask(standin, FOUND)[1])["ref"] for _ in range(3)}
    assert len(refs) == 3
    assert "r-17" not in refs


def test_the_served_model_is_the_name_in_the_answer(standin: Standin) -> None:
    standin.behave(served_model="a-cheaper-one")
    assert ask(standin, FOUND, model="the-dear-one")[1]["model"] == "a-cheaper-one"


def test_the_context_is_stated_and_kept(standin: Standin) -> None:
    standin.behave(context=1000)
    with contextlib.closing(connect(standin)) as connection:
        raw = send(connection, "GET", "/v1/models")[1]
    assert json.loads(raw)["data"][0]["max_model_len"] == 1000
    assert ask(standin, FOUND)[0] == 200
    status, body = ask(standin, evidence("word " * 1000))
    assert (status, body["error"]["code"]) == (400, "context_length_exceeded")
    assert "maximum context length is 1000 tokens" in body["error"]["message"]


def test_a_server_that_truncates_answers_and_counts_its_context(standin: Standin) -> None:
    standin.behave(context=1000, truncates=True)
    status, completion = ask(standin, evidence("word " * 1000))
    usage = completion["usage"]
    assert (status, usage["prompt_tokens"]) == (200, 1000)
    assert usage["total_tokens"] == 1000 + usage["completion_tokens"]
    assert ask(standin, FOUND)[1]["usage"]["prompt_tokens"] < 1000


# --- The list and what stands beside it


def got(standin: Standin, path: str) -> tuple[int, str]:
    with contextlib.closing(connect(standin)) as connection:
        status, raw, *_more = send(connection, "GET", path)
    return status, raw.decode()


@pytest.mark.parametrize("body", [{"data": []}, [], [{"id": "a"}], 7, False])
def test_the_list_is_the_one_that_is_given(standin: Standin, body: Any) -> None:
    standin.behave(models=body)
    status, raw = got(standin, "/v1/models")
    assert (status, json.loads(raw)) == (200, body)


def test_a_list_given_as_text_is_sent_as_it_is(standin: Standin) -> None:
    standin.behave(models="<html>")
    assert got(standin, "/v1/models") == (200, "<html>")


def test_side_endpoints_are_those_that_are_given_and_no_others(standin: Standin) -> None:
    assert got(standin, "/props")[0] == 404
    standin.behave(beside={"/props": {"n": 1}, "/props?model=a": {"n": 2}, "/info": "text"})
    assert got(standin, "/props") == (200, '{"n": 1}')
    assert got(standin, "/props?model=b") == (200, '{"n": 1}')
    assert got(standin, "/props?model=a") == (200, '{"n": 2}')
    assert got(standin, "/info") == (200, "text")
    assert got(standin, "/api/ps")[0] == 404
    standin.clear()
    assert got(standin, "/props")[0] == 404


# --- Among each other


def test_a_scripted_step_comes_before_a_refusal_and_keeps_the_answers_manners(
    standin: Standin,
) -> None:
    standin.behave(modes=["text"], thinks="tags", served_model="other")
    standin.script({"kind": "verdict", "confidence": 95}, {"kind": "content", "content": "as is"})
    _, completion = ask(standin, FOUND)
    assert '"confidence": 95' in completion["choices"][0]["message"]["content"]
    assert completion["choices"][0]["message"]["content"].startswith("<think>")
    assert completion["model"] == "other"
    assert ask(standin, FOUND)[1]["choices"][0]["message"]["content"] == "as is"
    assert ask(standin, FOUND)[0] == 400


def test_new_manners_replace_the_old_and_clear_ends_them(standin: Standin) -> None:
    standin.behave(served_model="other", context=500)
    standin.behave(thinks="field")
    _, completion = ask(standin, FOUND, model="asked")
    assert completion["model"] == "asked"
    standin.clear()
    assert "reasoning_content" not in ask(standin, FOUND)[1]["choices"][0]["message"]


@pytest.mark.parametrize(
    ("manners", "sentence"),
    [
        ({"mode": []}, "no field 'mode'"),
        ({"modes": ["xml"]}, "modes is a list out of json_schema"),
        ({"modes": "text"}, "modes is"),
        ({"mode_refusal": 400}, "mode_refusal is"),
        ({"thinks": ["tags"]}, "thinks is"),
        ({"context": 0}, "context is"),
        ({"context": True}, "context is"),
        ({"models": None}, "models is JSON"),
        ({"beside": []}, "beside is an object"),
        ({"beside": {"props": {}}}, "beside is an object"),
        ({"truncates": 1}, "truncates is"),
        ({"buries": {"share": 2}}, "share is"),
        ({"buries": {"language": 1}}, "language is"),
        ({"buries": {"often": 1}}, "no field 'often'"),
        ({"misbehave": {"share": 2}}, "share is"),
        ({"misbehave": {"slow": float("nan")}}, "slow is"),
        ({"misbehave": {"kinds": ["explode"]}}, "kinds is"),
        ({"misbehave": {"often": 1}}, "no field 'often'"),
    ],
)
def test_manners_it_cannot_read_are_refused_and_change_nothing(
    standin: Standin, manners: dict[str, Any], sentence: str
) -> None:
    standin.behave(served_model="other")
    with pytest.raises(ScriptError, match=sentence):
        standin.behave(**manners)
    assert ask(standin, FOUND)[1]["model"] == "other"
