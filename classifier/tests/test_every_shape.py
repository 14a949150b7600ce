"""The table of `classifier.tests.shapes`, each row over real HTTP through the real path.

None ends as safe, none lets an exception out, none leaves a report without a named reason, none logs
content. A group of rows shares a database, since emptying it takes longer than a row does; each row
has a report and a model's row of its own.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import Settings

from classifier.models import Classification, ProviderModel
from classifier.pipeline import Outcome
from classifier.tests.loopback import asked_ref, running_server
from classifier.tests.shapes.of_errors import OF_ERRORS
from classifier.tests.shapes.of_replies import OF_REPLIES
from classifier.tests.shapes.own_errors import OWN_ERRORS
from classifier.tests.shapes.own_replies import OWN_REPLIES
from classifier.tests.shapes.own_wire import OWN_WIRE
from classifier.tests.shapes.replays import REPLAYS
from classifier.tests.shapes.row import (
    HARMLESS,
    KEY,
    THREAT,
    TOO_LONG,
    TRUNCATED,
    PutOff,
    Recorded,
    Replay,
    Shape,
)
from classifier.tests.shapes_trial import (
    Site,
    assert_came_of_it,
    assert_is_never_asked_again,
    assert_no_content_was_logged,
    assert_recorded,
    assert_waits,
    begin,
    classify,
    end_trouble,
    log_everything,
    tokens_read,
    undressed,
)
from classifier.tests.situations import (
    at_once,
    completion,
    end_rest,
    end_wait,
    job_of,
    know_model,
    seconds_until_due,
    send_text,
    verdict_fields,
)
from dev.standin.client import Standin
from reports.tests.sending import Client

pytestmark = [
    pytest.mark.long,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("policy"),
]

GROUPS = {**OF_REPLIES, **OF_ERRORS, **OWN_REPLIES, **OWN_ERRORS, **OWN_WIRE}
DRESSINGS = frozenset({"dress", "edit", "message", "envelope"})
NOWHERE = "http://127.0.0.1:9/v1"
AMPLE = 10.0
"""A deadline that a plain answer keeps on any machine."""


@pytest.fixture
def site(client_of_sender: Client, standin: Standin, settings: Settings) -> Site:
    settings.OPENAI_API_KEY = KEY
    return Site(client_of_sender, standin, {}, {})


# --- One answer


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS.keys())
def test_no_answer_leaves_the_report_waiting_and_any_dressing_leaves_the_verdict_as_it_is(
    group: Sequence[Shape],
    site: Site,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    log_everything(caplog)
    for shape in group:
        for text in texts_for(shape):
            with subtests.test(f"{shape.source}: {text[-8:]}"):
                answer_once(shape, text, site, settings)
                assert_no_content_was_logged(caplog)
            caplog.clear()


def longest(deadline: float) -> float:
    """What is slow in the tables goes on for 5 s; a busy machine may take a while to give it up."""
    return max(deadline + 1, 4.5)


def texts_for(shape: Shape) -> tuple[str, ...]:
    """A dressing must not change any verdict, be it a safe one or not."""
    dressed = isinstance(shape.outcome, Recorded) and shape.step["kind"] in DRESSINGS
    return (HARMLESS, THREAT) if dressed else (shape.text,)


def answer_once(shape: Shape, text: str, site: Site, settings: Settings) -> None:
    begin(site, settings, replace(shape, deadline=AMPLE))
    plain = undressed(site, text)
    begin(site, settings, shape)
    report = send_text(site.client, text)
    # What is too long is asked once more in smaller parts before it is given up.
    tries = 2 if shape.outcome in (TOO_LONG, TRUNCATED) else 1
    site.standin.script(dict(shape.step), times=tries)

    began = time.monotonic()
    outcome = classify(report)

    assert time.monotonic() - began < longest(shape.deadline)
    assert_came_of_it(outcome, shape.outcome, report, site)
    assert len(site.standin.calls()) == max(tries, shape.calls)
    if isinstance(shape.outcome, Recorded):
        assert classify(report) is Outcome.SPENT
    elif shape.outcome.parked:
        assert_is_never_asked_again(report, site, judged=shape.outcome.floor > 0)
    else:
        end_trouble(site, settings, report)
        assert [classify(report) for _nudge in range(2)] == [Outcome.RECORDED, Outcome.SPENT]
        assert_recorded(report, plain)


# --- Several in a row


def test_a_public_bug_report_played_again_comes_out_right(
    site: Site,
    settings: Settings,
    caplog: pytest.LogCaptureFixture,
    subtests: pytest.Subtests,
) -> None:
    log_everything(caplog)
    for replay in REPLAYS:
        with subtests.test(replay.source):
            play(replay, site, settings)
            assert_no_content_was_logged(caplog)
        caplog.clear()


def play(replay: Replay, site: Site, settings: Settings) -> None:
    if any(isinstance(each, Recorded) for each in replay.outcomes):
        begin(site, settings, replace(replay, deadline=AMPLE))
        site.standin.behave()
        undressed(site, replay.text)
    begin(site, settings, replay)
    report = send_text(site.client, replay.text)

    for number, (step, wanted) in enumerate(zip(replay.steps, replay.outcomes, strict=True)):
        if number and not replay.one_report:
            report = send_text(site.client, replay.text)
        if step is not None:
            # Not for the harmless text that may have to find out first.
            site.standin.script(dict(step), match=replay.text[:20])
        settings.MODEL_DEADLINE_SECONDS = AMPLE if isinstance(wanted, Recorded) else replay.deadline
        began = time.monotonic()
        outcome = classify(report)
        assert time.monotonic() - began < longest(replay.deadline)
        assert_came_of_it(outcome, wanted, report, site)
        if number < len(replay.waits):
            assert seconds_until_due(report) >= replay.waits[number]
            assert classify(report) is Outcome.SPENT
        end_wait(report)
        end_rest()

    calls = [call for call in site.standin.calls() if call["item_type"] != "probe"]
    assert len(calls) == len(replay.steps) * replay.calls_each
    if replay.formats:
        assert tuple(call["response_format"] for call in calls) == replay.formats
    if replay.rooms:
        assert tuple(call["max_tokens"] for call in calls) == replay.rooms
        assert len({call["prefix"] for call in calls}) == 1
        if isinstance(replay.outcomes[-1], Recorded):
            # The broken answer was not shown to the model: the prompt is as long as without it.
            assert tokens_read(report) == site.tokens[replay.text]
    last = replay.outcomes[-1]
    if isinstance(last, PutOff) and last.parked:
        assert_is_never_asked_again(report, site, judged=last.floor > 0)


# --- What no server's answer is


def test_a_provider_that_is_down_is_unavailable_and_nobody_is_judged_safe(
    site: Site, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """7.17 too: DoubtDesk#295 let everything pass then."""
    log_everything(caplog)
    report = send_text(site.client, HARMLESS)
    ProviderModel.objects.all().delete()
    settings.OPENAI_BASE_URL = NOWHERE
    know_model(NOWHERE)

    outcome = classify(report)

    assert outcome is Outcome.PUT_OFF
    assert_waits(report, PutOff(reason=job_of(report).Reason.PROVIDER_UNAVAILABLE), site)
    assert_no_content_was_logged(caplog)


