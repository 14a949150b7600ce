"""Asking about a report under a row of the table, and what must hold of it afterwards."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.conf import settings as configured
from pytest_django import Settings

from classifier.models import Classification, PolicyVersion, ProviderModel
from classifier.pipeline import Outcome, classify_report
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from classifier.tests.shapes.row import (
    CONTENT_MARK,
    KEY,
    REPLY_MARK,
    PutOff,
    Recorded,
    Replay,
    Shape,
)
from classifier.tests.situations import end_rest, end_wait, job_of, know_model, send_text
from dev.standin.client import Standin
from reports.models import Report
from reports.nudge import Lane
from reports.tests.sending import Client

VERDICT = (
    *("category", "confidence", "summary", "quotes", "severity", "safe", "rules"),
    "served_model",
)


@dataclass
class Site:
    """A sender, the stand-in, and by each text its undressed verdict and how many tokens it took."""

    client: Client
    standin: Standin
    undressed: dict[str, Mapping[str, Any]]
    tokens: dict[str, int | None]


def activate_policy(model: str = "stand-in-not-a-model") -> PolicyVersion:
    """A new version for this model, unless the newest one is that."""
    title, content = read_policy_file(FIRST_POLICY, model=model)
    return load_policy(title=title, content=content, activate=True, actor_name="test")[0]


def begin(site: Site, settings: Settings, row: Shape | Replay) -> ProviderModel:
    """A server of these manners and all that is known of its model."""
    settings.MODEL_DEADLINE_SECONDS = row.deadline
    site.standin.clear()
    ProviderModel.objects.all().delete()
    site.standin.behave(**row.manners)
    return know_model(site.standin.base_url, **row.model)


def end_trouble(site: Site, settings: Settings, report: Report) -> None:
    """The server behaves again and the waits are over."""
    settings.MODEL_DEADLINE_SECONDS = 10.0
    site.standin.clear()
    end_wait(report)
    end_rest()


def classify(report: Report) -> Outcome:
    return classify_report(report_id=report.pk, lane=Lane.LIVE)


def verdict_of(report: Report) -> dict[str, Any]:
    """The one that was recorded."""
    found = Classification.objects.get(report=report)
    return {name: getattr(found, name) for name in VERDICT}


def tokens_read(report: Report) -> int | None:
    return Classification.objects.get(report=report).prompt_tokens


def undressed(site: Site, text: str) -> Mapping[str, Any]:
    """The stand-in's plain verdict on the text."""
    if text not in site.undressed:
        report = send_text(site.client, text)
        assert classify(report) is Outcome.RECORDED
        site.undressed[text] = verdict_of(report)
        site.tokens[text] = tokens_read(report)
        site.standin.clear()
    return site.undressed[text]


# --- What must hold


def assert_came_of_it(
    outcome: Outcome, wanted: Recorded | PutOff, report: Report, site: Site
) -> None:
    if isinstance(wanted, Recorded):
        assert outcome is Outcome.RECORDED
        assert_recorded(report, {**undressed(site, text_of(report)), **wanted.changes})
    else:
        assert outcome is (Outcome.HELD_BACK if wanted.held_back else Outcome.PUT_OFF)
        assert_waits(report, wanted, site)


def text_of(report: Report) -> str:
    return report.content.submission().messages[0].text


def assert_recorded(report: Report, wanted: Mapping[str, Any]) -> None:
    assert verdict_of(report) == wanted
    report.refresh_from_db()
    safe = Report.Status.JUDGED_SAFE
    assert report.status == (safe if wanted["safe"] else Report.Status.NEEDS_REVIEW)
    job = job_of(report)
    assert (job.done, job.parked, job.reason, job.lease_until) == (True, False, "", None)
    model = ProviderModel.objects.get()
    assert (model.faults, model.rests_until, model.turn_until) == (0, None, None)


def assert_waits(report: Report, wanted: PutOff, site: Site) -> None:
    assert not Classification.objects.filter(report=report).exists()
    report.refresh_from_db()
    assert (report.status, report.floor, report.rank) == ("pending", wanted.floor, wanted.floor)
    job = job_of(report)
    assert (job.reason, job.attempts, job.parked) == (
        wanted.reason,
        wanted.attempts,
        wanted.parked,
    )
    assert (job.lease_until, job.done) == (None, False)
    assert wanted.reason.label
    assert wanted.reason.for_operations
    answer = site.client.get(f"/api/v1/reports/{report.public_id}/").json()
    assert (answer["status"], answer["pending_reason"]) == ("pending", wanted.reason)
    assert answer["classification"] is None
    model = ProviderModel.objects.get()
    assert model.turn_until is None
    assert (model.rests_until is not None, model.rest_reason) == (
        wanted.rests,
        wanted.reason if wanted.rests else "",
    )
    plain = {"mode": model.mode, "thinks": model.thinks, "takes_temperature": True}
    learnt = {name: getattr(model, name) for name in {**plain, **wanted.learns}}
    assert learnt == {**plain, **wanted.learns}


def log_everything(caplog: pytest.LogCaptureFixture) -> None:
    """All loggers at DEBUG but those that our settings pin, as LOG_LEVEL=DEBUG does it."""
    loggers: Any = configured.LOGGING["loggers"]
    pinned = tuple(loggers)
    for name in ("", *logging.root.manager.loggerDict):
        if not name.startswith(pinned):
            caplog.set_level(logging.DEBUG, logger=name or None)


def assert_no_content_was_logged(caplog: pytest.LogCaptureFixture) -> None:
    logged = "\n".join(
        f"{record.getMessage()} {record.__dict__} {record.exc_text}" for record in caplog.records
    )
    prompt = PolicyVersion.objects.active()
    assert prompt is not None
    marks = (CONTENT_MARK, REPLY_MARK, KEY, "EVIDENCE", prompt.prompt[:30], "Stand-in rules")
    assert [mark for mark in marks if mark in logged] == []
    assert caplog.records


def assert_is_never_asked_again(report: Report, site: Site, *, judged: bool) -> None:
    """Not by this version; where somebody judged the content, not by another model's either."""
    before = len(site.standin.calls())
    end_wait(report)
    end_rest()
    assert classify(report) is Outcome.SPENT
    if judged:
        other = activate_policy("another-model")
        know_model(site.standin.base_url, name="another-model")
        try:
            assert PolicyVersion.objects.active() == other
            assert classify(report) is Outcome.SPENT
        finally:
            activate_policy()
    assert len(site.standin.calls()) == before
