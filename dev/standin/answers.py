"""From a chat request, its evidence and a scripted step to the HTTP answer. No sockets here."""

import json
import secrets
import time
from typing import Any, NamedTuple

from dev.standin.evidence import message_text, verdict

MODEL = "stand-in-not-a-model"
OWNER = "stand-in, not a model"
MAX_MODEL_LEN = 32_768
_BYTES_PER_TOKEN = 4


class Answer(NamedTuple):
    """What to send and how.

    `manner` is "whole", or a way to fail on the wire: "hang", "drip", "cut", "drop_after_answer".
    `seconds` is how long a hang or drip lasts, `interval` the pause between two blank lines.
    """

    status: int
    body: bytes
    headers: dict[str, str]
    manner: str = "whole"
    seconds: float = 0
    interval: float = 1


def json_answer(status: int, value: Any, headers: dict[str, str] | None = None) -> Answer:
    return Answer(
        status, json.dumps(value).encode(), {"Content-Type": "application/json"} | (headers or {})
    )


def error_answer(
    status: int,
    message: str,
    *,
    code: str | None = None,
    kind: str = "invalid_request_error",
    headers: dict[str, str] | None = None,
) -> Answer:
    """An error in the shape of the OpenAI API."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return json_answer(status, {"error": error}, headers)


def models_answer() -> Answer:
    model = {
        "id": MODEL,
        "object": "model",
        "created": 1_761_955_200,
        "owned_by": OWNER,
        "max_model_len": MAX_MODEL_LEN,
    }
    return json_answer(200, {"object": "list", "data": [model]})


def scripted_answer(
    request: dict[str, Any], evidence: dict[str, Any] | None, step: dict[str, Any]
) -> Answer:
    """The answer a step asks for; 400 where that needs a verdict and there is no evidence."""
    kind = step["kind"]
    headers = {str(name): str(value) for name, value in step.get("headers", {}).items()}
    if kind == "body":
        body = step["body"].encode("utf-8", "surrogatepass")
        return Answer(step.get("status", 200), body, {"Content-Type": "application/json"} | headers)
    if kind == "error":
        return error_answer(
            step["status"],
            step.get("message", "Scripted error."),
            code=step.get("code"),
            kind=step.get("type", "scripted_error"),
            headers=headers,
        )
    if kind == "hang":
        return Answer(200, b"", {}, "hang", step["seconds"])
    if kind in {"content", "refusal"} or (kind == "finish" and "content" in step):
        return _completion(
            request,
            content=step.get("content"),
            refusal=step.get("refusal"),
            finish_reason=step.get("finish_reason", "stop"),
        )
    if evidence is None:
        return no_evidence_answer("the scripted step needs a verdict")
    return _changed_answer(request, evidence, step)


def _changed_answer(
    request: dict[str, Any], evidence: dict[str, Any], step: dict[str, Any]
) -> Answer:
    """The normal answer with the change that the step asks for."""
    changed = verdict(evidence)
    options: dict[str, Any] = {}
    match step["kind"]:
        case "verdict":
            changed |= {name: value for name, value in step.items() if name != "kind"}
        case "wrong_ref":
            changed["ref"] = secrets.token_hex(8)
        case "finish":
            options["finish_reason"] = step["finish_reason"]
        case "wrong_model":
            options["model"] = step["model"]
        case "usage":
            options["usage"] = {name: step[name] for name in step if name.endswith("_tokens")}
    answer = _completion(request, content=json.dumps(changed, ensure_ascii=False), **options)
    if step["kind"] in {"drip", "cut", "drop_after_answer"}:
        seconds, interval = step.get("seconds", 0), step.get("interval", 1)
        return answer._replace(manner=step["kind"], seconds=seconds, interval=interval)
    return answer


def normal_answer(request: dict[str, Any], evidence: dict[str, Any]) -> Answer:
    """The verdict by the word rules; 400 when the prompt is longer than the stated context."""
    tokens = prompt_tokens(request)
    if tokens > MAX_MODEL_LEN:
        return error_answer(
            400,
            f"This model's maximum context length is {MAX_MODEL_LEN} tokens. "
            f"However, you requested {tokens} tokens.",
            code="context_length_exceeded",
        )
    return _completion(request, content=json.dumps(verdict(evidence), ensure_ascii=False))


def no_evidence_answer(why: str) -> Answer:
    return error_answer(400, f"The stand-in judges evidence only: {why}", code="no_evidence")


def prompt_tokens(request: dict[str, Any]) -> int:
    return sum(_tokens(message_text(message)) for message in request["messages"])


def _tokens(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN + 1


def _completion(
    request: dict[str, Any],
    *,
    content: str | None,
    refusal: str | None = None,
    finish_reason: str = "stop",
    **changes: Any,
) -> Answer:
    """A chat.completion; `changes` are `model` and counts of `usage` to put in instead."""
    prompt, completed = prompt_tokens(request), _tokens(content if isinstance(content, str) else "")
    usage = {
        "prompt_tokens": prompt,
        "completion_tokens": completed,
        "total_tokens": prompt + completed,
    }
    completion = {
        "id": f"chatcmpl-standin-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": changes.get("model", request["model"]),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": usage | changes.get("usage", {}),
    }
    return json_answer(200, completion)
