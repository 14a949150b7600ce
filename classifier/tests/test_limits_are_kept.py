"""What becomes of a model's limit: read, lowered by an error, old, over."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from classifier.catalogue import (
    CATALOGUE_MAX_AGE,
    effective_limit,
    is_stale,
    is_unlisted,
    lower_limit,
    sync_model,
)
from classifier.limits import Limit
from classifier.models import ProviderModel
from classifier.tests.catalogues import SILENT, listing, lm_studio, ollama, props, read
from classifier.tests.loopback import running_server, send_whole
from classifier.tests.situations import know_model, open_transactions
from dev.standin.client import Standin

NAME = "stand-in-not-a-model"
TODAY = date(2026, 11, 30)


def row() -> ProviderModel:
    return ProviderModel.objects.get()


def stored() -> tuple[int | None, str, bool]:
    model = row()
    return model.context_limit, model.context_source, model.counts_answer


@pytest.fixture
def model(standin: Standin) -> ProviderModel:
    """A model whose limit of 8,192 stands in the list."""
    return read(standin, listing(max_model_len=8192)).model


# --- Reading


def test_limit_source_time_and_hash_are_stored(model: ProviderModel) -> None:
    assert stored() == (8192, "max_model_len", True)
    assert model.listed_at is not None
    assert abs(timezone.now() - model.listed_at) < timedelta(seconds=30)
    assert len(model.listed_hash) == 64


def test_the_hash_changes_with_the_entry_and_not_with_what_is_made_for_each_request(
    standin: Standin, model: ProviderModel
) -> None:
    again = listing(max_model_len=8192, created=17, permission=[{"id": "modelperm-2"}])
    assert read(standin, again).model.listed_hash == model.listed_hash

    other = listing(max_model_len=8192, root="/models/y")
    assert read(standin, other).model.listed_hash != model.listed_hash


def test_a_list_that_no_longer_says_it_takes_the_limit_away(
    standin: Standin,
    model: ProviderModel,  # noqa: ARG001
) -> None:
    synced = read(standin, SILENT)

    assert synced.before == Limit(8192, "max_model_len")
    assert stored() == (None, "", True)
    assert effective_limit(row(), today=TODAY) is None


def test_a_model_that_left_the_list_has_no_limit_and_says_so(
    standin: Standin,
    model: ProviderModel,  # noqa: ARG001
) -> None:
    read(standin, [])

    assert stored() == (None, "", True)
    assert is_unlisted(row())


@pytest.mark.parametrize("body", ["<html>busy</html>", '{"error": "no"}'])
def test_a_failed_reading_changes_nothing(
    body: str, standin: Standin, model: ProviderModel
) -> None:
    synced = read(standin, body)

    assert synced.failure is not None
    assert ProviderModel.objects.filter(pk=model.pk).values().get() == {
        name: getattr(model, name) for name in ProviderModel.objects.values().get()
    }


def test_a_provider_that_does_not_answer_changes_nothing(settings: Any, db: None) -> None:  # noqa: ARG001
    settings.OPENAI_BASE_URL = "http://127.0.0.1:9/v1"
    model = know_model(settings.OPENAI_BASE_URL, context_limit=8192, context_source="max_model_len")

    synced = sync_model(model)

    assert synced.failure is not None
    assert stored() == (8192, "max_model_len", True)


def test_a_model_elsewhere_is_not_read_from_here(standin: Standin) -> None:  # noqa: ARG001
    with pytest.raises(ValueError, match="not at the configured provider"):
        sync_model(know_model("http://127.0.0.1:9/v1", name="x"))


def test_what_came_in_between_wins(standin: Standin, model: ProviderModel) -> None:
    before = row()
    lower_limit(model, 4096)
    standin.behave(models=listing(max_model_len=16_384))

    synced = sync_model(before)

    assert stored() == (4096, "error", True)
    assert synced.model.context_limit == 4096


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_the_provider_is_read(settings: Any) -> None:
    open_ones: list[int] = []

    def respond(handler: Any, _request: Any) -> None:
        open_ones.append(open_transactions())
        send_whole(handler, b"[]")

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        sync_model(know_model(server.base_url))

    assert open_ones == [0]


# --- Loaded and not loaded


@pytest.mark.parametrize(
    ("place", "loaded", "not_loaded", "limit"),
    [
        (
            "/api/ps",
            ollama({"name": NAME, "context_length": 4096}),
            ollama(),
            (4096, "/api/ps context_length", True),
        ),
        (
            "/api/v0/models",
            lm_studio(loaded_context_length=4096, max_context_length=131_072),
            lm_studio(max_context_length=131_072),
            (4096, "/api/v0/models loaded_context_length", True),
        ),
        (
            "/props",
            props(4096),
            props(0),
            (4096, "/props default_generation_settings.n_ctx", True),
        ),
    ],
)
def test_a_model_that_was_unloaded_keeps_the_limit_it_was_loaded_with(
    place: str,
    loaded: Any,
    not_loaded: Any,
    limit: tuple[int, str, bool],
    standin: Standin,
) -> None:
    read(standin, SILENT, {place: loaded})
    assert stored() == limit

    read(standin, SILENT, {place: not_loaded})
    assert stored() == limit

    read(standin, listing(owned_by="somebody else"), {place: not_loaded})
    assert stored() != limit


# --- Errors


def test_an_error_lowers_the_limit_and_never_raises_it(model: ProviderModel) -> None:
    assert lower_limit(model, 4096)
    assert (model.context_limit, model.context_source) == (4096, "error")
    assert not lower_limit(model, 4096)
    assert not lower_limit(model, 6000)
    assert stored() == (4096, "error", True)


@pytest.mark.parametrize("tokens", [-1, 0, 255, 16_000_001])
def test_an_absurd_number_in_an_error_teaches_nothing(tokens: int, model: ProviderModel) -> None:
    assert not lower_limit(model, tokens)
    assert stored() == (8192, "max_model_len", True)


def test_an_error_counts_where_the_list_says_nothing(standin: Standin) -> None:
    model = read(standin, SILENT).model

    assert lower_limit(model, 4096)
    assert stored() == (4096, "error", True)
    read(standin, SILENT)
    assert stored() == (4096, "error", True)


def test_a_limit_for_the_prompt_alone_holds_the_answer_too_once_an_error_lowered_it(
    standin: Standin,
) -> None:
    model = read(standin, listing(max_input_tokens=8192)).model
    assert stored() == (8192, "max_input_tokens", False)

    lower_limit(model, 4096)

    assert stored() == (4096, "error", True)


def test_what_an_error_lowered_outlasts_the_same_entry_and_ends_with_another(
    standin: Standin, model: ProviderModel
) -> None:
    lower_limit(model, 4096)

    read(standin, listing(max_model_len=8192))
    assert stored() == (4096, "error", True)

    read(standin, listing(max_model_len=6000))
    assert stored() == (6000, "max_model_len", True)


def test_a_side_endpoint_that_says_less_than_the_error_counts(standin: Standin) -> None:
    model = read(standin, SILENT, {"/props": props(8192)}).model
    lower_limit(model, 4096)

    read(standin, SILENT, {"/props": props(2048)})

    assert stored() == (2048, "/props default_generation_settings.n_ctx", True)


def test_an_operator_lets_the_list_count_again_after_an_error(
    standin: Standin, model: ProviderModel
) -> None:
    lower_limit(model, 4096)
    standin.behave(models=listing(max_model_len=8192))

    sync_model(row(), forget_errors=True)

    assert stored() == (8192, "max_model_len", True)


# --- Age and shutdown


def test_a_list_is_stale_when_it_was_never_read_or_too_long_ago(model: ProviderModel) -> None:
    assert model.listed_at is not None
    at_last = model.listed_at + CATALOGUE_MAX_AGE

    assert not is_stale(model, at_last)
    assert is_stale(model, at_last + timedelta(seconds=1))
    assert is_stale(ProviderModel(name="x"), at_last)
    assert effective_limit(model, today=TODAY) is not None


@pytest.mark.parametrize(
    ("fields", "day"),
    [
        ({"shutdown_date": "2027-01-31"}, date(2027, 1, 31)),
        ({"retires_at": "2027-01-31T12:00:00Z"}, date(2027, 1, 31)),
        ({"deprecation": "2027-01-31T12:00:00+00:00"}, date(2027, 1, 31)),
        ({"shutdown_date": "2027-03-01", "deprecation": "2027-01-31"}, date(2027, 1, 31)),
        ({"shutdown_date": None}, None),
        ({"shutdown_date": ""}, None),
        ({"shutdown_date": "soon"}, None),
        ({"shutdown_date": "2027-02-30"}, None),
        ({"shutdown_date": 1_800_000_000}, None),
        ({"deprecation": True}, None),
        ({"deprecation": {"at": "2027-01-31"}}, None),
    ],
)
def test_a_shutdown_is_stored_where_it_is_a_date(
    fields: dict[str, Any], day: date | None, standin: Standin
) -> None:
    assert read(standin, listing(**fields)).model.shutdown_on == day


def test_a_shutdown_that_is_called_off_is_gone_and_one_that_happened_stays(
    standin: Standin,
) -> None:
    read(standin, listing(shutdown_date="2027-01-31"))
    read(standin, [])
    assert row().shutdown_on == date(2027, 1, 31)

    read(standin, listing(shutdown_date=None))
    assert row().shutdown_on is None
