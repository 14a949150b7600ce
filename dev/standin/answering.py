"""From a request for a completion to its answer: a script's step, a misbehaviour or the manners."""

import threading
from typing import Any

from dev.standin.answers import Answer, counted_answer, no_evidence_answer, normal_answer
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
        prompt = last_user_text(request["messages"])
        if message_text(request["messages"][0]) == COUNTING:
            # The product counts its tokens by that; no script is about it.
            return counted_answer(request, manners), self.calls.add(call_of(request, None, None))
        evidence: dict[str, Any] | None = None
        why = ""
        try:
            evidence = read_evidence(prompt)
        except EvidenceError as error:
            why = str(error)
        step = self.script.next_step(searchable_text(prompt, evidence))
        if step is None and manners.misbehave is not None:
            step = manners.misbehave.next_step()
        call = self.calls.add(call_of(request, evidence, step))
        self.stopping.wait(self.delay)
        if step is not None:
            self._wait_for(step)
        if step is not None and step["kind"] != "delay":
            return self._scripted(request, evidence, step, manners), call
        if (refusal := refusal_of(request, manners)) is not None:
            return refusal, call
        if evidence is None:
            return no_evidence_answer(why), call
        return normal_answer(request, evidence, manners), call

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
