"""Asking: bounded in time and bytes, to the configured server only, with nothing leaked."""

import email.utils
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from classifier import provider, transport
from classifier.provider import Fault, ProviderError, Reply
from classifier.tests.loopback import Server, running_server, send_whole
from classifier.tests.situations import completion, wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT, KEY = "the wombat festival", "sk-wombat-key"
GOOD = json.dumps(completion("{}")).encode()


@pytest.fixture
def short_deadline(settings: Settings) -> float:
    settings.MODEL_DEADLINE_SECONDS = 0.4
    return 0.4


@pytest.fixture(autouse=True)
def _own_key(settings: Settings) -> None:
    settings.OPENAI_API_KEY = KEY


def ask(server: Server, settings: Settings) -> Reply:
    settings.OPENAI_BASE_URL = server.base_url
    return provider.ask(
        model="m",
        system="You judge.",
        user=TEXT,
        parameters={"response_format": {"type": "json_object"}},
    )


def refusal(server: Server, settings: Settings) -> ProviderError:
    with pytest.raises(ProviderError) as refused:
        ask(server, settings)
    return refused.value


# --- Time and bytes, of which `test_transport` has the cases


def test_the_deadline_of_the_settings_bounds_the_whole_call(
    short_deadline: float, settings: Settings
) -> None:
    def stall(handler: BaseHTTPRequestHandler, _request: dict[str, Any]) -> None:
        handler.server.stopping.wait(10)  # type: ignore[attr-defined]

    with running_server(stall) as server:
        settings.OPENAI_BASE_URL = server.base_url
        provider._client()  # a process's first call also loads the SDK
        started = time.monotonic()
        error = refusal(server, settings)
        taken = time.monotonic() - started
        wait_until(lambda: len(server.requests) == 1)

    assert error.fault is Fault.TIMEOUT
    assert short_deadline <= taken + 0.05
    assert taken < 5


def test_a_body_above_the_cap_is_left_unread(settings: Settings) -> None:
    def respond(handler: Any, _request: Any) -> None:
        send_whole(handler, b" " * (transport.MAX_REPLY_BYTES + 1))

    with running_server(respond) as server:
        error = refusal(server, settings)

    assert (error.fault, error.code) == (Fault.UNAVAILABLE, "too_large")


# --- Where the prompt goes


def test_a_redirect_is_not_followed_and_the_prompt_not_sent_again(settings: Settings) -> None:
    with running_server(lambda handler, _request: send_whole(handler, GOOD)) as other:

        def respond(handler: Any, _request: Any) -> None:
            send_whole(handler, b"", status=307, location=f"{other.base_url}/chat/completions")

        with running_server(respond) as server:
            error = refusal(server, settings)

    assert (error.fault, error.status) == (Fault.REJECTED, 307)
    assert (len(server.requests), len(other.requests)) == (1, 0)


def test_what_stands_in_the_environment_changes_no_request(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-wombat")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-wombat")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "admin-wombat")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "other-wombat")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Tenant: wombat\nAuthorization: Bearer wombat")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    with running_server(lambda handler, _request: send_whole(handler, GOOD)) as server:
        assert ask(server, settings).body == GOOD

    (headers,) = server.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["accept-encoding"] == "identity"
    del headers["authorization"]
    assert "wombat" not in str(headers)
    assert not {"openai-organization", "openai-project", "x-tenant"} & set(headers)


def test_a_failing_server_is_asked_once(settings: Settings) -> None:
    def respond(handler: Any, _request: Any) -> None:
        send_whole(handler, b"{}", status=500, x_should_retry="true", retry_after="0.01")

    with running_server(respond) as server:
        assert refusal(server, settings).fault is Fault.UNAVAILABLE

    assert len(server.requests) == 1


# --- What an error says


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "3600"}, 3600),
        ({"retry_after": "5", "retry_after_ms": "300"}, 0.3),
        ({"retry_after": "5", "retry_after_ms": "soon"}, 5),
    ],
)
def test_the_server_says_how_long_to_wait(
    headers: dict[str, str], seconds: float, settings: Settings
) -> None:
    def respond(handler: Any, _request: Any) -> None:
        send_whole(handler, b"{}", status=429, **headers)

    with running_server(respond) as server:
        error = refusal(server, settings)

    assert error.fault is Fault.RATE_LIMITED
    assert error.retry_after == seconds


