"""An answer in a lossless dressing is an answer: asked once over HTTP, recorded once."""

import json
from typing import Any

import pytest
from pytest_django import Settings

from classifier.pipeline import Outcome, classify_report
from classifier.tests.loopback import asked_ref, running_server, send_whole
from classifier.tests.situations import completion, job_of, know_model, send_text, verdict_fields
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("policy")]


@pytest.mark.parametrize(
    ("before", "after", "as_parts"),
    [
        ("", "", False),
        ("", "", True),
        ("```json\n", "\n```", False),
        ("<think>Is it a threat? No.</think>\n", "", False),
        ("\ufeff", " \n", False),
    ],
    ids=["plain", "list of parts", "fence", "thought first", "byte order mark"],
)
def test_a_lossless_dressing_is_taken_off(
    before: str, after: str, client_of_sender: Client, settings: Settings, *, as_parts: bool
) -> None:
    report = send_text(client_of_sender)

    def respond(handler: Any, request: dict[str, Any]) -> None:
        text = f"{before}{json.dumps(verdict_fields(ref=asked_ref(request)))}{after}"
        send_whole(handler, json.dumps(completion(in_parts(text) if as_parts else text)).encode())

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        know_model(server.base_url)

        assert classify_report(report_id=report.pk, lane=Lane.LIVE) is Outcome.RECORDED

    report.refresh_from_db()
    assert report.status == Report.Status.JUDGED_SAFE
    assert job_of(report).done
    assert len(server.requests) == 1


def in_parts(text: str) -> list[dict[str, Any]]:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    middle = len(text) // 2
    return [thinking, *({"type": "text", "text": part} for part in (text[:middle], text[middle:]))]
