"""Call after call, as a worker's thread makes them, and what came of each."""

from __future__ import annotations

import gc
import threading
import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from dev import programs
from dev.standin.words import judge

if TYPE_CHECKING:
    from classifier.models import PolicyVersion

RAISED = "raised"
TEXTS = (
    "See you at lunch.",
    "I will kill you tomorrow",
    "سأقتلك غدا",
    "Buy cheap watches",
    "You are an idiot and everybody knows it. " * 40,
)


@dataclass
class Seen:
    """What the calls came to. `refs`: each call's own outcome, to be joined with the stand-in's log."""

    refs: dict[str, str] = field(default_factory=dict)
    begun: int = 0
    longest: float = 0.0
    longest_reading: float = 0.0
    wrong: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take_number(self, most: int) -> int | None:
        with self.lock:
            if self.begun == most:
                return None
            self.begun += 1
            return self.begun - 1

    def add(self, ref: str, outcome: str, *, asking: float, reading: float, wrong: bool) -> None:
        with self.lock:
            self.refs[ref] = outcome
            self.longest = max(self.longest, asking)
            self.longest_reading = max(self.longest_reading, reading)
            self.wrong += wrong


def the_policy() -> PolicyVersion:
    from classifier.models import PolicyVersion  # noqa: PLC0415
    from classifier.policies import FIRST_POLICY, read_policy_file  # noqa: PLC0415

    title, content = read_policy_file(FIRST_POLICY, model=programs.STANDIN_MODEL)
    return PolicyVersion(number=1, title=title, **asdict(content))


def work(seen: Seen, policy: PolicyVersion, calls: int) -> None:
    while (number := seen.take_number(calls)) is not None:
        text = f"{TEXTS[number % len(TEXTS)]} ({number})"
        ask_and_read(seen, policy, text)


def ask_and_read(seen: Seen, policy: PolicyVersion, text: str) -> None:
    """As the pipeline does it, with a model that takes a schema."""
    from classifier import provider  # noqa: PLC0415
    from classifier.prompt import build_prompt, evidence_of  # noqa: PLC0415
    from classifier.reader import (  # noqa: PLC0415
        AnswerRefusedError,
        Expected,
        UnreadableReplyError,
        least_tokens,
        read_answer,
    )
    from classifier.verdict import answer_schema  # noqa: PLC0415
    from reports.submission import Submission  # noqa: PLC0415

    submission = Submission.model_validate(
        {"item": {"type": "message", "id": "m"}, "messages": [{"text": text, "reported": True}]}
    )
    prompt = build_prompt(policy=policy, evidence=evidence_of(submission, language="en"))
    schema = {"name": "verdict", "strict": True, "schema": answer_schema(policy, with_ref=True)}
    wrong = False
    asked = answered = time.monotonic()
    try:
        try:
            reply = provider.ask(
                model=policy.model,
                system=prompt.system,
                user=prompt.user,
                parameters={
                    "response_format": {"type": "json_schema", "json_schema": schema},
                    "max_completion_tokens": 2_000,
                    "temperature": 0,
                },
            )
        finally:
            answered = time.monotonic()
        answer = read_answer(
            reply.body,
            Expected(
                policy=policy,
                names={policy.model},
                ref=prompt.ref,
                least_tokens=least_tokens(prompt.system) + least_tokens(prompt.user),
                texts=[text],
            ),
        )
    except provider.ProviderError as error:
        outcome = str(error.fault.value)
    except UnreadableReplyError:
        outcome = "provider_unavailable (unreadable)"
    except AnswerRefusedError as error:
        outcome = str(error.reason.value)
    except Exception as error:  # noqa: BLE001 - in the table, and a broken limit
        outcome = f"{RAISED} {type(error).__name__}"
    else:
        outcome = "accepted"
        wrong = answer.verdict.category != judge([text]).category
    done = time.monotonic()
    seen.add(prompt.ref, outcome, asking=answered - asked, reading=done - answered, wrong=wrong)


def close_client() -> None:
    """Close what the pool keeps: whatever is open afterwards was forgotten by somebody."""
    from classifier import provider  # noqa: PLC0415

    for client in provider._clients.values():  # noqa: SLF001 - a process ends with it otherwise
        client.close()
    provider._clients.clear()  # noqa: SLF001
    gc.collect()
