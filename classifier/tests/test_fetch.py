"""Fetching a list: as bounded, as private and as plainly refused as asking is."""

import json
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from pytest_django import Settings

from classifier import provider, transport
from classifier.provider import Fault, ProviderError
from classifier.tests.loopback import Respond, Server, running_server, send_whole
from classifier.tests.situations import wait_until

KEY = "sk-wombat-key"


@pytest.fixture(autouse=True)
def _own_key(settings: Settings) -> None:
    settings.OPENAI_API_KEY = KEY


def refusal(respond: Respond, settings: Settings) -> ProviderError:
    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        with pytest.raises(ProviderError) as refused:
            provider.fetch("models")
        # A busy server reads it after its client has given up.
        wait_until(lambda: len(server.requests) == 1)
    return refused.value


def answering(status: int, body: bytes = b"{}", **headers: str) -> Respond:
    return lambda handler, _request: send_whole(handler, body, status=status, **headers)


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("models", "/v1/models"),
        ("/props?model=a%2Fb%3A1", "/props?model=a%2Fb%3A1"),
        ("/api/ps", "/api/ps"),
    ],
)
def test_a_path_is_of_the_base_url_or_of_its_host(
    path: str, asked: str, settings: Settings
) -> None:
    asked_for: list[str] = []

    def respond(handler: BaseHTTPRequestHandler, _request: dict[str, Any]) -> None:
        asked_for.append(handler.path)
        send_whole(handler, b"[1]")

    with running_server(respond) as server:
        settings.OPENAI_BASE_URL = server.base_url
        assert provider.fetch(path) == b"[1]"
        assert asked_for == [asked]
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, Fault.CREDENTIALS),
        (404, Fault.UNKNOWN_MODEL),
        (429, Fault.RATE_LIMITED),
        (500, Fault.UNAVAILABLE),
    ],
)
def test_an_error_is_named_and_asked_once(status: int, fault: Fault, settings: Settings) -> None:
    error = refusal(answering(status, json.dumps({"key": KEY}).encode()), settings)

    assert (error.fault, error.status) == (fault, status)
    assert KEY not in str(error)


def test_a_redirect_is_not_followed(settings: Settings) -> None:
    with running_server(answering(200)) as other:
        error = refusal(answering(307, location=f"{other.base_url}/models"), settings)

        assert error.status == 307
        assert other.requests == []


def drip(handler: BaseHTTPRequestHandler, _request: dict[str, Any]) -> None:
    server: Server = handler.server  # type: ignore[assignment]
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while not server.stopping.wait(0.05):
        handler.wfile.write(b"\n")


def hang(handler: BaseHTTPRequestHandler, _request: dict[str, Any]) -> None:
    server: Server = handler.server  # type: ignore[assignment]
    server.stopping.wait(10)


@pytest.mark.parametrize("respond", [drip, hang])
def test_the_deadline_bounds_all_of_it(
    respond: Callable[[Any, Any], None], settings: Settings
) -> None:
    settings.MODEL_DEADLINE_SECONDS = 0.4
    provider.load()
    started = time.monotonic()

    error = refusal(respond, settings)

    assert error.fault is Fault.TIMEOUT
    assert time.monotonic() - started < 5


def test_a_body_without_end_is_not_read_to_it(settings: Settings) -> None:
    error = refusal(answering(200, b" " * (transport.MAX_REPLY_BYTES + 1)), settings)

    assert (error.fault, error.code) == (Fault.UNAVAILABLE, "too_large")
