"""No answer lands on another report: not after a fork, not when a server mixes its answers up."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from classifier.models import Classification, Job, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.policies import FIRST_POLICY, read_policy_file
from classifier.tests.loopback import asked_ref, running_server, send_whole
from classifier.tests.processes import workers
from classifier.tests.situations import (
    at_once,
    completion,
    empty_queue,
    end_wait,
    job_of,
    know_model,
    send_text,
    verdict_fields,
    wait_until,
)
from dev.standin.evidence import read_evidence
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

REPOSITORY = Path(__file__).resolve().parents[2]
CHILDREN = 6
CATEGORIES = [each["id"] for each in read_policy_file(FIRST_POLICY, model="any")[1].categories]

# --- Forked processes

# The parent has used its client, one of its threads waits for an answer and another holds the lock.
FORKING = """
import os, signal, sys, threading
from concurrent.futures import ThreadPoolExecutor
from django.conf import settings
from classifier import provider
from classifier.provider import ProviderError

url, children, inherits = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "inherits"
settings.configure(OPENAI_BASE_URL=url, OPENAI_API_KEY="key", MODEL_DEADLINE_SECONDS=10)

def is_own(text):
    try:
        reply = provider.ask(model="m", system="s", user=text, parameters={})
    except ProviderError as error:
        print("no answer to", text, "-", error, flush=True)
        return False
    if reply.body.decode() != text:
        print("to", text, "came", reply.body, flush=True)
    return reply.body.decode() == text

if inherits:
    import openai
    provider._clients[os.getpid(), url] = openai.OpenAI(api_key="key", base_url=url, max_retries=0)
# Several at once, so that kept-alive connections are left beside the slow call's.
with ThreadPoolExecutor(4) as threads:
    assert all(threads.map(is_own, ["before, at once with three others"] * 4))
mine = provider._client()
slow = []
caller = threading.Thread(target=lambda: slow.append(is_own("slow")))
caller.start()
assert sys.stdin.readline() == "the slow call has arrived\\n"
held, release = threading.Event(), threading.Event()

def hold():
    with provider._lock:
        held.set()
        release.wait(30)

holder = threading.Thread(target=hold)
holder.start()
held.wait(10)
ready, start = os.pipe(), os.pipe()
pids = []
for number in range(children):
    pid = os.fork()
    if pid == 0:
        signal.alarm(25)  # a dead-lock ends here
        if inherits:
            provider._clients[os.getpid(), url] = mine
        os.write(ready[1], b"r")
        os.read(start[0], 1)
        texts = [f"child {number} question {question}" for question in range(40)]
        with ThreadPoolExecutor(8) as threads:
            own = list(threads.map(is_own, texts))
        os._exit(0 if all(own) and (inherits or provider._client() is not mine) else 1)
    pids.append(pid)
for _child in pids:
    os.read(ready[0], 1)
os.write(start[1], b"s" * children)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
release.set()
holder.join()
caller.join()
print("codes", codes, "slow", slow)
sys.exit(0 if not any(codes) and slow == [True] and is_own("parent after")
         and provider._client() is mine else 1)
"""


def fork(*, inherits: bool) -> "subprocess.CompletedProcess[str]":
    """The script above against a server that answers with what it was asked."""
    arrived, four = threading.Event(), threading.Barrier(4)

    def echo(handler: Any, request: dict[str, Any]) -> None:
        text = request["messages"][-1]["content"]
        if text == "slow":
            arrived.set()
            handler.server.stopping.wait(1.0)
        elif text.startswith("before"):
            four.wait(10)
        elif " question 0" in text or " question 1" in text:
            # The children's first questions are all on their way before the first answer is.
            handler.server.stopping.wait(0.1)
        send_whole(handler, text.encode())

    with running_server(echo) as server:
        server.socket.listen(256)  # the children connect all at once
        arguments = [server.base_url, str(CHILDREN), "inherits" if inherits else "own"]
        with subprocess.Popen(
            [sys.executable, "-c", FORKING, *arguments],
            cwd=REPOSITORY,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as forking:
            assert arrived.wait(20)
            said, _ = forking.communicate("the slow call has arrived\n", timeout=60)
    return subprocess.CompletedProcess(arguments, forking.returncode, said)


def test_six_forked_children_and_their_parent_each_get_their_own_answers() -> None:
    forked = fork(inherits=False)

    assert forked.returncode == 0, forked.stdout
    assert f"codes {[0] * CHILDREN} slow [True]" in forked.stdout


def test_children_that_share_a_client_with_kept_connections_do_not() -> None:
    """The test above can fail: with the SDK's own client, made before the fork, it does."""
    forked = fork(inherits=True)

    assert forked.returncode == 1, forked.stdout
    assert f"codes {[0] * CHILDREN}" not in forked.stdout


# --- A server that mixes its answers up


