"""The nudge is a hint: no request waits for the broker, and it carries no content."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from pytest_django import Settings

from reports.models import Report
from reports.nudge import QUEUED_AT_MOST, Lane, queue_length, start_publisher
from reports.tests.sending import Client, make_sender, post_over_http, report_body, web_process

# The least that waiting for a silent broker would take: its time to connect.
QUICK_SECONDS = 2.0
DEADLINE_SECONDS = 15.0


@pytest.fixture
def silent_broker() -> Iterator[str]:
    """The address of a broker that takes connections and never says a word, as a paused one does."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


@pytest.fixture
def absent_broker() -> str:
    """An address where nobody listens."""
    return "redis://127.0.0.1:1/0"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("broker", ["absent_broker", "silent_broker"])
def test_a_report_is_202_at_once_while_the_broker_does_not_answer(
    request: pytest.FixtureRequest, broker: str
) -> None:
    sender = make_sender("chat-app")
    with web_process(REDIS_URL=request.getfixturevalue(broker)) as address:
        post_over_http(address, sender.key, report_body())  # the process has started after this

        for _ in range(5):
            began = time.monotonic()
            answer = post_over_http(address, sender.key, report_body())

            assert answer.status_code == 202
            assert answer.json()["status"] == "pending"
            assert time.monotonic() - began < QUICK_SECONDS

    assert Report.objects.pending().count() == 6


@pytest.mark.django_db
def test_with_no_worker_running_arrivals_fill_the_queue_to_its_bound_and_no_further(
    settings: Settings,
) -> None:
    with current_app.connection_for_write() as broker:
        broker.default_channel.client.delete(Lane.LIVE.value)  # type: ignore[attr-defined]
    settings.QUEUE_BOUND = 5
    sender = make_sender("chat-app")

    for _ in range(30):
        sender.send(report_body())

    publisher = start_publisher()
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not publisher.waiting.empty():
        assert time.monotonic() < deadline
    assert queue_length(Lane.LIVE) <= 5
    assert Report.objects.pending().count() == 30


OFFER_TOO_MANY = """
import json, time, django
django.setup()
from reports.nudge import QUEUED_AT_MOST, Lane, nudge
began = time.monotonic()
taken = [nudge(report_id=number, lane=Lane.LIVE) for number in range(QUEUED_AT_MOST + 50)]
print(json.dumps({"taken": sum(taken), "last": taken[-1], "seconds": time.monotonic() - began}))
"""


def test_a_full_queue_drops_and_says_so(silent_broker: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OFFER_TOO_MANY],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "moderation_site.settings",
            "REDIS_URL": silent_broker,
        },
        capture_output=True,
        check=True,
        timeout=60,
    )

    said = json.loads(done.stdout)
    assert said["taken"] in {QUEUED_AT_MOST, QUEUED_AT_MOST + 1}, "one more is being published"
    assert said["last"] is False
    assert said["seconds"] < QUICK_SECONDS


def messages_until(report: Report) -> list[Any]:
    """Take messages out of the live queue until the one that names this report has come."""
    found: list[Any] = []
    with (
        current_app.connection_for_read() as broker,
        broker.SimpleQueue("live", no_ack=True) as queue,
    ):
        while not found or found[-1].decode()[1]["report_id"] != report.pk:
            found.append(queue.get(timeout=DEADLINE_SECONDS))
    return found


def test_a_message_holds_the_report_s_id_and_lane_only(client_of_sender: Client) -> None:
    report = client_of_sender.send(report_body(comment="he knows where I live"))

    message = messages_until(report)[-1]

    arguments, named, _ = message.decode()
    assert arguments == []
    assert named == {"report_id": report.pk, "lane": "live"}
    assert message.headers["task"] == "classifier.classify"
    everything = json.dumps([message.headers, message.properties, message.body.decode()])
    for secret in ("lunch", "he knows", "u-9", "u-7", "m-81", report.reporter_pseudonym):
        assert secret not in everything


def test_a_message_waits_for_nothing(client_of_sender: Client) -> None:
    report = client_of_sender.send()

    headers = messages_until(report)[-1].headers

    assert headers["eta"] is None
    assert headers["retries"] == 0


def test_only_the_request_that_stored_a_report_hands_out_a_nudge(client_of_sender: Client) -> None:
    client_of_sender.post(key="k-1")
    report = Report.objects.get()
    client_of_sender.post(key="k-1")
    client_of_sender.post(report_body(comment="else"), key="k-1")
    last = client_of_sender.send(report_body(comment="a later one"))

    # One thread publishes in order: all nudges before the last one have come when it comes.
    named = [message.decode()[1]["report_id"] for message in messages_until(last)]

    assert named.count(report.pk) == 1


def test_the_queues_of_the_lanes_are_those_of_the_workers() -> None:
    assert {queue.name for queue in settings.CELERY_TASK_QUEUES} == set(Lane.values)
