"""Reply after reply through a reader, each answer held against the strict reading."""

import json
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from classifier.models import PolicyVersion, WaitingReason
from classifier.policies import FIRST_POLICY, read_policy_file
from classifier.reader import AnswerRefusedError, Expected, UnreadableReplyError, read_answer
from dev.fuzz.mutations import reply
from dev.fuzz.replies import LEAST_TOKENS, MODEL, REF, SERVED, TEXTS
from dev.fuzz.strict_reading import strict_verdict

Reader = Callable[[bytes, Expected], dict[str, Any]]
"""Gives the verdict's fields; raises the reader's own two errors."""

KEPT_FINDINGS = 20
# Of the processor's time. The largest honest reply takes a few milliseconds.
LONGEST_READING_SECONDS = 1.0
TOO_SLOW = f"took longer than {LONGEST_READING_SECONDS:g} s"
ACCEPTED_WRONGLY = "accepted what a strict reading refuses"
ANOTHER_VERDICT = "read another verdict than a strict reading"
REFUSED_WRONGLY = "refused what is in order"


class TooSlowError(BaseException):
    """The reader was interrupted. Not an `Exception`, so that no reader mistakes it for its own."""


@dataclass(frozen=True)
class Finding:
    """A reply that was read wrongly. `thinks`: read as the answer of a known thinker."""

    what: str
    body: bytes
    thinks: bool


@dataclass
class Tally:
    """What became of some replies: how often each rule refused, and what went wrong."""

    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        self.outcomes += other.outcomes
        self.findings = (self.findings + other.findings)[:KEPT_FINDINGS]
        self.found += other.found

    def note(self, finding: Finding) -> None:
        self.found[finding.what] += 1
        if len(self.findings) < KEPT_FINDINGS:
            self.findings.append(finding)


def the_reader(body: bytes, expected: Expected) -> dict[str, Any]:
    """The product's."""
    return read_answer(body, expected).verdict.model_dump()


def a_lax_reader(body: bytes, expected: Expected) -> dict[str, Any]:
    """As many clients read: the standard library's JSON, and whatever keys and values are there."""
    try:
        found = json.loads(json.loads(body)["choices"][0]["message"]["content"])
        return {
            "summary": str(found["summary"]),
            "category": str(found["category"]),
            "confidence": float(found["confidence"]),
            "quotes": [each for each in found["quotes"] if any(each in t for t in expected.texts)],
        }
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        raise UnreadableReplyError("lax") from None


def expectation(*, thinks: bool) -> Expected:
    title, content = read_policy_file(FIRST_POLICY, model=MODEL)
    return Expected(
        policy=PolicyVersion(number=1, title=title, **asdict(content)),
        names={MODEL, SERVED},
        ref=REF,
        least_tokens=LEAST_TOKENS,
        texts=TEXTS,
        thinks=thinks,
    )


def read_many(*, seed: str, count: int, reader: Reader = the_reader) -> Tally:
    """So many replies, the same ones for the same seed."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    tally = Tally()
    expectations = [expectation(thinks=thinks) for thinks in (False, True)]
    categories = [each["id"] for each in expectations[0].policy.categories]
    for _reply in range(count):
        expected = expectations[chance.random() < 0.15]
        read_one(reply(chance, categories), expected, reader, tally)
    return tally


def read_one(body: bytes, expected: Expected, reader: Reader, tally: Tally) -> None:
    """Read it both ways and note what came of it."""
    strict = strict_verdict(body, expected)
    accepted: dict[str, Any] | None = None
    try:
        with bounded():
            accepted = reader(body, expected)
    except AnswerRefusedError as error:
        named = error.reason != WaitingReason.WRONG_MODEL  # whose detail is the name
        outcome = f"{error.reason}: {error.detail}" if named else str(error.reason.value)
    except UnreadableReplyError as error:
        outcome = f"unreadable: {error}"
    except (Exception, TooSlowError) as error:  # noqa: BLE001 - whatever it is, it is a finding
        slow = isinstance(error, TooSlowError)
        outcome = TOO_SLOW if slow else f"raised {type(error).__name__}"
        tally.outcomes[outcome] += 1
        tally.note(Finding(outcome, body, expected.thinks))
        return
    else:
        outcome = "accepted"
    tally.outcomes[outcome] += 1
    if accepted is not None and strict is None:
        tally.note(Finding(ACCEPTED_WRONGLY, body, expected.thinks))
    elif accepted is not None and accepted != strict:
        tally.note(Finding(ANOTHER_VERDICT, body, expected.thinks))
    elif accepted is None and strict is not None:
        # No danger, but then one of the two is not what its docstring says.
        tally.note(Finding(REFUSED_WRONGLY, body, expected.thinks))


@contextmanager
def bounded() -> Iterator[None]:
    """Interrupt what takes too long of the processor; in a process's main thread only."""

    def interrupt(_number: int, _frame: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST_READING_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
