"""The catalogue where operations look: the admin's page of models, and the figures."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from classifier.models import PolicyVersion, ProviderModel
from classifier.tests.loopback import running_server, send_whole
from classifier.tests.situations import NO_LIMIT, know_model, load_version, open_transactions
from dev.standin.client import Standin
from reviews.tests.people import log_in, page

MODELS = "/admin/classifier/providermodel/"
NAME = "stand-in-not-a-model"


@pytest.fixture
def model(standin: Standin, policy: PolicyVersion) -> ProviderModel:  # noqa: ARG001
    ProviderModel.objects.update(**NO_LIMIT)
    return ProviderModel.objects.get(base_url=standin.base_url)


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    browser = log_in("omar", "operator")
    User.objects.filter(username="omar").update(is_staff=True)
    return browser


def know(model: ProviderModel, **changes: Any) -> None:
    values = {
        "context_limit": 8192,
        "context_source": "max_model_len",
        "listed_at": Now(),
        "listed_hash": "0" * 64,
        **changes,
    }
    ProviderModel.objects.filter(pk=model.pk).update(**values)


def row_of(browser: Browser, name: str = NAME) -> str:
    """The line of the model in the list."""
    body = page(browser, MODELS).partition("<tbody>")[2]
    return next(row for row in body.split("</tr>") if f">{name}</a>" in row)


def in_days(days: int) -> Any:
    return timezone.localdate() + timedelta(days=days)


# --- The list


def test_a_model_without_a_limit_says_what_to_do(model: ProviderModel, browser: Browser) -> None:  # noqa: ARG001
    row = row_of(browser)

    assert "Nobody has said how much this model can read." in row
    assert "manage.py sync_models" in row
    assert '<strong class="overdue">never</strong>' in row


def test_limit_source_and_age_show(model: ProviderModel, browser: Browser) -> None:
    know(model, listed_at=Now() - timedelta(hours=3))

    row = row_of(browser)

    assert "<bdi>8192</bdi> prompt and answer" in row
    assert "max_model_len" in row
    assert re.search(r"3\shours ago", row)
    assert "stale" not in row
    know(model, counts_answer=False)
    assert "prompt alone" in row_of(browser)


def test_a_stale_list_and_a_missing_model_are_marked(
    model: ProviderModel, browser: Browser
) -> None:
    know(model, listed_at=Now() - timedelta(hours=25), listed_hash="")

    assert '<strong class="overdue">stale</strong>' in row_of(browser)
    assert '<strong class="overdue">not in the list</strong>' in row_of(browser)


@pytest.mark.parametrize(
    ("days", "shown"),
    [
        (31, "days left: 31"),
        (30, '<strong class="overdue">days left: 30</strong>'),
        (0, '<strong class="overdue">days left: 0</strong>'),
        (-2, '<strong class="overdue">days since: 2</strong>'),
    ],
)
def test_a_shutdown_shows_and_is_marked_thirty_days_ahead(
    days: int, shown: str, model: ProviderModel, browser: Browser
) -> None:
    know(model, shutdown_on=in_days(days))

    row = row_of(browser)

    assert f"<bdi>{in_days(days)}</bdi> {shown}" in row


def test_the_versions_that_use_a_model_show_and_none_at_another_provider(
    model: ProviderModel,  # noqa: ARG001
    browser: Browser,
) -> None:
    know_model("http://127.0.0.1:9/v1", name="elsewhere")
    load_version(prompt="Judge anew.")

    assert "1 (retired), 2 (active)" in row_of(browser)
    assert "no version: another provider is configured" in row_of(browser, "elsewhere")


def test_more_models_and_versions_are_no_more_queries(
    model: ProviderModel,  # noqa: ARG001
    standin: Standin,
    browser: Browser,
) -> None:
    page(browser, MODELS)
    with CaptureQueriesContext(connection) as few:
        page(browser, MODELS)
    for number in range(9):
        know_model(standin.base_url, name=f"model-{number}")
        load_version(prompt=f"Judge anew, {number}.")
    with CaptureQueriesContext(connection) as many:
        page(browser, MODELS)

    assert len(many) == len(few)


# --- One model


def test_the_page_of_a_model_shows_record_evidence_end_and_how_tokens_are_counted(
    model: ProviderModel, browser: Browser
) -> None:
    know(
        model,
        recorded_limit=4096,
        recorded_evidence="https://provider.example/a?b=1&c=<2>",
        recorded_until=in_days(-1),
        tokenizer="o200k",
        token_ratios={"arabic": 0.31},
    )

    html = page(browser, f"{MODELS}{model.pk}/change/")

    assert (
        '<a href="https://provider.example/a?b=1&amp;c=&lt;2&gt;" rel="noopener noreferrer">'
        in html
    )
    assert f"until {in_days(-1)}" in html
    assert '<strong class="overdue">expired</strong>' in html
    assert "o200k" in html
    assert "0.31" in html
    assert 'name="tokenizer"' not in html
    assert "1 (active)" in html


def test_the_list_is_read_by_an_action_and_who_may_not_change_may_not_read(
    model: ProviderModel, browser: Browser
) -> None:
    wanted = {"action": "read_list_now", "_selected_action": [model.pk]}

    answer = browser.post(MODELS, wanted, follow=True).content.decode()

    assert "Read: 1." in answer
    assert "<bdi>32768</bdi>" in row_of(browser)
    ProviderModel.objects.update(context_limit=None, context_source="")
    log_in("dana", "reviewer").post(MODELS, wanted)
    model.refresh_from_db()
    assert model.context_limit is None


def test_the_action_tells_what_failed_and_what_it_could_not_read_from_here(
    model: ProviderModel, standin: Standin, browser: Browser
) -> None:
    elsewhere = know_model("http://127.0.0.1:9/v1", name="elsewhere")
    standin.behave(models="<html>")

    answer = browser.post(
        MODELS,
        {"action": "read_list_now", "_selected_action": [model.pk, elsewhere.pk]},
        follow=True,
    ).content.decode()

    assert "Read: 0." in answer
    assert "The list was not read: provider_unavailable (status 200, code not_json" in answer
    assert "At another provider than the configured one: 1." in answer


@pytest.mark.django_db(transaction=True)
def test_the_action_reads_the_list_with_no_transaction_open(
    settings: Settings, browser: Browser
) -> None:
    open_ones: list[int] = []

    def respond(handler: Any, _request: Any) -> None:
        open_ones.append(open_transactions())
        send_whole(handler, b"[]")

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        model = know_model(server.base_url)
        browser.post(MODELS, {"action": "read_list_now", "_selected_action": [model.pk]})

    assert open_ones == [0]


# --- Figures


def figures() -> list[str]:
    lines = Browser().get("/metrics").content.decode().splitlines()
    return [line for line in lines if line.startswith("moderation_model_")]


def test_the_figures_tell_limit_source_age_and_days_until_shutdown(model: ProviderModel) -> None:
    assert figures() == []
    know_model("http://127.0.0.1:9/v1", name="elsewhere", shutdown_on=in_days(1))
    know(model, listed_at=Now() - timedelta(hours=1), shutdown_on=in_days(12))

    limit, age, days = figures()

    assert limit == (
        f'moderation_model_limit_tokens{{model="{NAME}",source="max_model_len"}} 8192.0'
    )
    assert age.startswith(f'moderation_model_listed_age_seconds{{model="{NAME}"}} ')
    assert 3600 <= float(age.split()[-1]) < 3660
    assert days == f'moderation_model_shutdown_days{{model="{NAME}"}} 12.0'


def test_a_record_that_ended_is_no_limit_in_the_figures(model: ProviderModel) -> None:
    know(
        model,
        context_limit=None,
        context_source="",
        recorded_limit=4096,
        recorded_evidence="https://provider.example",
        recorded_until=in_days(0),
    )
    assert any('source="record"' in line for line in figures())

    ProviderModel.objects.update(recorded_until=in_days(-1))

    assert not any("limit_tokens" in line for line in figures())
