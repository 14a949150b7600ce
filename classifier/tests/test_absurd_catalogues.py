"""Lists and limits that are absent, wrong or absurd: no limit, and never an error of ours."""

import json
from typing import Any

import pytest
from pytest_django import Settings

from classifier.catalogue import is_unlisted, sync_model
from classifier.limits import Limit, read_list
from classifier.provider import Fault
from classifier.strict_json import StrictJSONError
from classifier.tests.catalogues import NAME, SILENT, limit_of, listing, props, read
from classifier.tests.loopback import running_server, send_whole
from classifier.tests.situations import know_model
from dev.standin.client import Standin

pytestmark = pytest.mark.django_db

# --- Values

ABSURD = [
    0,
    -1,
    255,
    16_000_001,
    10**12,
    1e12,
    8192.0,
    1.5,
    True,
    False,
    None,
    "",
    "8k",
    "-8192",
    "8192.0",
    "1e4",
    "inf",
    "٨١٩٢",
    "9" * 40,
    [8192],
    {"value": 8192},
]


@pytest.mark.parametrize("value", ABSURD, ids=repr)
@pytest.mark.parametrize(
    "field", ["max_model_len", "meta.n_ctx", "meta.n_ctx_train", "max_input_tokens"]
)
def test_a_value_that_cannot_be_is_as_good_as_none(
    field: str, value: Any, standin: Standin
) -> None:
    outer, _dot, inner = field.partition(".")

    synced = read(standin, listing(**{outer: {inner: value} if inner else value}))

    assert limit_of(synced) is None


@pytest.mark.parametrize("value", [256, 16_000_000, "8192", "00008192"])
def test_a_whole_number_in_bounds_counts_also_as_digits(value: Any, standin: Standin) -> None:
    assert limit_of(read(standin, listing(max_model_len=value))) == Limit(
        int(value), "max_model_len"
    )


@pytest.mark.parametrize(
    "fields",
    [
        {"meta": None},
        {"meta": "n_ctx"},
        {"meta": [{"n_ctx": 8192}]},
        {"meta": {"n_ctx": {"n_ctx": 8192}}},
        {"top_provider": 8192},
        {"top_provider": {"context_length": []}},
    ],
)
def test_a_field_of_another_shape_is_as_good_as_none(
    fields: dict[str, Any], standin: Standin
) -> None:
    assert limit_of(read(standin, listing(**fields))) is None


@pytest.mark.parametrize(
    "body",
    [
        "<html>Unexpected endpoint</html>",
        "",
        "null",
        '{"n_ctx": NaN}',
        "[" * 100,
        [],
        8192,
        {"error": "Unexpected endpoint or method."},
        {"default_generation_settings": 8192},
        {"default_generation_settings": {"n_ctx": "many"}},
        {"models": {"name": NAME}, "data": {"id": NAME}},
        {"models": [8192, None], "data": [8192, None, {"model_name": NAME, "model_info": 1}]},
    ],
    ids=repr,
)
def test_garbage_beside_the_list_is_no_error(body: Any, standin: Standin) -> None:
    places = ("/props", "/info", "/api/ps", "/api/v0/models", "/model/info")

    assert limit_of(read(standin, SILENT, dict.fromkeys(places, body))) is None


# --- The list itself


@pytest.mark.parametrize("entries", [[], [{"id": "another", "max_model_len": 8192}]])
def test_a_model_that_is_not_in_the_list_has_no_limit_even_as_the_only_one(
    entries: list[Any], standin: Standin
) -> None:
    synced = read(standin, {"data": entries}, {"/props": props(8192)})

    assert limit_of(synced) is None
    assert is_unlisted(synced.model)


@pytest.mark.parametrize("name", ["Stand-In-Not-A-Model", f"{NAME} ", f"models/{NAME}", None, 7])
def test_a_name_is_taken_by_the_letter(name: Any, standin: Standin) -> None:
    assert is_unlisted(read(standin, [{"id": name, "max_model_len": 8192}]).model)


def test_entries_that_are_no_objects_are_passed_over(standin: Standin) -> None:
    synced = read(standin, [None, "x", 3, [], {"id": NAME, "max_model_len": 8192}])

    assert limit_of(synced) == Limit(8192, "max_model_len")


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<html>", "not_json"),
        ("", "not_json"),
        ("null", "not_a_list"),
        ("{}", "not_a_list"),
        ('{"data": null}', "not_a_list"),
        ('{"data": {"id": "x"}}', "not_a_list"),
        ('{"error": {"message": "no"}}', "not_a_list"),
        ('{"data": [], "data": []}', "duplicate_key"),
        ('[{"id": "x", "max_model_len": Infinity}]', "not_finite"),
        ("[" * 100 + "]" * 100, "too_deep"),
    ],
)
def test_what_is_no_list_is_a_failure_and_changes_nothing(
    body: str, rule: str, standin: Standin
) -> None:
    read(standin, listing(max_model_len=8192))

    synced = read(standin, body)

    assert synced.failure is not None
    assert (synced.failure.fault, synced.failure.code) == (Fault.UNAVAILABLE, rule)
    assert synced.model.context_limit == 8192


def test_a_list_in_no_encoding_is_a_failure() -> None:
    with pytest.raises(StrictJSONError, match="not_utf8"):
        read_list(b'{"data": [{"id": "\xff"}]}')


def test_a_mark_before_the_list_does_no_harm() -> None:
    assert read_list(b'\xef\xbb\xbf{"data": []}') == []


def test_no_further_page_is_followed_and_nothing_asked_beside_a_list_that_says_it(
    settings: Settings,
) -> None:
    asked: list[str] = []
    pages = listing(max_model_len=8192) | {
        "has_more": True,
        "last_id": NAME,
        "next": "/v1/models?2",
    }

    def respond(handler: Any, _request: Any) -> None:
        asked.append(handler.path)
        send_whole(handler, json.dumps(pages).encode())

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        synced = sync_model(know_model(server.base_url))

    assert limit_of(synced) == Limit(8192, "max_model_len")
    assert asked == ["/v1/models"]


def test_a_name_goes_into_an_address_quoted(settings: Settings) -> None:
    asked: list[str] = []

    def respond(handler: Any, _request: Any) -> None:
        asked.append(handler.path)
        found = handler.path.startswith("/v1")
        send_whole(handler, b'[{"id": "a/b:c?d&e=f"}]' if found else b"{}")

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        sync_model(know_model(server.base_url, name="a/b:c?d&e=f"))

    assert asked[:2] == ["/v1/models", "/props?model=a%2Fb%3Ac%3Fd%26e%3Df"]


def test_a_server_that_hangs_at_one_side_endpoint_is_not_asked_for_the_others(
    settings: Settings,
) -> None:
    settings.MODEL_DEADLINE_SECONDS = 0.4
    asked: list[str] = []

    def respond(handler: Any, _request: Any) -> None:
        asked.append(handler.path)
        if handler.path == "/v1/models":
            send_whole(handler, json.dumps(SILENT).encode())
        else:
            handler.server.stopping.wait(10)

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        assert limit_of(sync_model(know_model(server.base_url))) is None

    assert asked == ["/v1/models", f"/props?model={NAME}"]
