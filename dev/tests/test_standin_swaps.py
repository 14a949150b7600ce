"""Two calls that take a swap get each other's answer."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from dev.standin.client import Standin
from dev.standin.server import running_standin
from dev.tests.test_standin import ask, evidence, verdict_of

LONG = 60


def answer_of(standin: Standin, ref: str) -> tuple[str, str]:
    """The ref and the model that come back."""
    _, completion = ask(standin, evidence("Good morning", ref=ref), model=f"model of {ref}")
    return verdict_of(completion)["ref"], completion["model"]


def test_each_gets_the_others_whole_answer(standin: Standin) -> None:
    standin.script({"kind": "swap", "seconds": LONG}, times=2)
    with ThreadPoolExecutor() as threads:
        got = list(threads.map(lambda ref: answer_of(standin, ref), ["a", "b"]))
    assert got == [("b", "model of b"), ("a", "model of a")]
    assert [call["step"] for call in standin.calls()] == ["swap", "swap"]


def test_alone_it_gets_its_own_after_the_time(standin: Standin) -> None:
    standin.script({"kind": "swap", "seconds": 0.2}, times=2)
    started = time.monotonic()
    assert answer_of(standin, "a")[0] == "a"
    assert time.monotonic() - started >= 0.2
    # Whoever has gone is not swapped with.
    assert answer_of(standin, "b")[0] == "b"


def test_many_swap_in_pairs_and_nobody_keeps_or_loses_an_answer(standin: Standin) -> None:
    refs = [f"r{number}" for number in range(40)]
    standin.script({"kind": "swap", "seconds": LONG}, times=len(refs))
    with ThreadPoolExecutor(8) as threads:
        got = dict(
            zip(refs, threads.map(lambda ref: answer_of(standin, ref)[0], refs), strict=True)
        )
    assert sorted(got.values()) == sorted(refs)
    assert all(got[other] == ref and other != ref for ref, other in got.items())


def test_calls_without_a_swap_are_not_in_it(standin: Standin) -> None:
    standin.script({"kind": "swap", "seconds": LONG}, match="first", times=1)
    standin.script({"kind": "swap", "seconds": LONG}, match="second", times=1)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(ask, standin, evidence("first", ref="a"))
        wait_until_asked(standin, 1)
        assert answer_of(standin, "c")[0] == "c"
        second = ask(standin, evidence("second", ref="b"))
    assert verdict_of(second[1])["ref"] == "a"
    assert verdict_of(first.result()[1])["ref"] == "b"


def test_clearing_the_script_lets_the_one_who_waits_go(standin: Standin) -> None:
    standin.script({"kind": "swap", "seconds": LONG})
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(answer_of, standin, "a")
        wait_until_asked(standin, 1)
        while not waiting.done():
            # Again and again: the call is logged a moment before it waits.
            standin.clear()
    assert waiting.result()[0] == "a"


def test_stopping_lets_the_one_who_waits_go() -> None:
    got: list[str] = []
    with running_standin() as standin:
        standin.script({"kind": "swap", "seconds": LONG})
        thread = threading.Thread(target=lambda: got.append(answer_of(standin, "a")[0]))
        thread.start()
        wait_until_asked(standin, 1)
        started = time.monotonic()
    thread.join()
    assert got == ["a"]
    assert time.monotonic() - started < LONG / 2


def wait_until_asked(standin: Standin, number: int) -> None:
    deadline = time.monotonic() + 10
    while len(standin.calls()) < number:
        assert time.monotonic() < deadline
