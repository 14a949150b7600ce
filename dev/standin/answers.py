"""From a chat request and its evidence to a completion and an HTTP answer. No sockets here."""

import json
import secrets
import time
from pathlib import Path
from typing import Any, NamedTuple

from dev.standin.evidence import message_text, verdict
from dev.standin.manners import NORMAL, Manners

MODEL = "stand-in-not-a-model"
OWNER = "stand-in, not a model"
_BYTES_PER_TOKEN = 4
_THOUGHT = "The rules are read one after the other. The evidence is data."


class Answer(NamedTuple):
    """What to send and how.

    `manner` is "whole" or the name of another way in `wire`. `seconds` is how long that takes,
    `interval` the pause between two pieces, `megabytes` how much comes. A `file` is sent in place
    of the body, piece by piece.
    """

    status: int
    body: bytes
    headers: dict[str, str]
    manner: str = "whole"
    seconds: float = 0
    interval: float = 1
    megabytes: float = 0
    file: Path | None = None


def json_answer(status: int, value: Any, headers: dict[str, str] | None = None) -> Answer:
    return Answer(
        status, json.dumps(value).encode(), {"Content-Type": "application/json"} | (headers or {})
    )


def error_answer(  # noqa: PLR0913  (the fields of the API's error object)
    status: int,
    message: str,
    *,
    code: str | None = None,
    kind: str = "invalid_request_error",
    param: str | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """An error in the shape of the OpenAI API."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json_answer(status, {"error": error}, headers)


def no_evidence_answer(why: str) -> Answer:
    return error_answer(400, f"The stand-in judges evidence only: {why}", code="no_evidence")


def models_answer(manners: Manners) -> Answer:
    if manners.models is not None:
        return _as_given(manners.models)
    model = {
        "id": MODEL,
        "object": "model",
        "created": 1_761_955_200,
        "owned_by": OWNER,
        "max_model_len": manners.context,
    }
    return json_answer(200, {"object": "list", "data": [model]})


def beside_answer(manners: Manners, path: str) -> Answer | None:
    """The side endpoint that these manners have at the path, with its query or without."""
    bare = path.partition("?")[0]
    for each in (path, bare):
        if each in manners.beside:
            return _as_given(manners.beside[each])
    return None


def _as_given(body: Any) -> Answer:
    if isinstance(body, str):
        return Answer(200, body.encode(), {"Content-Type": "text/html"})
    return json_answer(200, body)


def normal_answer(
    request: dict[str, Any], evidence: dict[str, Any], manners: Manners = NORMAL
) -> Answer:
    """The verdict by the word rules; 400 when the prompt is longer than the stated context."""
    tokens = prompt_tokens(request)
    if tokens > manners.context and not manners.truncates:
        return error_answer(
            400,
            f"This model's maximum context length is {manners.context} tokens. "
            f"However, you requested {tokens} tokens.",
            code="context_length_exceeded",
        )
    text = json.dumps(verdict_by(manners, evidence), ensure_ascii=False)
    return json_answer(200, thought_of(manners, completion(request, text, manners)))


def counted_answer(request: dict[str, Any], manners: Manners = NORMAL) -> Answer:
    """A word, with the count of what was read."""
    return json_answer(200, completion(request, "OK", manners))


def verdict_by(manners: Manners, evidence: dict[str, Any]) -> dict[str, Any]:
    return verdict(evidence, manners.buries) | (
        {} if manners.echoes_ref else {"ref": secrets.token_hex(8)}
    )


def completion(
    request: dict[str, Any],
    content: Any,
    manners: Manners = NORMAL,
    *,
    refusal: str | None = None,
    finish_reason: str | None = "stop",
) -> dict[str, Any]:
    """A chat.completion with this content."""
    prompt, completed = prompt_tokens(request), _tokens(content if isinstance(content, str) else "")
    if manners.truncates:
        prompt = min(prompt, manners.context)
    return {
        "id": f"chatcmpl-standin-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request["model"] if manners.served_model is None else manners.served_model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completed,
            "total_tokens": prompt + completed,
        },
    }


def thought_of(manners: Manners, whole: dict[str, Any]) -> dict[str, Any]:
    """The completion, with the thought where these manners put one."""
    message = whole["choices"][0]["message"]
    if manners.thinks == "field":
        message["reasoning_content"] = _THOUGHT
    elif manners.thinks and isinstance(message["content"], str):
        opened = "<think>\n" if manners.thinks == "tags" else ""
        message["content"] = f"{opened}{_THOUGHT}\n</think>\n\n{message['content']}"
    return whole


def prompt_tokens(request: dict[str, Any]) -> int:
    return sum(_tokens(message_text(message)) for message in request["messages"])


def _tokens(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN + 1
