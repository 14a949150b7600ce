"""From a request for a completion to its answer: a script's step, a misbehaviour or the manners."""

import threading
from typing import Any

from dev.standin.answers import (
    Answer,
    counted_answer,
    error_answer,
    no_evidence_answer,
    normal_answer,
)
from dev.standin.calls import Calls, call_of
from dev.standin.evidence import (
    EvidenceError,
    last_user_text,
    message_text,
    read_evidence,
    searchable_text,
)
from dev.standin.manners import NORMAL, Manners
from dev.standin.refusals import refusal_of
from dev.standin.script import Script
from dev.standin.scripted import scripted_answer
from dev.standin.swaps import Swaps

# What the product says where it only wants to know how many tokens were read.
COUNTING = "Answer with the word OK."


class Answering:
    """What the stand-in was told and asked. `delay` is every answer's latency in seconds."""

    def __init__(self, *, delay: float) -> None:
        self.delay = delay
        self.script = Script()
        self.manners = NORMAL
        self.calls = Calls()
        self.stopping = threading.Event()
        """Set at the end; whoever waits, waits on it."""
        self.swaps = Swaps(self.stopping)

    def answer(self, request: dict[str, Any]) -> tuple[Answer, dict[str, Any]]:
        """The answer, when its time has come, and the call in the log."""
        # Read once: other manners may come while this call waits.
        manners = self.manners
        if _only_counts(request):
            # No script is about it.
            return counted_answer(request, manners), self.calls.add(call_of(request, None, None))
        evidence, why = _evidence_of(request)
        step = self._step_for(request, evidence, manners)
        call = self.calls.add(call_of(request, evidence, step))
        self.stopping.wait(self.delay)
        if step is not None:
            self._wait_for(step)
        return self._answer_by(request, evidence, why, step, manners), call

    def answer_line(self, request: dict[str, Any]) -> Answer:
        """The answer to a line of a batch: at once, and no call in the log."""
        manners = self.manners
        if problem := problem_of(request):
            return error_answer(400, problem)
        if _only_counts(request):
            return counted_answer(request, manners)
        evidence, why = _evidence_of(request)
        step = self._step_for(request, evidence, manners)
        if step is not None and step["kind"] == "swap":
            step = None  # nobody would come to exchange with
        return self._answer_by(request, evidence, why, step, manners)

    def _step_for(
        self, request: dict[str, Any], evidence: dict[str, Any] | None, manners: Manners
    ) -> dict[str, Any] | None:
        step = None
        if self.script:
            prompt = last_user_text(request["messages"])
            step = self.script.next_step(searchable_text(prompt, evidence))
        if step is None and manners.misbehave is not None:
            step = manners.misbehave.next_step()
        return step

    def _answer_by(
        self,
        request: dict[str, Any],
        evidence: dict[str, Any] | None,
        why: str,
        step: dict[str, Any] | None,
        manners: Manners,
    ) -> Answer:
        if step is not None and step["kind"] != "delay":
            return self._scripted(request, evidence, step, manners)
        if (refusal := refusal_of(request, manners)) is not None:
            return refusal
        if evidence is None:
            return no_evidence_answer(why)
        return normal_answer(request, evidence, manners)

    def _wait_for(self, step: dict[str, Any]) -> None:
        own = step["seconds"] if step["kind"] == "delay" else 0
        self.stopping.wait(own + step.get("after_seconds", 0))

    def _scripted(
        self,
        request: dict[str, Any],
        evidence: dict[str, Any] | None,
        step: dict[str, Any],
        manners: Manners,
    ) -> Answer:
        answer = scripted_answer(request, evidence, step, manners)
        if step["kind"] == "swap" and evidence is not None:
            return self.swaps.exchange(answer, step["seconds"])
        return answer

    def stop(self) -> None:
        """Let whoever waits here go on at once."""
        self.stopping.set()
        self.swaps.release()


def problem_of(request: Any) -> str | None:
    """Why this is no request for a completion, as a sentence."""
    if not isinstance(request, dict) or not isinstance(request.get("model"), str):
        return "model is required."
    if not isinstance(request.get("messages"), list) or not request["messages"]:
        return "messages is a list of at least one message."
    if request.get("stream"):
        return "The stand-in does not stream."
    return None


def _only_counts(request: dict[str, Any]) -> bool:
    return message_text(request["messages"][0]) == COUNTING


def _evidence_of(request: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The evidence, or why there is none."""
    try:
        return read_evidence(last_user_text(request["messages"])), ""
    except EvidenceError as error:
        return None, str(error)
