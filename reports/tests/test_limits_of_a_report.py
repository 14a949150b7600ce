"""Each documented limit, at it and one over it; text is counted in code points."""

import json

import pytest

from reports.models import Report
from reports.tests.sending import Client, assert_problem, report_body
from reports.tests.test_fields_of_a_report import Path, body_with, dotted

FAMILY = "👩\u200d👩\u200d👧\u200d👦"  # seven code points, one sign
LIMITS: list[tuple[Path, int]] = [
    (("item", "type"), 255),
    (("item", "id"), 255),
    (("item", "author_id"), 255),
    (("reporter", "id"), 255),
    (("messages", 0, "id"), 255),
    (("messages", 0, "author_id"), 255),
    (("messages", 0, "text"), 20_000),
    (("comment",), 5_000),
]


def of_length(length: int, unit: str) -> str:
    return (unit * (length // len(unit) + 1))[:length]


@pytest.mark.parametrize("unit", ["a", "ع", "😀", FAMILY], ids=["ascii", "arabic", "emoji", "zwj"])
@pytest.mark.parametrize(("path", "limit"), LIMITS, ids=[dotted(path) for path, _ in LIMITS])
def test_text_is_accepted_at_its_limit_and_refused_one_over(
    client_of_sender: Client, path: Path, limit: int, unit: str
) -> None:
    client_of_sender.send(body_with(path, of_length(limit, unit)))

    answer = client_of_sender.post(body_with(path, of_length(limit + 1, unit)))

    errors = assert_problem(answer, 400, "invalid")["errors"]
    assert [error["field"] for error in errors] == [dotted(path)]
    assert str(limit) in errors[0]["reason"]
    assert Report.objects.count() == 1


def test_two_ids_of_four_byte_signs_fit_the_index(client_of_sender: Client) -> None:
    signs = [chr(0x20000 + 97 * n) for n in range(510)]  # nothing that compresses
    item = {"type": "".join(signs[:255]), "id": "".join(signs[255:])}

    report = client_of_sender.send(report_body(item=item))

    assert report.item.type == item["type"]
    assert report.item.external_id == item["id"]


def test_an_address_has_2048_characters_at_most(client_of_sender: Client) -> None:
    address = of_length(2_048, "https://x.test/é")
    client_of_sender.send(body_with(("item", "url"), address))

    answer = client_of_sender.post(body_with(("item", "url"), f"{address}x"))

    assert assert_problem(answer, 400, "invalid")["errors"][0]["field"] == "item.url"


def test_a_conversation_has_500_messages_at_most(client_of_sender: Client) -> None:
    client_of_sender.send(report_body(messages=[{"text": "x"}] * 500))

    answer = client_of_sender.post(report_body(messages=[{"text": "x"}] * 501))

    assert assert_problem(answer, 400, "invalid")["errors"][0]["field"] == "messages"


@pytest.mark.parametrize("unit", ["a", "ع", "😀", "\\"], ids=["ascii", "arabic", "emoji", "escape"])
def test_metadata_has_8_kib_of_json_at_most(client_of_sender: Client, unit: str) -> None:
    def sized(size: int) -> dict[str, str]:
        def bytes_of(metadata: dict[str, str]) -> int:
            return len(json.dumps(metadata, ensure_ascii=False).encode())

        each = bytes_of({"k": unit}) - bytes_of({"k": ""})
        count = (size - bytes_of({"k": ""})) // each
        rest = size - bytes_of({"k": unit * count})
        return {"k": unit * count + "x" * rest}

    client_of_sender.send(report_body(metadata=sized(8 * 1024)))

    answer = client_of_sender.post(report_body(metadata=sized(8 * 1024 + 1)))

    error = assert_problem(answer, 400, "invalid")["errors"][0]
    assert error["field"] == "metadata"
    assert "8193 bytes" in error["reason"]
