"""The gate of the live server: nothing touches a database that is emptied."""

import threading
from collections.abc import Iterable
from typing import Any

from django.core.signals import request_finished

from classifier.tests.situations import wait_until
from reviews.tests.gate import Gate


def ask(gate: Gate) -> str:
    """The status of the answer; in a thread of its own, as the server does it."""
    said: list[str] = []
    visit = threading.Thread(target=gate, args=[{}, lambda status, _headers: said.append(status)])
    visit.start()
    visit.join()
    return said[0]


def answer(_environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("200 OK", [])
    request_finished.send(sender=None)
    return []


def test_whoever_comes_to_a_shut_gate_reaches_nothing() -> None:
    gate = Gate(answer)
    assert ask(gate).startswith("503")

    gate.open()
    assert ask(gate).startswith("200")

    gate.shut()
    assert ask(gate).startswith("503")


def test_it_is_shut_once_who_is_inside_has_left() -> None:
    entered, may_leave, is_shut = (threading.Event() for _each in range(3))

    def answer_late(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if not entered.is_set():  # the first one
            entered.set()
            assert may_leave.wait(10)
        return answer(environ, start_response)

    def shut() -> None:
        gate.shut()
        is_shut.set()

    gate = Gate(answer_late)
    gate.open()
    visitor, keeper = threading.Thread(target=ask, args=[gate]), threading.Thread(target=shut)
    visitor.start()
    assert entered.wait(10)
    keeper.start()
    wait_until(lambda: ask(gate).startswith("503"))
    assert not is_shut.is_set()

    may_leave.set()

    assert is_shut.wait(10)
    visitor.join()
    keeper.join()
