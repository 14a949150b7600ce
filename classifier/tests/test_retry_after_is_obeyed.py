"""A server's wish to wait, kept by two worker processes, a sweep and new arrivals together."""

import email.utils
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from classifier.models import Classification, Job
from classifier.tests.processes import workers
from classifier.tests.situations import empty_queue, send_text, wait_until
from dev.standin.client import Standin
from reports.models import Report
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]

WORKERS = 2
THREADS = 4
WAITING = 30
THREAT = "I will kill you tomorrow"
# Who finds out after a rest asks about this; nobody reports it.
FINDS_OUT = "same place as last week"
PACE_SECONDS = 0.1


@pytest.fixture
def two_workers(tmp_path: Path, standin: Standin) -> Iterator[None]:
    empty_queue()
    with workers(
        tmp_path, model_url=standin.base_url, count=WORKERS, concurrency=THREADS, sweep_every=0.2
    ):
        yield
    empty_queue()


def rate_limit(standin: Standin, *wishes: dict[str, str], match: str | None = None) -> None:
    refused = ({"kind": "error", "status": 429, "headers": wish} for wish in wishes)
    standin.script(*refused, match=match)


def refusals(standin: Standin) -> list[float]:
    """The moments, in seconds since 1970, at which the server asked to wait."""
    calls = standin.calls()
    return [call["answered"] for call in calls if call["status"] == 429 and call["answered"]]


class Arrivals:
    """Reports go on coming while something is waited for; their nudges reach the workers at once."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.count = 0

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end, "waited in vain"
            send_text(self.client, f"New {self.count}")
            self.count += 1
            time.sleep(PACE_SECONDS)


@pytest.mark.usefixtures("two_workers")
def test_no_call_of_any_worker_comes_before_the_time_that_the_server_asked_for(
    standin: Standin, client_of_sender: Client
) -> None:
    arrivals = Arrivals(client_of_sender)
    # All threads of both workers are at work when the first refusal comes.
    slow = {"kind": "delay", "seconds": 0.1}
    standin.script(slow, times=WORKERS * THREADS)
    rate_limit(standin, {"retry-after": "1"})
    # From then on one call at a time finds out, so they are answered one after the other.
    relative = [{"retry-after-ms": "1500", "retry-after": "9"}, {"retry-after": "4"}]
    rate_limit(standin, *relative, match=FINDS_OUT)
    for number in range(WAITING):
        send_text(client_of_sender, f"Waiting {number}")
    arrivals.until(lambda: len(refusals(standin)) == 3)
    date = int(time.time()) + 8
    rate_limit(standin, {"retry-after": email.utils.formatdate(date, usegmt=True)}, match=FINDS_OUT)
    arrivals.until(lambda: len(refusals(standin)) == 4)
    send_text(client_of_sender, THREAT)
    arrivals.until(lambda: time.time() > date)
    wait_until(lambda: not Report.objects.pending().exists(), seconds=30)

    first, second, third, fourth = refusals(standin)
    moments = [call["time"] for call in standin.calls()]
    # What left before the first refusal was known: one for each other thread at most.
    assert len([moment for moment in moments if first < moment < first + 1]) < WORKERS * THREADS
    for begin, end in ((second, second + 1.5), (third, third + 4), (fourth, date)):
        assert [moment for moment in moments if begin < moment < end] == []
    # A harmless text finds out; the first report that is asked then is the threat.
    about_reports = [call for call in standin.calls() if call["item_type"] != "probe"]
    assert next(call for call in about_reports if call["time"] > fourth)["text"] == THREAT
    count = WAITING + arrivals.count + 1
    assert Classification.objects.count() == count
    assert len(about_reports) == count + 1
    assert set(Job.objects.values_list("attempts", flat=True)) == {1}