def test_a_task_that_is_delivered_again_while_it_runs_asks_no_second_time(
    site: Site, settings: Settings
) -> None:
    """7.30: open-chat-studio#4084, celery#5935."""
    shape = Shape(source="7.30", step={"kind": "delay", "seconds": 0.3}, outcome=Recorded())
    begin(site, settings, shape)
    report = send_text(site.client, HARMLESS)
    site.standin.script(dict(shape.step))

    outcomes = at_once([lambda: classify(report)] * 4)

    assert sorted(outcomes) == [Outcome.RECORDED, *[Outcome.SPENT] * 3]
    assert Classification.objects.filter(report=report).count() == 1
    assert len(site.standin.calls()) == 1


def test_a_second_answer_behind_the_first_is_not_taken_for_the_next_reports(
    client_of_sender: Client, settings: Settings
) -> None:
    """The connection is kept, and the surplus would lie in wait for whoever is asked about next."""
    surplus = whole_answer(400, {"error": {"code": "content_filter", "message": "…"}})
    asked: list[str] = []

    def respond(handler: Any, request: dict[str, Any]) -> None:
        asked.append(asked_ref(request))
        said = completion(json.dumps(verdict_fields(ref=asked[-1])))
        # In one piece, so that both are read at once.
        handler.wfile.write(whole_answer(200, said) + (surplus if len(asked) == 1 else b""))

    first, second = (send_text(client_of_sender, text) for text in ("One.", "Two."))
    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        know_model(server.base_url)

        assert [classify(first), classify(second)] == [Outcome.RECORDED] * 2

    assert len(asked) == 2


def whole_answer(status: int, body: Mapping[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n"
    )
    return head.encode() + b"\r\n" + text
