"""A large file of answers is recorded by several processes; what one of them does stands."""

import json
import os
import queue
import random
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from classifier.batches import files
from classifier.batches.cut import choose_lines
from classifier.batches.forked import PartDiedError, run_parts, signals_wait
from classifier.batches.lines import marks_of
from classifier.batches.record import Counted, Split, record_file
from classifier.models import (
    Batch,
    BatchLine,
    Classification,
    Job,
    PolicyVersion,
    ProviderBatch,
    ProviderModel,
)
from classifier.tests.history import next_version, send_judged, start, write_all_jobs
from classifier.tests.situations import at_once, other_connection, wait_until
from dev.standin.client import Standin
from reports.tests.sending import Client

if TYPE_CHECKING:
    import psycopg

pytestmark = pytest.mark.django_db(transaction=True)

REPORTS = 13


@pytest.fixture
def sent(client_of_sender: Client, policy: PolicyVersion, standin: Standin) -> ProviderBatch:  # noqa: ARG001 - its settings
    """Thirteen lines that a provider has."""
    send_judged(client_of_sender, REPORTS, policy=policy)
    batch = start(next_version())
    write_all_jobs(batch, through=Job.Through.PROVIDER_BATCH)
    Batch.objects.update(state=Batch.State.RUNNING)
    provider_batch = choose_lines(batch_id=batch.pk)
    assert provider_batch is not None
    return provider_batch


def answers(provider_batch: ProviderBatch, *, twice: bool = False) -> Path:
    """A file that answers each line; `twice`: then each again, with another verdict."""
    path = files.path_of(provider_batch, files.OUTPUT)
    lines = [_answer(line, "none") for line in provider_batch.all_lines.all()]
    if twice:
        lines += [_answer(line, "spam") for line in provider_batch.all_lines.all()]
    path.write_text("".join(lines), "utf-8")
    return path


def _answer(line: BatchLine, category: str) -> str:
    verdict = {
        "ref": marks_of(line.custom_id).ref,
        "summary": "Small talk.",
        "category": category,
        "confidence": 0.9,
        "quotes": [],
    }
    message = {"role": "assistant", "content": json.dumps(verdict)}
    body = {
        "model": "stand-in-not-a-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 40},
    }
    told = {"custom_id": str(line.custom_id), "response": {"status_code": 200, "body": body}}
    return json.dumps(told) + "\n"


def record(provider_batch: ProviderBatch, path: Path, **further: Any) -> Counted:
    policy = provider_batch.batch.policy_version
    return record_file(
        provider_batch=provider_batch,
        path=path,
        policy=policy,
        model=ProviderModel.objects.of_policy(policy),
        **{"split": Split(parts=3, lines=2), **further},
    )


def outcomes() -> Counter[str]:
    return Counter(BatchLine.objects.values_list("outcome", flat=True))


def test_every_line_is_recorded_once_by_one_of_them(sent: ProviderBatch) -> None:
    counted = record(sent, answers(sent))

    assert counted == Counted(read=REPORTS, recorded=REPORTS)
    assert outcomes() == {"recorded": REPORTS}
    version = sent.batch.policy_version
    current = Classification.objects.filter(superseded=False, policy_version=version)
    assert current.count() == REPORTS


def test_of_two_answers_in_two_slices_one_stands_and_the_other_changes_nothing(
    sent: ProviderBatch,
) -> None:
    record(sent, answers(sent, twice=True))

    assert outcomes() == {"recorded": REPORTS}
    version = sent.batch.policy_version
    verdicts = Classification.objects.filter(policy_version=version)
    assert (verdicts.count(), verdicts.filter(superseded=False).count()) == (REPORTS, REPORTS)


def test_one_that_is_killed_is_told_and_the_next_run_does_the_rest(sent: ProviderBatch) -> None:
    mine = os.getpid()

    def die_in_a_child() -> None:
        if os.getpid() != mine:
            os.kill(os.getpid(), signal.SIGKILL)

    path = answers(sent)
    with pytest.raises(PartDiedError):
        record(sent, path, between=die_in_a_child)
    assert outcomes()["recorded"] < REPORTS

    record(sent, path)

    assert outcomes() == {"recorded": REPORTS}


def test_who_waits_for_the_job_of_a_lost_line_does_not_hold_the_batch(sent: ProviderBatch) -> None:
    path = answers(sent)
    lost, *answered = path.read_text("utf-8").splitlines()
    nothing = {"custom_id": json.loads(lost)["custom_id"], "response": {"status_code": 500}}
    path.write_text("\n".join([json.dumps(nothing), *answered]) + "\n", "utf-8")
    job = BatchLine.objects.get(pk=nothing["custom_id"]).job_id

    def look() -> None:
        with other_connection() as other:
            other.execute("SELECT FROM classifier_job WHERE id = %s FOR UPDATE", [job])
            holding.set()
            wait_until(lambda: _waiting(other))
            # Refused at once if it were held.
            other.execute("SELECT FROM classifier_batch FOR UPDATE NOWAIT")

    def record_alone() -> None:
        holding.wait(10)
        record(sent, path, split=Split())

    holding = threading.Event()
    at_once([look, record_alone])

    assert outcomes() == {"recorded": REPORTS - 1, "failed": 1}


def _waiting(other: "psycopg.Connection[Any]") -> bool:
    """Whether somebody waits for a lock of this connection's."""
    found = other.execute(
        "SELECT EXISTS (SELECT FROM pg_stat_activity"
        " WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
    ).fetchone()
    return bool(found and found[0])


def test_an_interruption_leaves_no_process_behind() -> None:
    def interrupt(part: int) -> None:
        if part:  # the parent may hardly know of it yet
            os.kill(os.getppid(), signal.SIGINT)
        signal.pause()

    before = children()
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_parts(interrupt, parts=2)
    finally:
        signal.signal(signal.SIGINT, previous)

    assert children() == before


def test_an_interruption_at_any_moment_leaves_the_signals_as_they_were() -> None:
    """Else what this process starts later ignores them, or it does itself."""

    def interrupt_once() -> None:
        while (seconds := wanted.get()) is not None:
            time.sleep(seconds)
            os.kill(os.getpid(), signal.SIGINT)

    wanted: queue.SimpleQueue[float | None] = queue.SimpleQueue()
    chance = random.Random(7)  # noqa: S311 - not a secret
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    interrupting = threading.Thread(target=interrupt_once)
    interrupting.start()
    before = how_signals_are()
    try:
        for _round in range(300):
            wanted.put(chance.uniform(0, 0.0003))
            with pytest.raises(KeyboardInterrupt):
                while True:
                    with signals_wait():
                        pass
            assert how_signals_are() == before
    finally:
        wanted.put(None)
        interrupting.join()
        signal.signal(signal.SIGINT, previous)


def how_signals_are() -> list[Any]:
    """Which are blocked, and what answers the two that end a process."""
    answers = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    return [signal.pthread_sigmask(signal.SIG_BLOCK, []), *answers]


def children() -> str:
    """Ids of this process's children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii")
