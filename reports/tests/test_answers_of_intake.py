"""`POST /api/v1/reports/`: what is stored, what is replayed, and what a used key refuses."""

import json
from typing import Any

import pytest

from reports.models import Content, Report
from reports.tests.sending import Client, assert_problem, make_sender, report_body


def test_a_new_report_is_202_and_its_location_answers(client_of_sender: Client) -> None:
    answer = client_of_sender.post()

    assert answer.status_code == 202
    assert answer.headers["Content-Type"] == "application/json"
    assert "Idempotency-Replayed" not in answer.headers
    assert answer.json()["status"] == "pending"
    standing = client_of_sender.get(answer.headers["Location"])
    assert standing.status_code == 200
    assert standing.json() == answer.json()


def test_the_same_key_and_body_again_is_200_and_marked_as_replayed(
    client_of_sender: Client,
) -> None:
    first = client_of_sender.post(key="k-1")

    again = client_of_sender.post(key="k-1")

    assert again.status_code == 200
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["Location"] == first.headers["Location"]
    assert again.json() == first.json()
    assert Report.objects.count() == 1


def reversed_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(each) for each in value] if isinstance(value, list) else value


BODY = report_body(metadata={"n": 1, "deep": [{"a": 1, "b": None}]}, comment="ABC é")
SAME_VALUE = {
    "keys in another order": json.dumps(reversed_keys(BODY)),
    "other white space": json.dumps(BODY, indent=4).replace("\n", "\r\n\t"),
    "escapes instead of letters": json.dumps(BODY).replace("ABC", "\\u0041B\\u0043"),
    "letters instead of escapes": json.dumps(BODY, ensure_ascii=False),
    "1.0 instead of 1": json.dumps(BODY).replace('"n": 1', '"n": 1.0'),
    "1e0 instead of 1": json.dumps(BODY).replace('"n": 1', '"n": 1e0'),
}


@pytest.mark.parametrize("spelling", SAME_VALUE.values(), ids=SAME_VALUE.keys())
def test_the_same_value_spelled_otherwise_is_the_same_body(
    client_of_sender: Client, spelling: str
) -> None:
    assert client_of_sender.post(BODY, key="k-1").status_code == 202

    assert client_of_sender.post(raw=spelling.encode(), key="k-1").status_code == 200


def with_metadata(value: Any) -> dict[str, Any]:
    return {**BODY, "metadata": value}


OTHER_VALUE = {
    "another text": report_body(comment="something else"),
    "null instead of missing": {**BODY, "reporter": None},
    "an empty reporter": {**BODY, "reporter": {}},
    "a number as a string": with_metadata({"n": "1", "deep": [{"a": 1, "b": None}]}),
    "true instead of 1": with_metadata({"n": True, "deep": [{"a": 1, "b": None}]}),
    "a list in another order": with_metadata({"n": 1, "deep": [{"a": 1}, {"b": None}]}),
    "a decomposed letter": {**BODY, "comment": "ABC e\u0301"},
}


@pytest.mark.parametrize("other", OTHER_VALUE.values(), ids=OTHER_VALUE.keys())
def test_the_same_key_with_another_body_is_422_and_changes_nothing(
    client_of_sender: Client, other: dict[str, Any]
) -> None:
    first = client_of_sender.post(BODY, key="k-1")
    before = (Report.objects.values().get(), Content.objects.values().get())

    answer = client_of_sender.post(other, key="k-1")

    problem = assert_problem(answer, 422, "idempotency_key_reused")
    assert "Idempotency-Key" in problem["detail"]
    assert (Report.objects.values().get(), Content.objects.values().get()) == before
    assert client_of_sender.get(first.headers["Location"]).json() == first.json()


def test_a_quoted_key_equals_the_bare_one(client_of_sender: Client) -> None:
    assert client_of_sender.post(key='"k-1"').status_code == 202

    assert client_of_sender.post(key="k-1").status_code == 200


def test_only_one_pair_of_quotes_is_stripped(client_of_sender: Client) -> None:
    assert client_of_sender.post(key='""k-1""').status_code == 202

    assert client_of_sender.post(key='"k-1"').status_code == 202


@pytest.mark.parametrize("key", ["x", "!", "~", "x" * 255, f'"{"x" * 255}"'])
def test_a_key_of_1_to_255_visible_characters_is_accepted(
    client_of_sender: Client, key: str
) -> None:
    assert client_of_sender.post(key=key).status_code == 202


@pytest.mark.parametrize(
    "key", ["", '""', "x" * 256, "two words", "tab\tbed", "ключ", "é", "\x7f", '" "']
)
def test_a_bad_key_is_400_and_named(client_of_sender: Client, key: str) -> None:
    problem = assert_problem(client_of_sender.post(key=key), 400, "invalid")

    assert problem["errors"] == [
        {"field": "Idempotency-Key", "reason": "must be 1 to 255 visible ASCII characters"}
    ]
    assert not Report.objects.exists()


def test_a_missing_key_is_400_and_named(client_of_sender: Client) -> None:
    answer = client_of_sender.http.post(
        "/api/v1/reports/",
        json.dumps(report_body()),
        content_type="application/json",
        headers={"Authorization": f"Bearer {client_of_sender.key}"},
    )

    problem = assert_problem(answer, 400, "invalid")
    assert problem["errors"] == [{"field": "Idempotency-Key", "reason": "is required as a header"}]


def test_one_sender_s_key_says_nothing_about_another_s(client_of_sender: Client) -> None:
    client_of_sender.post(key="k-1")

    assert make_sender("forum").post(report_body(comment="else"), key="k-1").status_code == 202


def test_every_wrong_field_is_named_with_its_reason(client_of_sender: Client) -> None:
    body = report_body(reason="boredom", colour="red")
    del body["item"]["id"]
    body["messages"][0]["text"] = 5

    problem = assert_problem(client_of_sender.post(body), 400, "invalid")

    reasons = {error["field"]: error["reason"] for error in problem["errors"]}
    assert reasons["item.id"] == "is required"
    assert reasons["reason"].startswith("must be one of threat, ")
    assert "string" in reasons["messages.0.text"]
    assert reasons["colour"] == "is not a known field"
    assert len(reasons) == 4
    assert not Report.objects.exists()