def text_of(number: int) -> str:
    return f"Report number {number:03} about the wombat"


def number_of(request: dict[str, Any]) -> int:
    (message,) = read_evidence(request["messages"][-1]["content"])["messages"]
    return int(message["text"].split()[2])


def own_category(number: int) -> str:
    return CATEGORIES[number % len(CATEGORIES)]


def own_answer(request: dict[str, Any], *, with_ref: bool = True) -> bytes:
    """A verdict that fits this request's text and no other: its category, and the text as quote."""
    number = number_of(request)
    said = verdict_fields(category=own_category(number), quotes=[text_of(number)])
    said["ref"] = asked_ref(request)
    if not with_ref:
        del said["ref"]
    return json.dumps(completion(json.dumps(said))).encode()


def shuffling(count: int, *, with_ref: bool) -> Callable[[Any, dict[str, Any]], None]:
    """Waits for so many calls at once, then gives each the answer of the next one."""
    together = threading.Barrier(count)
    answers: list[bytes] = [b""] * count

    def respond(handler: Any, request: dict[str, Any]) -> None:
        place = number_of(request)
        answers[place] = own_answer(request, with_ref=with_ref)
        together.wait(10)
        send_whole(handler, answers[(place + 1) % count])

    return respond


def classify_all(reports: Sequence[Report]) -> list[Outcome]:
    def call(report: Report) -> Callable[[], Outcome]:
        return lambda: classify_report(report_id=report.pk, lane=Lane.LIVE)

    return at_once([call(report) for report in reports])


def verdicts() -> dict[int, tuple[str, Any]]:
    """Category and quotes of every recorded verdict, by its report."""
    rows = Classification.objects.values_list("report_id", "category", "quotes")
    return {report: (category, quotes) for report, category, quotes in rows}


def own_verdicts(reports: Sequence[Report]) -> dict[int, tuple[str, Any]]:
    return {
        report.pk: (own_category(number), [text_of(number)])
        for number, report in enumerate(reports)
    }


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_shuffled_answers_are_put_off_and_each_report_gets_its_own_from_an_honest_server(
    client_of_sender: Client, settings: Settings
) -> None:
    reports = [send_text(client_of_sender, text_of(number)) for number in range(8)]
    with running_server(shuffling(8, with_ref=True)) as server:
        settings.OPENAI_BASE_URL = server.base_url
        know_model(server.base_url)

        assert classify_all(reports) == [Outcome.PUT_OFF] * 8

        assert verdicts() == {}
        assert {job_of(report).reason for report in reports} == {"answer_misplaced"}
        assert {job_of(report).attempts for report in reports} == {1}
        assert Report.objects.pending().count() == 8

        for report in reports:
            end_wait(report)
        server.respond = lambda handler, request: send_whole(handler, own_answer(request))
        assert classify_all(reports) == [Outcome.RECORDED] * 8

    assert verdicts() == own_verdicts(reports)
    assert len(server.requests) == 16


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_without_the_echoed_reference_shuffled_answers_are_recorded(
    client_of_sender: Client, settings: Settings
) -> None:
    """The price of that switch, as its help text says; and the test above can fail."""
    reports = [send_text(client_of_sender, text_of(number)) for number in range(8)]
    with running_server(shuffling(8, with_ref=False)) as server:
        settings.OPENAI_BASE_URL = server.base_url
        know_model(server.base_url, echoes_ref=False)

        assert classify_all(reports) == [Outcome.RECORDED] * 8

    # Another report's category; its quotes are dropped, because they stand in no text of this one.
    assert verdicts() == {
        report.pk: (own_category((number + 1) % 8), []) for number, report in enumerate(reports)
    }
    help_text = ProviderModel._meta.get_field("echoes_ref").help_text
    assert "a mixed-up answer is then not noticed" in help_text


# --- Celery's forking pool


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("policy")
def test_forty_reports_through_a_forking_pool_each_get_their_own_verdict(
    client_of_sender: Client, tmp_path: Path
) -> None:
    empty_queue()
    connections: set[int] = set()

    def respond(handler: Any, request: dict[str, Any]) -> None:
        connections.add(handler.client_address[1])
        # Long enough that the four are asked at the same time.
        handler.server.stopping.wait(0.02)
        send_whole(handler, own_answer(request))

    with running_server(respond) as server:
        know_model(server.base_url)
        with workers(tmp_path, model_url=server.base_url, pool="prefork", concurrency=4):
            reports = [send_text(client_of_sender, text_of(number)) for number in range(40)]
            wait_until(lambda: not Report.objects.pending().exists(), seconds=30)

    assert verdicts() == own_verdicts(reports)
    assert len(server.requests) == 40
    assert not Job.objects.filter(done=False).exists()
    assert len(connections) >= 2, "one process did all the work"
    empty_queue()
