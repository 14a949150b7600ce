"""Every field with every kind of wrong value: stored, or a 400 that names it; never a 500."""

import copy
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from reports.models import Report
from reports.submission import Submission
from reports.tests.sending import Client, assert_problem, report_body

Path = tuple[str | int, ...]


def paths_of(model: type[BaseModel], start: Path = ()) -> list[Path]:
    """Every field of the schema as a path into a body, the parts of parts included."""
    found: list[Path] = []
    for name, field in model.model_fields.items():
        path = (*start, name)
        found.append(path)
        for part in (field.annotation, *get_args(field.annotation)):
            if isinstance(part, type) and issubclass(part, BaseModel):
                inside = (
                    (*path, 0) if getattr(field.annotation, "__origin__", None) is list else path
                )
                found += [*([inside] if inside != path else []), *paths_of(part, inside)]
    return found


PATHS = paths_of(Submission)
REQUIRED: set[Path] = {
    ("item",),
    ("item", "type"),
    ("item", "id"),
    ("messages",),
    ("messages", 0, "text"),
}
MISSING = object()
VALUES = [MISSING, None, "", " ", "x", 0, -1, 1.5, True, False, [], ["x"], [None], {}, {"x": 1}]


def dotted(path: Path) -> str:
    return ".".join(str(step) for step in path)


def body_with(path: Path, value: Any) -> dict[str, Any]:
    """A complete body whose one field has this value, or does not stand there."""
    body: Any = copy.deepcopy(report_body())
    place = body
    for step in path[:-1]:
        place = place[step]
    if value is MISSING:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    result: dict[str, Any] = body
    return result


def refused_fields(client: Client, body: Any) -> list[str]:
    problem = assert_problem(client.post(body), 400, "invalid")
    return [error["field"] for error in problem["errors"]]


def test_the_schema_is_walked_to_its_leaves() -> None:
    assert {"item.url", "reporter.id", "messages.0", "messages.0.sent_at", "metadata"} <= {
        dotted(path) for path in PATHS
    }
    assert set(PATHS) > REQUIRED


@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_each_value_in_a_field_is_stored_or_refused_by_its_name(
    client_of_sender: Client, path: Path
) -> None:
    field = dotted(path)
    for value in VALUES:
        answer = client_of_sender.post(body_with(path, value))

        assert answer.status_code in {202, 400}, (value, answer.content)
        if answer.status_code == 400:
            named = [e["field"] for e in assert_problem(answer, 400, "invalid")["errors"]]
            # The field itself, a part of it, or what it leaves without text.
            assert all(
                name == field or name.startswith(f"{field}.") or field.startswith(f"{name}.")
                for name in named
            ), (value, named)


@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_only_what_is_required_must_be_there(client_of_sender: Client, path: Path) -> None:
    required = path in REQUIRED or path == ("messages", 0)

    for value in (MISSING, None):
        answer = client_of_sender.post(body_with(path, value))

        assert answer.status_code == (400 if required else 202), (value, answer.content)


def test_the_smallest_body_is_enough(client_of_sender: Client) -> None:
    body = {"item": {"type": "post", "id": "p"}, "messages": [{"text": "x"}]}

    report = client_of_sender.send(body)

    assert report.reason == ""
    assert report.reporter_pseudonym == ""
    assert report.content.body == body


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_messages_without_any_text_are_refused(client_of_sender: Client, text: str) -> None:
    body = report_body(messages=[{"text": text}, {"text": text}])

    assert refused_fields(client_of_sender, body) == ["messages"]


def test_one_message_with_text_is_enough(client_of_sender: Client) -> None:
    client_of_sender.send(report_body(messages=[{"text": ""}, {"text": "x"}]))


@pytest.mark.parametrize("path", [(), ("item",), ("reporter",), ("messages", 0)], ids=dotted)
def test_an_unknown_field_is_refused_on_each_level(client_of_sender: Client, path: Path) -> None:
    body = body_with((*path, "colour"), "red")

    assert refused_fields(client_of_sender, body) == [dotted((*path, "colour"))]


def test_nothing_is_coerced(client_of_sender: Client) -> None:
    for path, value in [
        (("item", "id"), 81),
        (("messages", 0, "reported"), "true"),
        (("messages", 0, "reported"), 1),
        (("reporter", "id"), 9),
    ]:
        assert refused_fields(client_of_sender, body_with(path, value)) == [dotted(path)]


GOOD_DATES = [
    "2026-11-01T10:00:00Z",
    "2026-11-01t10:00:00z",
    "2026-11-01 10:00:00+03:00",
    "2026-11-01T10:00:00.123456789-11:30",
    "2024-02-29T23:59:59+00:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
]
BAD_DATES = [
    "",
    " ",
    "yesterday",
    "0",
    "1761991200",
    "2026-11-01",
    "2026-11-01T10:00:00",
    "2026-11-01T10:00Z",
    "2024-13-45T10:00:00Z",
    "2023-02-29T10:00:00Z",
    "2026-11-01T24:00:01Z",
    "2026-11-01T10:00:60Z",
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-01:00",
    "0001-01-01T00:00:00+01:00",
    "2026-11-01T10:00:00+24:00",
    "2026-11-01T10:00:00Z ",
    "2026-11-01T10:00:00Z\n",
    "٢٠٢٦-١١-٠١T١٠:٠٠:٠٠Z",
]


@pytest.mark.parametrize("sent_at", GOOD_DATES)
def test_a_moment_with_a_zone_is_accepted(client_of_sender: Client, sent_at: str) -> None:
    client_of_sender.send(body_with(("messages", 0, "sent_at"), sent_at))


@pytest.mark.parametrize("sent_at", BAD_DATES)
def test_a_date_that_names_no_moment_is_refused_by_name(
    client_of_sender: Client, sent_at: str
) -> None:
    body = body_with(("messages", 0, "sent_at"), sent_at)

    assert refused_fields(client_of_sender, body) == ["messages.0.sent_at"]


@pytest.mark.parametrize("url", ["http://x.test/a", "https://x.test/é?q=1#f", "https://[::1]/"])
def test_an_address_of_the_web_is_accepted(client_of_sender: Client, url: str) -> None:
    client_of_sender.send(body_with(("item", "url"), url))


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//x.test/",
        "x.test",
        " https://x.test/",
        "https://x.test/\njavascript:alert(1)",
        "https://x.test/\n",
        "https://x.test/ y",
        "https://",
    ],
)
def test_any_other_address_is_refused_by_name(client_of_sender: Client, url: str) -> None:
    assert refused_fields(client_of_sender, body_with(("item", "url"), url)) == ["item.url"]


@pytest.mark.parametrize("language", ["en", "ar", "arz", "ar-EG", "zh-Hant-TW", "und-Arab"])
def test_a_language_tag_is_accepted(client_of_sender: Client, language: str) -> None:
    assert client_of_sender.send(report_body(language=language)).language == language


@pytest.mark.parametrize("language", ["", "e", "english language", "en_US", "en-", "en\n", "عربي"])
def test_what_is_no_language_tag_is_refused_by_name(
    client_of_sender: Client, language: str
) -> None:
    assert refused_fields(client_of_sender, report_body(language=language)) == ["language"]
    assert not Report.objects.exists()
