"""Who may not ask, what is not read, and how a caller is told: all of it as problem+json."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client as HttpClient
from pytest_django.live_server_helper import LiveServer

from reports.models import ApiKey, Report
from reports.senders import revoke_key
from reports.submission import MAX_BODY_BYTES
from reports.tests.sending import REPORTS, Client, assert_problem, make_sender, report_body


def post_as(authorization: str | None) -> Any:
    return HttpClient().post(
        REPORTS,
        json.dumps(report_body()),
        content_type="application/json",
        headers={
            "Idempotency-Key": "k-1",
            **({} if authorization is None else {"Authorization": authorization}),
        },
    )


def assert_unauthorized(answer: Any) -> None:
    assert_problem(answer, 401, "authentication_failed")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert not Report.objects.exists()


def test_no_key_is_401(client_of_sender: Client) -> None:  # noqa: ARG001
    assert_unauthorized(post_as(None))


def test_another_scheme_is_401(client_of_sender: Client) -> None:
    assert_unauthorized(post_as(f"Basic {client_of_sender.key}"))


def test_a_scheme_without_a_key_is_401(client_of_sender: Client) -> None:  # noqa: ARG001
    assert_unauthorized(post_as("Bearer"))
    assert_unauthorized(post_as("Bearer "))


@pytest.mark.parametrize(
    "wrong", ["", "x", "0123456789ab.", "0123456789ab.secret", "é.é", "\x00.x"]
)
def test_an_unknown_key_is_401(client_of_sender: Client, wrong: str) -> None:  # noqa: ARG001
    assert_unauthorized(post_as(f"Bearer {wrong}"))


def test_a_known_prefix_with_another_secret_is_401(client_of_sender: Client) -> None:
    prefix, _, secret = client_of_sender.key.partition(".")

    assert_unauthorized(post_as(f"Bearer {prefix}.{secret[:-1]}"))
    assert_unauthorized(post_as(f"Bearer {prefix}.{secret}x"))
    assert_unauthorized(post_as(f"Bearer {prefix}{secret}"))


def test_a_revoked_key_is_401(client_of_sender: Client) -> None:
    user = User.objects.create_user("admin")
    revoke_key(api_key=ApiKey.objects.get(), actor=user)

    assert_unauthorized(post_as(f"Bearer {client_of_sender.key}"))


def test_the_name_of_the_scheme_has_no_case(client_of_sender: Client) -> None:
    assert post_as(f"bearer {client_of_sender.key}").status_code == 202


def test_an_inactive_sender_is_403(client_of_sender: Client) -> None:
    client_of_sender.sender.is_active = False
    client_of_sender.sender.save()

    assert_problem(client_of_sender.post(), 403, "permission_denied")
    assert_problem(client_of_sender.get(), 403, "permission_denied")
    assert not Report.objects.exists()


def test_an_unknown_id_and_another_sender_s_id_are_the_same_404(client_of_sender: Client) -> None:
    location = make_sender("forum").post().headers["Location"]

    foreign = assert_problem(client_of_sender.get(location), 404, "not_found")
    unknown = assert_problem(client_of_sender.get(f"{REPORTS}{uuid4()}/"), 404, "not_found")

    assert foreign == unknown


@pytest.mark.parametrize("address", ["/api/v1/reports", "/api/v1/reports/7/", "/api/v2/", "/api/"])
def test_an_unknown_address_is_404_for_a_post_of_a_program(address: str) -> None:
    # The check of cookies is off in test clients unless asked for; a program sends none.
    program = HttpClient(enforce_csrf_checks=True)

    answer = program.post(address, "{}", content_type="application/json")

    assert_problem(answer, 404, "not_found")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_another_method_is_405_with_the_allowed_ones(client_of_sender: Client, method: str) -> None:
    answer = client_of_sender.http.generic(
        method, REPORTS, headers={"Authorization": f"Bearer {client_of_sender.key}"}
    )

    assert_problem(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"


def test_an_answer_that_nobody_here_can_write_is_406(client_of_sender: Client) -> None:
    answer = client_of_sender.post(headers={"Accept": "text/html"})

    assert_problem(answer, 406, "not_acceptable")
    assert not Report.objects.exists()


def test_a_chunked_body_is_411(client_of_sender: Client) -> None:
    answer = client_of_sender.http.post(
        REPORTS,
        json.dumps(report_body()),
        content_type="application/json",
        headers={
            "Authorization": f"Bearer {client_of_sender.key}",
            "Idempotency-Key": "k-1",
            "Transfer-Encoding": "chunked",
        },
        CONTENT_LENGTH="",
    )

    assert_problem(answer, 411, "length_required")


def body_of(size: int) -> bytes:
    """A complete body of exactly so many bytes, most of them text."""
    messages = [{"text": "x" * 20_000} for _ in range(52)]
    raw = json.dumps(report_body(messages=messages)).encode()
    return raw + b" " * (size - len(raw))


def test_a_body_of_exactly_one_mebibyte_is_accepted(client_of_sender: Client) -> None:
    assert client_of_sender.post(raw=body_of(MAX_BODY_BYTES)).status_code == 202


def test_one_byte_more_is_413(client_of_sender: Client) -> None:
    answer = client_of_sender.post(raw=body_of(MAX_BODY_BYTES + 1))

    assert_problem(answer, 413, "body_too_large")
    assert not Report.objects.exists()


def test_five_declared_megabytes_are_413_before_any_of_them_is_sent(
    transactional_db: None,  # noqa: ARG001
    live_server: LiveServer,
) -> None:
    sender = make_sender("chat-app")
    server = http.client.HTTPConnection(urlsplit(live_server.url).netloc, timeout=10)
    server.putrequest("POST", REPORTS)
    server.putheader("Authorization", f"Bearer {sender.key}")
    server.putheader("Idempotency-Key", "k-1")
    server.putheader("Content-Type", "application/json")
    server.putheader("Content-Length", "5000000")

    server.endheaders()

    answer = server.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["code"] == "body_too_large"
    server.close()


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/merge-patch+json",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
    ],
)
def test_another_type_or_charset_is_415(client_of_sender: Client, content_type: str) -> None:
    raw = json.dumps(report_body()).encode()

    answer = client_of_sender.post(raw=raw, content_type=content_type)

    assert_problem(answer, 415, "unsupported_media_type")
    assert not Report.objects.exists()


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf-8"'])
def test_utf_8_may_be_named(client_of_sender: Client, charset: str) -> None:
    answer = client_of_sender.post(content_type=f"application/json; charset={charset}")

    assert answer.status_code == 202


def test_too_many_requests_are_429_and_say_when_to_come_back(
    client_of_sender: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: Any = settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
    monkeypatch.setitem(rates, "sender", "2/min")  # what INTAKE_RATE sets
    assert client_of_sender.post().status_code == 202
    assert client_of_sender.get().status_code == 200

    answer = client_of_sender.post()

    assert_problem(answer, 429, "throttled")
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert Report.objects.count() == 1
    assert make_sender("forum").post().status_code == 202, "the bound is for one sender"
