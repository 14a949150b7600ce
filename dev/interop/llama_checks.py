"""A real llama.cpp server with a small real model: what it answers, and what it breaks.

The model's judgements are worth nothing; what counts is that each one ends where it should.
"""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from classifier.models import ProviderModel
from classifier.tokens import Counting
from dev.errors import DevError
from dev.interop.answering import mixed_samples, try_reports, try_too_many_parts
from dev.interop.limit_checks import SAMPLES, listed_meta, tokens_of, try_counting, try_limit
from dev.interop.packages import MissingError, python_with_llama
from dev.interop.splitting import try_split
from dev.interop.tally import say
from dev.processes import Program, free_port, wait_until
from dev.product import answers_ok

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.interop.questions import Client
    from dev.interop.run import Run
    from dev.interop.tally import Tally
    from dev.processes import Supervisor

PROGRAM = Path(__file__).with_name("llama_server.py")
SERVER = "llama.cpp"
MODEL = "smollm2-135m-instruct"
CONTEXT = 3072
"""Tokens at run time: less leaves little beside policy and answer. It was trained for 8,192."""
CHECKS = 11
START_SECONDS = 60.0
SECONDS_FOR_THE_PARTS = 140.0
SECONDS_FOR_THE_REST = 30.0
"""What the checks after the many reports take on a busy machine."""
MOST_TRIES = 6
"""Of the long report: a model this small writes a number above 1 now and then."""
AGAIN_SECONDS = 60.0
KILLED_AT_WORK_SECONDS = 1.0  # reading the policy alone takes it several


class LlamaServer:
    """The process, which can be killed and started again at the same address."""

    def __init__(self, supervisor: Supervisor, python: Path, *, check: Callable[[], None]) -> None:
        self._supervisor = supervisor
        self._check = check
        self._port = free_port()
        self._program = Program(
            "llama",
            (str(python), "-I", str(PROGRAM), str(self._port), str(CONTEXT), MODEL),
            {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
            restart=False,
            grace=5.0,
        )
        self.root = f"http://127.0.0.1:{self._port}"
        self.base_url = f"{self.root}/v1"

    def start(self) -> float:
        """Return when it answers, and how many seconds that took; DevError when it does not."""

        def starting() -> None:
            self._check()
            self._supervisor.check(starting=True)

        began = time.monotonic()
        self._supervisor.start(self._program)
        wait_until(
            lambda: answers_ok(f"{self.root}/v1/models"),
            seconds=START_SECONDS,
            what="the llama.cpp server did not answer",
            check=starting,
        )
        return time.monotonic() - began

    def kill(self) -> None:
        """SIGKILL, as the kernel does it to what takes too much memory."""
        pid = self._supervisor.pid(self._program.name)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)
        self.stop()

    def stop(self) -> None:
        self._supervisor.stop_one(self._program.name)

    def is_at_work(self) -> bool:
        """By the server's own word: it is computing an answer now."""
        with urllib.request.urlopen(f"{self.root}/slots", timeout=10) as response:  # noqa: S310  ours
            return any(slot["is_processing"] for slot in json.load(response))


def try_llama(run: Run, client: Client) -> None:
    """All checks of this server."""
    tally, check = run.tally, run.check
    try:
        python = python_with_llama(run.supervisor, check=check)
    except MissingError as error:
        tally.skip(SERVER, why=f"{error}.", count=CHECKS)
        return
    server = LlamaServer(run.supervisor, python, check=check)
    seconds = server.start()
    say(f"llama.cpp answers after {seconds:.1f} s: {MODEL}, n_ctx {CONTEXT} at run time "
        f"(8192 in training), one slot; its judgements are worth nothing")  # fmt: skip
    try:
        client.use(base_url=server.base_url, model=MODEL, short_policy=True)
        until = time.monotonic() + run.seconds - SECONDS_FOR_THE_REST
        learnt = _try_what_a_probe_finds_out(tally, client, server)
        client.listener.clear()
        try_reports(
            tally, client, server=SERVER, count=run.reports, until=until - SECONDS_FOR_THE_PARTS
        )
        calls = [call for call in client.listener.calls if call.is_about_a_report]
        try_counting(
            tally,
            server=SERVER,
            root=server.root,
            counting=learnt,
            calls=calls,
            least=min(SAMPLES, run.reports),
        )
        try_too_many_parts(tally, client, server=SERVER, limit=CONTEXT)
        try_split(
            tally,
            client,
            server=SERVER,
            limit=CONTEXT,
            tokens_of=partial(tokens_of, server.root),
            most_tries=MOST_TRIES,
            until=until,
        )
        _try_a_kill(tally, client, server, check=check)
        _try_wrong_settings(tally, client, server)
    finally:
        server.stop()


def _ask_for_no_reference(client: Client) -> None:
    row = client.row()
    if row.echoes_ref:
        ProviderModel.objects.filter(pk=row.pk).update(echoes_ref=False)
        say("        echoes_ref is turned off by hand for what follows: the probe had left it on")
    else:
        say("        echoes_ref is off: the probe found that the model does not copy the reference")


def _try_what_a_probe_finds_out(tally: Tally, client: Client, server: LlamaServer) -> Counting:
    """One report, and before it the probe; returns how tokens are counted from then on."""
    (body,) = mixed_samples(1)
    came = client.ask(client.send(body))
    say(f"        the first report, which has the model probed: {came}")
    try_limit(tally, client, server=SERVER, meta=listed_meta(server.root))
    _ask_for_no_reference(client)
    row = client.row()
    return Counting(row.tokenizer, row.token_ratios)


def _try_wrong_settings(tally: Tally, client: Client, server: LlamaServer) -> None:
    (body,) = mixed_samples(1)
    client.use(base_url=server.base_url, model="a-model-that-is-not-here")
    came = client.ask(client.send(body))
    tally.record(
        f"{SERVER}: another model's name",
        # It answers whatever name it is asked by, and says which model it was.
        passed=came.reason in {"wrong_model", "unknown_model"} and not came.recorded,
        came=str(came),
    )
    client.use(base_url=f"{server.root}/not/here", model=MODEL)
    came = client.ask(client.send(body))
    tally.record(
        f"{SERVER}: another path (404)",
        passed=came.is_provider_fault and not came.recorded,
        came=str(came),
    )


def _try_a_kill(
    tally: Tally, client: Client, server: LlamaServer, *, check: Callable[[], None]
) -> None:
    (body,) = mixed_samples(1)
    report = client.send(body)
    # Anew, so that the long prompt is read from its beginning: seconds in which to kill it.
    server.stop()
    server.start()
    killed: list[float] = []

    def kill_at_work() -> None:
        began = time.monotonic()
        wait_until(server.is_at_work, seconds=20, what="the server got no work", check=check)
        time.sleep(KILLED_AT_WORK_SECONDS)
        server.kill()
        killed.append(time.monotonic() - began)

    try:
        came = client.ask(report, meanwhile=kill_at_work)
    except DevError as error:
        tally.record(f"{SERVER}: killed in the middle of a call", passed=False, came=str(error))
        return
    tally.record(
        f"{SERVER}: killed in the middle of a call",
        passed=came.reason in {"provider_unavailable", "provider_timeout"} and not came.recorded,
        came=f"killed after {killed[0]:.1f} s: {came}",
    )
    server.start()
    came = client.ask_until(report, seconds=AGAIN_SECONDS)
    tally.record(
        f"{SERVER}: the same report after the restart", passed=came.is_answer, came=str(came)
    )
