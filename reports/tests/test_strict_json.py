"""What is not strict JSON, or what PostgreSQL cannot hold, is a 400 that says where."""

import json
import time
from typing import Any

import pytest

from reports.models import Report
from reports.submission import MAX_DEPTH
from reports.tests.sending import Client, assert_problem, report_body
from reports.tests.test_fields_of_a_report import PATHS, Path, body_with, dotted


def refusal(client: Client, raw: bytes) -> tuple[str, str]:
    """The one field that is named and the reason."""
    errors = assert_problem(client.post(raw=raw), 400, "invalid")["errors"]
    assert len(errors) == 1
    assert not Report.objects.exists()
    return errors[0]["field"], errors[0]["reason"]


def with_metadata(raw: str) -> bytes:
    """A complete body whose metadata is this text."""
    return json.dumps(report_body(metadata="@")).replace('"@"', raw).encode()


UNSTORABLE = {
    "NUL": ("ab\0c", "holds NUL at character 2"),
    "a high surrogate": ("ab\ud83dc", "holds half of a surrogate pair at character 2"),
    "a low surrogate": ("ab\ude00c", "holds half of a surrogate pair at character 2"),
}


@pytest.mark.parametrize(("text", "reason"), UNSTORABLE.values(), ids=UNSTORABLE.keys())
@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_what_cannot_be_stored_is_refused_with_field_and_position(
    client_of_sender: Client, path: Path, text: str, reason: str
) -> None:
    raw = json.dumps(body_with(path, text)).encode()

    assert refusal(client_of_sender, raw) == (dotted(path), reason)


@pytest.mark.parametrize(("text", "reason"), UNSTORABLE.values(), ids=UNSTORABLE.keys())
def test_metadata_is_searched_in_its_depth_and_keys(
    client_of_sender: Client, text: str, reason: str
) -> None:
    deep = json.dumps({"a": [{"b": text}]})
    key = json.dumps({"a": [{text: 1}]})

    assert refusal(client_of_sender, with_metadata(deep)) == ("metadata.a.0.b", reason)
    assert refusal(client_of_sender, with_metadata(key)) == ("metadata.a.0.(key)", reason)


def test_the_name_of_an_unknown_field_is_searched_too(client_of_sender: Client) -> None:
    raw = json.dumps(report_body(**{"a\0": 1})).encode()

    assert refusal(client_of_sender, raw) == ("(key)", "holds NUL at character 1")


def test_a_whole_surrogate_pair_in_escapes_is_one_sign(client_of_sender: Client) -> None:
    raw = json.dumps(report_body(comment="@")).replace('"@"', '"\\ud83d\\ude00"').encode()

    answer = client_of_sender.post(raw=raw)

    assert answer.status_code == 202
    assert Report.objects.get().content.body["comment"] == "😀"


@pytest.mark.parametrize(
    "raw",
    [
        b'{"item": 1, "item": 2}',
        b'{"item": {"id": "1", "item": {}, "i\\u0064": "2"}}',
        b'{"metadata": {"\\ud800": 1, "\\ud800": 2}}',
        b'{"metadata": {"\\u0000": 1, "\\u0000": 2}}',
    ],
)
def test_a_key_that_stands_twice_is_refused(client_of_sender: Client, raw: bytes) -> None:
    assert refusal(client_of_sender, raw)[1] == "stands twice in one object"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_in_json_is_refused(client_of_sender: Client, number: str) -> None:
    assert number in refusal(client_of_sender, with_metadata(f'{{"n": {number}}}'))[1]


@pytest.mark.parametrize(
    "number", ["1e999", "-1e400", "9" * 101, "1" + "0" * 999_000, "0." + "1" * 200]
)
def test_a_number_out_of_range_is_refused(client_of_sender: Client, number: str) -> None:
    _, reason = refusal(client_of_sender, with_metadata(f'{{"n": {number}}}'))

    assert reason.startswith("holds a number")


@pytest.mark.parametrize("number", ["1e308", "-1.5e-300", "5e-324", "1e-999", "-0.0", "9" * 100])
def test_a_large_or_small_number_is_kept(client_of_sender: Client, number: str) -> None:
    answer = client_of_sender.post(raw=with_metadata(f'{{"n": {number}}}'))

    assert answer.status_code == 202
    # jsonb writes a large float out in all its digits.
    assert float(Report.objects.get().content.body["metadata"]["n"]) == float(number)


def nested(levels: int) -> bytes:
    """Lists in lists below `metadata.a`, so that the innermost lies so many levels deep."""
    inside = levels - 2
    return with_metadata('{"a": ' + "[" * inside + "]" * inside + "}")


def test_nesting_is_bounded(client_of_sender: Client) -> None:
    assert "levels deep" in refusal(client_of_sender, nested(MAX_DEPTH + 2))[1]
    assert client_of_sender.post(raw=nested(MAX_DEPTH)).status_code == 202


@pytest.mark.parametrize("raw", [b"[" * 1_000_000, b'{"a":' * 200_000], ids=["lists", "objects"])
def test_a_million_open_brackets_are_refused(client_of_sender: Client, raw: bytes) -> None:
    assert "levels deep" in refusal(client_of_sender, raw)[1]


@pytest.mark.parametrize(
    "raw", [b"[]", b"null", b"true", b"1", b'"x"', b"[[1]]"], ids=lambda raw: raw.decode()
)
def test_what_is_no_object_is_refused(client_of_sender: Client, raw: bytes) -> None:
    assert refusal(client_of_sender, raw) == ("", "must be a JSON object")


@pytest.mark.parametrize(
    "raw", [b" ", b"{", b"{}{}", b"{'a': 1}", b'{"a": 1,}', b'{"a": 01}', b'\xef\xbb\xbf{"a": 1}']
)
def test_what_is_no_json_is_refused(client_of_sender: Client, raw: bytes) -> None:
    field, reason = refusal(client_of_sender, raw)

    assert field == ""
    assert reason.startswith("is not JSON: ")


def test_an_empty_body_lacks_what_is_required(client_of_sender: Client) -> None:
    errors = assert_problem(client_of_sender.post(raw=b""), 400, "invalid")["errors"]

    assert {error["field"] for error in errors} == {"item", "messages"}


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"]
)
def test_what_is_no_utf_8_is_refused_with_its_place(client_of_sender: Client, bad: bytes) -> None:
    raw = b'{"comment": "' + bad + b'"}'

    assert refusal(client_of_sender, raw) == ("", "is not UTF-8 at byte 13")


def test_a_long_key_above_a_long_list_is_read_in_no_time(client_of_sender: Client) -> None:
    # Each place's path would be half a megabyte.
    metadata: Any = {"k" * 500_000: [0] * 150_000}

    began = time.process_time()
    answer = client_of_sender.post(raw=with_metadata(json.dumps(metadata)))

    assert time.process_time() - began < 2
    assert assert_problem(answer, 400, "invalid")["errors"][0]["field"] == "metadata"
