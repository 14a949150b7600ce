"""The contract as a document: valid OpenAPI 3.1 that says what the code does, browsable offline."""

import json
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client as HttpClient
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from reports.submission import Reason
from reports.tests.sending import REPORTS, Client, report_body

SCHEMA = "/api/schema/"
DOCS = "/api/docs/"
PROBLEMS = {"400", "401", "403", "411", "413", "415", "422", "429", "503"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer = HttpClient().get(SCHEMA, {"format": "json"})
    assert answer.status_code == 200
    result: dict[str, Any] = json.loads(answer.content)
    return result


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")

    OpenAPIV31SpecValidator(document).validate()


def test_every_address_and_method_is_described(document: dict[str, Any]) -> None:
    described = {(path, method) for path, each in document["paths"].items() for method in each}

    assert described == {
        (REPORTS, "get"),
        (REPORTS, "post"),
        (f"{REPORTS}{{public_id}}/", "get"),
    }


def test_every_answer_to_a_new_report_is_described(document: dict[str, Any]) -> None:
    answers = document["paths"][REPORTS]["post"]["responses"]

    assert set(answers) == {"200", "202"} | PROBLEMS
    for status in PROBLEMS:
        assert set(answers[status]["content"]) == {"application/problem+json"}
    assert {"Location"} <= set(answers["202"]["headers"])
    assert {"Location", "Idempotency-Replayed"} <= set(answers["200"]["headers"])
    for status in ("429", "503"):
        assert "Retry-After" in answers[status]["headers"]


def test_the_key_of_a_request_and_of_the_sender_are_described(document: dict[str, Any]) -> None:
    post = document["paths"][REPORTS]["post"]

    header = next(each for each in post["parameters"] if each["in"] == "header")
    assert (header["name"], header["required"]) == ("Idempotency-Key", True)
    assert post["security"] == [{"ApiKey": []}]
    assert document["components"]["securitySchemes"]["ApiKey"]["scheme"] == "bearer"


def test_the_parameters_of_the_list_are_described(document: dict[str, Any]) -> None:
    names = {each["name"] for each in document["paths"][REPORTS]["get"]["parameters"]}

    assert names == {"status", "item_type", "received_after", "cursor"}


def test_limits_and_known_reasons_are_described(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]

    assert schemas["Submission"]["properties"]["messages"]["maxItems"] == 500
    assert schemas["SubmittedMessage"]["properties"]["text"]["maxLength"] == 20_000
    assert schemas["SubmittedItem"]["additionalProperties"] is False
    assert schemas["SubmittedItem"]["required"] == ["type", "id"]
    assert schemas["ReasonEnum"]["enum"] == Reason.values


def described(document: dict[str, Any], path: str, method: str, status: int, kind: str) -> Any:
    """A validator of the described body, with the document's components in reach."""
    content = document["paths"][path][method]["responses"][str(status)]["content"]
    return OAS31Validator({**content[kind]["schema"], "components": document["components"]})


def test_real_answers_have_the_described_shape(
    document: dict[str, Any], client_of_sender: Client
) -> None:
    sent, refused = client_of_sender.post(), client_of_sender.post(report_body(reason="x"))

    for answer, path, method in [
        (sent, REPORTS, "post"),
        (refused, REPORTS, "post"),
        (client_of_sender.get(), REPORTS, "get"),
        (client_of_sender.get(sent.headers["Location"]), f"{REPORTS}{{public_id}}/", "get"),
    ]:
        kind = answer.headers["Content-Type"]
        described(document, path, method, answer.status_code, kind).validate(answer.json())


class Addresses(HTMLParser):
    """What a page loads, and what stands inline in it."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.loaded += [value for name in ("src", "href") if (value := names.get(name))]
        self.inline += [name for name in names if name == "style" or name.startswith("on")]
        if tag == "script" and "src" not in names:
            self.inline.append(tag)


def page() -> Addresses:
    answer = HttpClient().get(DOCS)
    assert answer.status_code == 200
    found = Addresses()
    found.feed(answer.content.decode())
    return found


def test_the_page_loads_nothing_from_elsewhere() -> None:
    loaded = page().loaded

    assert loaded
    for address in loaded:
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc) == ("", ""), address


@pytest.mark.django_db
def test_everything_the_page_loads_is_there() -> None:
    for address in page().loaded:
        answer = HttpClient().get(address)
        answer.close()
        assert answer.status_code == 200, address


def test_no_script_stands_inline() -> None:
    policy = HttpClient().get(DOCS).headers["Content-Security-Policy"]

    assert "'unsafe-inline'" not in policy
    assert "script-src" not in policy  # default-src 'self' holds for scripts
    assert page().inline == []
