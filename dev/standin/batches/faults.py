"""What goes wrong with the next calls of the Files and Batch API. Safe among threads.

A fault is `{"on": operation, "step": step of a script, "times": 1, "effect": true}`. With `effect`
the server does what was asked and only the answer is the step's: `{"kind": "close"}` on "create"
leaves a batch that nobody was told of. Without, nothing is done.
"""

import threading
from typing import Any

from dev.standin.answers import Answer
from dev.standin.checks import BOOLEAN, OBJECT, POSITIVE, Check, check_fields, one_of
from dev.standin.scripted import answer_without_verdict, sent_otherwise
from dev.standin.steps import ScriptError, check_step

OPERATIONS = (
    "upload",
    "list_files",
    "retrieve_file",
    "delete",
    "download",
    "create",
    "list_batches",
    "retrieve",
    "cancel",
)
_OF_THE_ANSWER = ("cut", "drop_after_answer")
_KINDS = (
    *("delay", "error", "body", "redirect", "hang", "close", "reset", "raw", "flood"),
    *_OF_THE_ANSWER,
)
_FIELDS: dict[str, Check] = {
    "on": one_of(*OPERATIONS),
    "step": OBJECT,
    "times": POSITIVE,
    "effect": BOOLEAN,
}


class Faults:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[dict[str, Any]] = []

    def add(self, fault: Any) -> None:
        """Raises ScriptError."""
        if not isinstance(fault, dict) or not {"on", "step"} <= fault.keys():
            raise ScriptError("A fault is an object with an operation, on, and a step.")
        check_fields(fault, _FIELDS, "A fault")
        check_step(fault["step"])
        if fault["step"]["kind"] not in _KINDS:
            raise ScriptError(f"The step of a fault is one of: {', '.join(_KINDS)}.")
        with self._lock:
            self._faults.append({"times": 1, "effect": True} | fault)

    def clear(self) -> None:
        with self._lock:
            self._faults.clear()

    def next_for(self, operation: str) -> dict[str, Any] | None:
        with self._lock:
            fault = next((one for one in self._faults if one["on"] == operation), None)
            if fault is not None:
                fault["times"] -= 1
                if not fault["times"]:
                    self._faults = [one for one in self._faults if one is not fault]
            return fault


def seconds_of(step: dict[str, Any]) -> float:
    """How long the answer waits for this step."""
    own = step["seconds"] if step["kind"] == "delay" else 0
    return float(own + step.get("after_seconds", 0))


def faulty(answer: Answer, step: dict[str, Any]) -> Answer:
    if step["kind"] in _OF_THE_ANSWER:
        return sent_otherwise(answer, step)
    return answer_without_verdict(step) or answer
