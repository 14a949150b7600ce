"""From a step to the HTTP answer it asks for; the table of steps is in `script`."""

import base64
import json
import secrets
import zlib
from typing import Any

from dev.standin.answers import (
    Answer,
    completion,
    error_answer,
    json_answer,
    no_evidence_answer,
    thought_of,
    verdict_by,
)
from dev.standin.manners import NORMAL, Manners
from dev.standin.wire import MEGABYTE, of_white_space

_WIRE_ONLY = frozenset({"hang", "close", "reset", "flood"})
WIRE_WITH_ANSWER = frozenset({"drip", "drip_headers", "cut", "drop_after_answer"})
_WIRE_FIELDS = ("seconds", "interval", "megabytes")
_THINKING = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
_JSON = {"Content-Type": "application/json"}


def scripted_answer(
    request: dict[str, Any],
    evidence: dict[str, Any] | None,
    step: dict[str, Any],
    manners: Manners = NORMAL,
) -> Answer:
    """The answer a step asks for; 400 where that needs a verdict and there is no evidence."""
    answer = answer_without_verdict(step)
    if answer is not None:
        return answer
    kind = step["kind"]
    if kind in {"content", "refusal"} or (kind == "finish" and "content" in step):
        whole = completion(
            request,
            step.get("content"),
            manners,
            refusal=step.get("refusal"),
            finish_reason=step.get("finish_reason", "stop"),
        )
        return json_answer(200, whole)
    if evidence is None:
        return no_evidence_answer("the scripted step needs a verdict")
    return _changed_answer(request, evidence, step, manners)


def answer_without_verdict(step: dict[str, Any]) -> Answer | None:
    """The answer of a step that is about no verdict; None for the others."""
    kind = step["kind"]
    headers = {_latin(name): _latin(value) for name, value in step.get("headers", {}).items()}
    if kind in _WIRE_ONLY:
        return Answer(200, b"", dict(_JSON), **_wire(step))
    match kind:
        case "raw" if not step.get("answer", False):
            return Answer(200, base64.b64decode(step["base64"]), {}, "raw")
        case "redirect":
            location = {"Location": _latin(step["location"])}
            return Answer(step.get("status", 307), b"", location | headers)
        case "body":
            return Answer(step.get("status", 200), _body(step), _JSON | headers)
        case "error":
            return _error(step, headers)
    return None


def _body(step: dict[str, Any]) -> bytes:
    if "body_base64" in step:
        return base64.b64decode(step["body_base64"])
    text: str = step["body"]
    return text.encode("utf-8", "surrogatepass")


def _error(step: dict[str, Any], headers: dict[str, str]) -> Answer:
    if "body" in step:
        return json_answer(step["status"], step["body"], headers)
    return error_answer(
        step["status"],
        step.get("message", "Scripted error."),
        code=step.get("code"),
        kind=step.get("type", "scripted_error"),
        param=step.get("param"),
        headers=headers,
    )


def _changed_answer(
    request: dict[str, Any], evidence: dict[str, Any], step: dict[str, Any], manners: Manners
) -> Answer:
    """The normal answer with the change that the step asks for."""
    kind = step["kind"]
    found = verdict_by(manners, evidence)
    match kind:
        case "verdict":
            found |= {name: step[name] for name in step.keys() - {"kind", "after_seconds"}}
        case "wrong_ref":
            found["ref"] = secrets.token_hex(8)
        case "edit":
            dropped = step.get("drop", [])
            found = {name: one for name, one in found.items() if name not in dropped}
            found |= step.get("add", {})
    text = json.dumps(found, ensure_ascii=False)
    if kind == "edit":
        edited = _replaced(text, step.get("replace", []))
        if edited is None:
            return error_answer(400, f"Nothing to edit in {text}", code="nothing_to_edit")
        text = edited
    content = _dressed(text, step) if kind == "dress" else text
    whole = completion(request, content, manners, finish_reason=step.get("finish_reason", "stop"))
    whole = _reshaped(thought_of(manners, whole), step, {"$verdict": text, "$ref": evidence["ref"]})
    answer = json_answer(200, whole)
    if kind == "gzip":
        return _packed(answer, step["megabytes"])
    if kind == "raw":
        return answer._replace(manner=kind, body=base64.b64decode(step["base64"]) + answer.body)
    if kind in WIRE_WITH_ANSWER:
        return sent_otherwise(answer, step)
    return answer


def sent_otherwise(answer: Answer, step: dict[str, Any]) -> Answer:
    """The answer, sent in one of the ways `WIRE_WITH_ANSWER`."""
    return answer._replace(status=step.get("status", answer.status), **_wire(step))


def _wire(step: dict[str, Any]) -> dict[str, Any]:
    wire: dict[str, Any] = {"manner": step["kind"]}
    return wire | {name: step[name] for name in _WIRE_FIELDS if name in step}


def _replaced(text: str, replacements: list[list[str]]) -> str | None:
    """None where there are replacements and none of them is found."""
    found = not replacements
    for old, new in replacements:
        found = found or old in text
        text = text.replace(old, new)
    return text if found else None


def _dressed(text: str, step: dict[str, Any]) -> str | list[dict[str, Any]]:
    text = f"{step.get('before', '')}{text}{step.get('after', '')}"
    if not step.get("parts", False):
        return text
    half = len(text) // 2
    chunks = [{"type": "text", "text": part} for part in (text[:half], text[half:])]
    return [_THINKING, *chunks]


def _reshaped(
    whole: dict[str, Any], step: dict[str, Any], meanings: dict[str, str]
) -> dict[str, Any]:
    """The completion with the fields that the step sets in it."""
    choice = whole["choices"][0]
    fields = _meant(step.get("fields", {}), meanings)
    match step["kind"]:
        case "message":
            choice["message"] |= fields
        case "choice":
            choice |= fields
        case "envelope":
            whole |= fields
            without = step.get("without", [])
            whole = {name: one for name, one in whole.items() if name not in without}
        case "wrong_model":
            whole["model"] = step["model"]
        case "usage":
            whole["usage"] |= {name: step[name] for name in step if name.endswith("_tokens")}
    return whole


def _meant(value: Any, meanings: dict[str, str]) -> Any:
    """The value with "$verdict" and "$ref" replaced in every text of it."""
    if isinstance(value, str):
        # The ref first: the verdict's text may hold a "$ref" that the reported text wrote.
        for mark in ("$ref", "$verdict"):
            value = value.replace(mark, meanings[mark])
        return value
    if isinstance(value, list):
        return [_meant(one, meanings) for one in value]
    if isinstance(value, dict):
        return {name: _meant(one, meanings) for name, one in value.items()}
    return value


def _packed(answer: Answer, megabytes: float) -> Answer:
    """The answer as gzip, after so many MB of white space."""
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    pieces = [packer.compress(piece) for piece in of_white_space(int(megabytes * MEGABYTE))]
    pieces += [packer.compress(answer.body), packer.flush()]
    headers = answer.headers | {"Content-Encoding": "gzip"}
    return answer._replace(body=b"".join(pieces), headers=headers)


def _latin(value: Any) -> str:
    """A header's text as http.server wants it: beyond Latin-1 its UTF-8 bytes."""
    text = str(value)
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("latin-1")
    return text
