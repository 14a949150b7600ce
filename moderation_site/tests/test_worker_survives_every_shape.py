"""One real worker process, and a server that answers in one way of every kind; see the table of shapes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from classifier.models import Classification, Job
from classifier.tests.shapes.of_errors import OF_ERRORS
from classifier.tests.shapes.of_replies import OF_REPLIES
from classifier.tests.shapes.own_errors import OWN_ERRORS
from classifier.tests.shapes.own_replies import OWN_REPLIES
from classifier.tests.shapes.own_wire import OWN_WIRE
from classifier.tests.shapes.row import (
    CONTENT_MARK,
    HARMLESS,
    KEY,
    REPLY_MARK,
    PutOff,
    Recorded,
    Shape,
)
from classifier.tests.situations import (
    empty_queue,
    end_rest,
    end_wait,
    queued,
    send_text,
)
from dev.standin.client import Standin
from moderation_site.tests.installation import Installation, installation, until
from reports.models import Report
from reports.nudge import Lane, publish
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]


@pytest.fixture
def site(tmp_path: Path, standin: Standin) -> Iterator[Installation]:
    empty_queue()
    environment = {"OPENAI_API_KEY": KEY, "MODEL_DEADLINE_SECONDS": "1"}
    with installation(tmp_path, standin.base_url, **environment) as made:
        yield made
    empty_queue()


def one_of_every_kind() -> list[Shape]:
    """The first row of each kind of step and outcome."""
    found: dict[tuple[str, str], Shape] = {}
    groups = {**OF_REPLIES, **OF_ERRORS, **OWN_REPLIES, **OWN_ERRORS, **OWN_WIRE}
    for group in groups.values():
        for shape in group:
            wanted = shape.outcome
            reason = wanted.reason if isinstance(wanted, PutOff) else "recorded"
            if shape.text == HARMLESS and not shape.model:
                found.setdefault((shape.step["kind"], reason), shape)
    return list(found.values())


def test_one_worker_lives_through_every_kind_of_answer_and_lets_none_pass_that_is_none(
    site: Installation, standin: Standin, client_of_sender: Client
) -> None:
    site.start_worker()
    shapes: dict[str, Shape] = {}
    reports: dict[str, Report] = {}
    for number, shape in enumerate(one_of_every_kind()):
        text = f"The {CONTENT_MARK} festival {number:03} opens at noon."
        # The same answer however often it is asked, so no later one can pass for it.
        standin.script(dict(shape.step), match=text, times=None)
        shapes[text], reports[text] = shape, send_text(client_of_sender, text)
    well = [send_text(client_of_sender, f"Lunch, {CONTENT_MARK} {number}?") for number in range(10)]
    safe = {reports[text].pk for text, shape in shapes.items() if is_answer(shape)}
    safe |= {report.pk for report in well}

    def all_is_said() -> bool:
        """Every report was asked about, every answer is recorded, nobody works; else time passes."""
        asked = {call["text"] for call in standin.calls() if call["answered"] or call["step"]}
        recorded = set(Classification.objects.values_list("report_id", flat=True))
        unasked = {reports[text].pk for text in shapes.keys() - asked}
        left = unasked | (safe - recorded)
        busy = Job.objects.filter(lease_until__isnull=False)
        end_rest()
        for report in Report.objects.filter(pk__in=left).exclude(jobs__in=busy):
            end_wait(report)
            publish(report_id=report.pk, lane=Lane.LIVE)
        return not left and not queued() and not busy.exists()

    worker = site.running["worker-live"]
    until(all_is_said, what="not every report was asked about", seconds=40)

    assert worker.poll() is None
    assert len(shapes) + len(well) >= 60
    judged_safe = Report.objects.filter(status=Report.Status.JUDGED_SAFE)
    assert set(judged_safe.values_list("pk", flat=True)) == safe
    waiting = Report.objects.exclude(pk__in=safe)
    assert set(waiting.values_list("status", flat=True)) == {Report.Status.PENDING}
    assert not waiting.filter(jobs__reason="").exists()
    assert waiting.count() == Job.objects.exclude(reason="").filter(done=False).count()
    log = site.log_of("worker-live")
    assert "classifier.pipeline: report " in log
    assert [mark for mark in (CONTENT_MARK, REPLY_MARK, KEY, "EVIDENCE") if mark in log] == []
    assert "Traceback" not in log


def is_answer(shape: Shape) -> bool:
    return isinstance(shape.outcome, Recorded) and bool(shape.outcome.changes.get("safe", True))
