"""aimock, a mock of OpenAI's API that others wrote: faults over real HTTP, counted by its journal."""

from __future__ import annotations

import json
import os
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from django.conf import settings

from dev.interop.aimock_faults import CONTEXT, FAULTS, Fault, answers_to
from dev.interop.batch_checks import ENDS, try_batches
from dev.interop.ending import running_endings
from dev.interop.history_checks import HISTORY_ENDS, try_history
from dev.interop.history_checks import MODEL as HISTORY_MODEL
from dev.interop.packages import MissingError, aimock_command
from dev.interop.tally import say
from dev.processes import Program, free_port, wait_until
from dev.product import answers_ok

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.interop.questions import Client
    from dev.interop.run import Run
    from dev.interop.tally import Tally

SERVER = "aimock"
START_SECONDS = 30.0


CHECKS = len(FAULTS) + len(ENDS) + len(HISTORY_ENDS)


def try_aimock(run: Run, client: Client) -> None:
    """Each fault once, then each end of a batch: as the client sees it, and of history."""
    tally, check, supervisor = run.tally, run.check, run.supervisor
    try:
        command = aimock_command(supervisor, check=check)
    except MissingError as error:
        tally.skip(SERVER, why=f"{error}.", count=CHECKS)
        return
    fixtures = run.directory / "aimock-fixtures.json"
    rows = [fixture for fault in FAULTS for fixture in fault.fixtures()]
    rows.append(answers_to(HISTORY_MODEL))
    fixtures.write_text(json.dumps({"fixtures": rows}), "utf-8")
    port = free_port()
    root = f"http://127.0.0.1:{port}"

    def starting() -> None:
        check()
        supervisor.check(starting=True)

    supervisor.start(
        Program(
            "aimock",
            (*command, "-h", "127.0.0.1", "-p", str(port), "-f", str(fixtures)),
            {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            restart=False,
            grace=5.0,
        )
    )
    try:
        wait_until(
            lambda: answers_ok(f"{root}/v1/models"),
            seconds=START_SECONDS,
            what="aimock did not answer",
            check=starting,
        )
        say(f"aimock answers: {len(FAULTS)} faults, each under a model name of its own")
        for fault in FAULTS:
            _try_fault(tally, client, fault, root=root)
        with running_endings(port=port) as endings:
            try_batches(tally, client, endings, check=check)
            try_history(tally, client, endings, check=check)
    finally:
        supervisor.stop_one("aimock")


def _try_fault(tally: Tally, client: Client, fault: Fault, *, root: str) -> None:
    client.use(base_url=f"{root}/v1", model=fault.model)
    client.record_limit(CONTEXT)
    message = {"id": "m-1", "text": f"See you at lunch, {fault.marker}", "reported": True}
    report = client.send({"item": {"type": "post", "id": fault.model}, "messages": [message]})
    with _deadline(fault.deadline):
        came = client.ask(report)
    asked = _requests_about(root, fault.marker)
    wrong = []
    if not came.reason.startswith(fault.reasons):
        wrong.append(f"expected {' or '.join(fault.reasons)}")
    if fault.detail and came.detail not in ("", fault.detail):
        wrong.append(f"expected to be refused for its {fault.detail}")
    if asked != fault.requests:
        wrong.append(f"expected {fault.requests}")
    if came.recorded or came.status == "judged_safe":
        wrong.append("nothing here is a verdict")
    if came.waits < fault.waits - 1:
        wrong.append(f"waits {came.waits:.0f} s, asked to wait {fault.waits:.0f}")
    told = f"{came}, requests in the journal: {asked}"
    tally.record(f"{SERVER}: {fault.name}", passed=not wrong, came="; ".join((told, *wrong)))


def _requests_about(root: str, marker: str) -> int:
    """How many completion requests with this text aimock's journal holds."""
    with urllib.request.urlopen(f"{root}/__aimock/journal", timeout=10) as response:  # noqa: S310  ours
        journal: list[dict[str, Any]] = json.load(response)
    return sum(
        entry["path"].endswith("/chat/completions") and marker in json.dumps(entry["body"])
        for entry in journal
    )


@contextmanager
def _deadline(seconds: float | None) -> Iterator[None]:
    """Another deadline of a call for one question; None leaves it."""
    before = settings.MODEL_DEADLINE_SECONDS
    if seconds is not None:
        settings.MODEL_DEADLINE_SECONDS = seconds
    try:
        yield
    finally:
        settings.MODEL_DEADLINE_SECONDS = before
