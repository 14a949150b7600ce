"""A server that is not well: reproducible by its seed, and never wrong in a way that counts."""

import contextlib
import http.client
import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dev.standin.client import Standin
from dev.standin.misbehaviour import Misbehaviour
from dev.standin.script import Script
from dev.standin.steps import KINDS
from dev.tests.test_standin import ask, evidence, post, request_body

FOUND = evidence("I will kill you tomorrow")
NORMAL = ("credible_threat", 0.95, ["I will kill you tomorrow"])
STEPS = 2000


def steps(number: int, **manners: Any) -> list[dict[str, Any] | None]:
    server = Misbehaviour(**manners)
    return [server.next_step() for _ in range(number)]


def test_the_same_seed_gives_the_same_steps_and_another_one_others() -> None:
    assert steps(200, seed=7, share=0.5) == steps(200, seed=7, share=0.5)
    assert steps(200, seed=7, share=0.5) != steps(200, seed=8, share=0.5)


def test_the_same_seed_gives_the_same_steps_over_http(standin: Standin) -> None:
    seen = []
    for _ in range(2):
        standin.behave(misbehave={"seed": 3, "share": 0.8, "slow": 0.01})
        for _call in range(40):
            with contextlib.suppress(OSError, http.client.HTTPException):
                post(standin, request_body(FOUND))
        seen.append([call["step"] for call in standin.calls()])
        standin.clear()
    assert seen[0] == seen[1]
    assert None in seen[0]


def test_the_share_is_the_share() -> None:
    assert steps(100, share=0) == [None] * 100
    assert None not in steps(100, share=1)
    faults = sum(step is not None for step in steps(STEPS, share=0.3))
    assert 0.25 < faults / STEPS < 0.35


def test_every_kind_of_a_script_happens_and_each_step_is_one() -> None:
    found = [step for step in steps(STEPS) if step is not None]
    assert {step["kind"] for step in found} == KINDS
    Script().add({"answers": found})


def test_kinds_narrow_the_choice() -> None:
    assert {step["kind"] for step in steps(50, kinds=["cut", "close"]) if step} == {"cut", "close"}


def test_slow_bounds_every_wait() -> None:
    found = [step for step in steps(STEPS, slow=0.2) if step is not None]
    assert max(step.get("seconds", 0) for step in found) <= 0.2
    waits = {step.get("headers", {}).get("retry-after") for step in found}
    assert {"0.2", "soon", None} <= waits
    assert not any(wait.isdigit() and int(wait) > 0 for wait in waits if wait)


def test_a_scripted_step_comes_first(standin: Standin) -> None:
    standin.behave(misbehave={"share": 1, "kinds": ["close"]})
    standin.script({"kind": "error", "status": 418})
    assert ask(standin, FOUND)[0] == 418


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_step_of_a_kind_gives_a_valid_verdict_other_than_the_normal(
    standin: Standin, kind: str
) -> None:
    """By a reader that forgives a lot; a ref or a model that is not ours is seen by any reader."""
    standin.behave(misbehave={"seed": 1, "share": 1, "slow": 0.02, "kinds": [kind]})
    for _ in range(60 if kind not in {"gzip", "flood"} else 3):
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, raw, response = post(standin, request_body(FOUND), timeout=2)
            if response.headers.get("content-encoding") == "gzip":
                raw = zlib.decompress(raw, wbits=zlib.MAX_WBITS | 16)
            found = forgiving_reader(raw) if status == 200 else None
            assert found in (None, NORMAL)


def forgiving_reader(raw: bytes) -> tuple[Any, ...] | None:
    try:
        message = json.loads(raw)["choices"][0]["message"]
        text = message["content"] or message["reasoning_content"]
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
        category, confidence = found["category"].strip(), float(found["confidence"])
        quotes = found["quotes"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if category in {"harmless", "تهديد"} or type(found["confidence"]) not in {int, float}:
        return None
    valid = 0 <= confidence <= 1 and len(quotes) <= 3 and len(found["summary"] or "") < 1000
    if not valid or found.keys() != {"ref", "summary", "category", "confidence", "quotes"}:
        return None
    return category, confidence, quotes


def test_threads_share_one_count(standin: Standin) -> None:
    """Whatever order they come in, the steps given are those of the seed."""
    manners: dict[str, Any] = {"seed": 5, "share": 0.5, "kinds": ["error", "cut", "close"]}
    standin.behave(misbehave=manners)
    _hammer(standin, threads=8, each=10)
    wanted = [step and step["kind"] for step in steps(80, **manners)]
    got = [call["step"] for call in standin.calls()]
    assert sorted(map(str, got)) == sorted(map(str, wanted))


def _hammer(standin: Standin, *, threads: int, each: int) -> None:
    def work(_: int) -> None:
        for _call in range(each):
            with contextlib.suppress(OSError, http.client.HTTPException):
                post(standin, request_body(FOUND))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