def test_the_server_says_until_when_to_wait(settings: Settings) -> None:
    in_an_hour = email.utils.formatdate(time.time() + 3600, usegmt=True)

    def respond(handler: Any, _request: Any) -> None:
        send_whole(handler, b"{}", status=429, retry_after=in_an_hour)

    with running_server(respond) as server:
        error = refusal(server, settings)

    assert error.retry_after is not None
    assert 3000 <= error.retry_after <= 3601


@pytest.mark.parametrize(
    "value",
    [
        "0",
        "-5",
        "nan",
        "inf",
        "1e400",
        "abc",
        "Mon, 99 Nov 2026 10:00:00 GMT",
        "Mon, 02 Nov 99999 10:00:00 GMT",
        "Mon, 02 Nov 2026 99999999999999999999:00:00 GMT",
        "Sun, 02 Nov 2025 10:00:00 GMT",
    ],
)
def test_a_senseless_time_to_wait_is_ignored(value: str, settings: Settings) -> None:
    def respond(handler: Any, _request: Any) -> None:
        send_whole(handler, b"{}", status=429, retry_after=value)

    with running_server(respond) as server:
        assert refusal(server, settings).retry_after is None


@pytest.mark.parametrize(
    "respond",
    [
        lambda handler, _: send_whole(handler, wrong(), status=400, x_request_id="req-1"),
        lambda handler, _: send_whole(handler, wrong(code=TEXT, type=TEXT), status=422),
        lambda handler, _: send_whole(handler, wrong(code={"inner": TEXT}), status=500),
        lambda handler, _: send_whole(handler, TEXT.encode(), status=500, content_type="text/html"),
        lambda handler, _: handler.wfile.write(f"{TEXT} {KEY}\r\n\r\n".encode()),
        lambda _handler, _: None,
    ],
    ids=["message", "code", "nested code", "html", "no HTTP", "nothing"],
)
def test_an_error_holds_neither_the_prompt_nor_the_key(
    respond: Callable[[Any, Any], None], short_deadline: float, settings: Settings
) -> None:
    with running_server(respond) as server:
        error = refusal(server, settings)

    told = f"{error} {error!r} {error.args} {vars(error)}"
    assert "wombat" not in told
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert short_deadline


def wrong(**fields: Any) -> bytes:
    return json.dumps({"error": {"message": f"{TEXT} {KEY}", **fields}}).encode()


# --- One client a process

FORKING = """
import os, sys
from django.conf import settings
from classifier import provider, transport
settings.configure(OPENAI_BASE_URL=sys.argv[1], OPENAI_API_KEY="key", MODEL_DEADLINE_SECONDS=10)
mine = provider._client()
assert provider._client() is mine
child = os.fork()
if child == 0:
    theirs = provider._client()
    right = theirs is not mine and theirs is provider._client()
    reply = provider.ask(model="m", system="s", user="u", parameters={})
    os._exit(0 if right and reply.body else 1)
_, status = os.waitpid(child, 0)
assert provider._client() is mine
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_a_forked_child_makes_a_client_of_its_own() -> None:
    with running_server(lambda handler, _request: send_whole(handler, GOOD)) as server:
        forked = subprocess.run(
            [sys.executable, "-c", FORKING, server.base_url],
            cwd=REPOSITORY,
            timeout=30,
            check=False,
        )

    assert forked.returncode == 0
    assert len(server.requests) == 1


def test_threads_share_a_client_and_each_gets_its_own_answer(settings: Settings) -> None:
    def echo(handler: Any, request: Any) -> None:
        send_whole(handler, request["messages"][-1]["content"].encode())

    with running_server(echo) as server, ThreadPoolExecutor(8) as threads:
        settings.OPENAI_BASE_URL = server.base_url

        def say(text: str) -> tuple[int, str]:
            reply = provider.ask(model="m", system="s", user=text, parameters={})
            return id(provider._client()), reply.body.decode()

        texts = [f"text {number}" for number in range(40)]
        answers = list(threads.map(say, texts))

    assert [text for _client, text in answers] == texts
    assert len({client for client, _text in answers}) == 1
