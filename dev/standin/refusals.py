"""How kinds of servers refuse a response format or a parameter; which, say the manners."""

from typing import Any

from dev.standin.answers import Answer, completion, error_answer, json_answer
from dev.standin.calls import response_format_type
from dev.standin.manners import Manners

_PROSE = "I have read the report. Its tone is not unusual, though I would want more context."


def refusal_of(request: dict[str, Any], manners: Manners) -> Answer | None:
    """The refusal of this request; None: nothing in it is refused."""
    for name in manners.refused_parameters:
        if name in request:
            return _parameter_refused(name, request[name], manners)
    if request.get("response_format") is None:
        return None
    mode = response_format_type(request["response_format"])
    return None if mode in manners.modes else _mode_refused(request, str(mode), manners)


def _parameter_refused(name: str, value: Any, manners: Manners) -> Answer:
    if manners.parameter_style == "fastapi":
        return _detail(name, "Extra inputs are not permitted", "extra_forbidden", value)
    if manners.parameter_style == "message":
        return error_answer(400, f"Unrecognized request argument supplied: {name}")
    return error_answer(
        400,
        f"Unsupported parameter: '{name}' is not supported with this model.",
        code="unsupported_parameter",
        param=name,
    )


def _mode_refused(request: dict[str, Any], mode: str, manners: Manners) -> Answer:
    accepted = " or ".join(repr(one) for one in manners.modes)
    match manners.mode_refusal:
        case "ignored":
            return json_answer(200, completion(request, _PROSE, manners))
        case "empty":
            return json_answer(200, completion(request, "", manners))
        case "422":
            path = "response_format.type"
            return _detail(path, f"Input should be {accepted}", "literal_error", mode)
        case "500":
            # llama-cpp-python: pydantic's list of errors, as Python prints it, in the message.
            errors = [
                {
                    "type": "literal_error",
                    "loc": ("body", "response_format", "type"),
                    "msg": f"Input should be {accepted}",
                    "input": mode,
                    "ctx": {"expected": accepted},
                }
            ]
            return error_answer(500, str(errors), kind="internal_server_error")
    return error_answer(
        400,
        f"Invalid parameter: 'response_format' of type '{mode}' is not supported with this model.",
        param="response_format",
    )


def _detail(path: str, message: str, kind: str, value: Any) -> Answer:
    """FastAPI's answer to a request that does not fit its model."""
    where = ["body", *path.split(".")]
    return json_answer(
        422, {"detail": [{"type": kind, "loc": where, "msg": message, "input": value}]}
    )
