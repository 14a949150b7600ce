"""The sample reports and the HateCheck request bodies: their shape, and how they are judged."""

import csv
import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from dev.hatecheck import SOURCES, hatecheck_reports, main
from dev.samples import sample_reports
from dev.standin.words import SURE, Judged, judge

SAMPLES = list(sample_reports(204))
REASONS = {
    "threat",
    "self_harm",
    "child_safety",
    "hate",
    "harassment",
    "violence",
    "sexual",
    "scam",
    "spam",
    "other",
}


def judged(report: dict[str, Any]) -> Judged:
    return judge([message["text"] for message in report["messages"] if message["reported"]])


def assert_request_body(report: dict[str, Any]) -> None:
    assert report.keys() == {
        "item",
        "reporter",
        "reason",
        "comment",
        "language",
        "messages",
        "metadata",
    }
    assert report["item"].keys() == {"type", "id", "author_id", "url"}
    assert report["reporter"].keys() == {"id"}
    assert report["reason"] in REASONS
    assert len(report["comment"]) <= 5_000
    assert len(json.dumps(report["metadata"])) <= 8_192
    assert 1 <= len(report["messages"]) <= 500
    assert any(message["reported"] for message in report["messages"])
    for message in report["messages"]:
        assert message.keys() == {"id", "author_id", "sent_at", "text", "reported"}
        assert 1 <= len(message["text"]) <= 20_000
        if message["sent_at"] is not None:
            assert datetime.fromisoformat(message["sent_at"]).tzinfo is not None


def test_every_sample_is_a_request_body() -> None:
    for report in SAMPLES:
        assert_request_body(report)
        message_ids = [message["id"] for message in report["messages"]]
        assert len(set(message_ids)) == len(message_ids)


def test_the_file_is_english_and_arabic_sixty_to_forty() -> None:
    languages = Counter(report["language"] for report in SAMPLES)
    assert languages.keys() == {"en", "ar"}
    assert 0.55 < languages["en"] / len(SAMPLES) < 0.65


def test_every_item_type_reason_and_category_occurs() -> None:
    assert {report["item"]["type"] for report in SAMPLES} == {
        "message",
        "post",
        "comment",
        "listing",
        "profile",
    }
    assert {report["reason"] for report in SAMPLES} == REASONS
    assert len({judged(report).category for report in SAMPLES}) == 11


@pytest.mark.parametrize("count", [100, 200])
def test_about_half_need_review_and_over_two_fifths_are_safe(count: int) -> None:
    verdicts = [judged(report) for report in SAMPLES[:count]]
    review = sum(verdict.category != "none" for verdict in verdicts)
    safe = sum(verdict.category == "none" and verdict.confidence == SURE for verdict in verdicts)
    assert 0.4 < review / count < 0.55
    assert 0.38 < safe / count < 0.5
    assert count - review - safe >= 5


def test_awkward_material_is_in_the_file() -> None:
    texts = [message["text"] for report in SAMPLES for message in report["messages"]]
    assert any("\u200d" in text for text in texts)
    assert any("\u202e" in text for text in texts)
    assert any(len(text) > 3_000 for text in texts)
    assert any(len(report["messages"]) > 5 for report in SAMPLES)
    assert max(Counter(report["item"]["id"] for report in SAMPLES).values()) >= 3


def test_the_same_item_reported_twice_has_two_reporters_and_one_content() -> None:
    pairs = {(report["item"]["id"], report["reporter"]["id"]) for report in SAMPLES}
    assert len(pairs) == len(SAMPLES)
    contents: dict[str, Any] = {}
    for report in SAMPLES:
        assert contents.setdefault(report["item"]["id"], report["messages"]) == report["messages"]


def test_beyond_the_file_the_texts_come_again_under_new_ids() -> None:
    many = list(sample_reports(len(SAMPLES) * 2 + 1))
    assert many[: len(SAMPLES)] == SAMPLES
    first, second, third = many[0], many[len(SAMPLES)], many[-1]
    assert second["messages"][0]["text"] == first["messages"][0]["text"]
    assert len({first["item"]["id"], second["item"]["id"], third["item"]["id"]}) == 3
    assert many == list(sample_reports(len(many)))
    assert list(sample_reports(0)) == []


def test_hatecheck_rows_become_request_bodies(tmp_path: Path) -> None:
    rows = {"en": ("7", "Hello there "), "ar": ("arabic-9", "مرحبا")}
    for language, path, number_column in SOURCES:
        number, text = rows[language]
        target = tmp_path / path
        target.parent.mkdir(parents=True)
        with target.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([number_column, "functionality", "test_case", "label_gold"])
            writer.writerow([number, "ident_neutral_nh", text, "non-hateful"])
    english, arabic = hatecheck_reports(tmp_path)
    for report in (english, arabic):
        assert_request_body(report)
    assert (english["item"]["id"], arabic["item"]["id"]) == ("hatecheck-en-7", "hatecheck-ar-9")
    assert english["messages"][0]["text"] == "Hello there "
    assert arabic["metadata"] == {"label_gold": "non-hateful", "functionality": "ident_neutral_nh"}


def test_a_missing_hatecheck_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "test_suite_cases.csv is missing" in printed.err
    assert printed.err.count("\n") == 1
