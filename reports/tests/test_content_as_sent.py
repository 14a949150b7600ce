"""Content comes by value and stays as it was sent; the reporter's id stands in one place only."""

import json
from typing import Any

import pytest
from django.db import connection

from reports.models import Content, Report, ReporterIdentity
from reports.tests.sending import Client, body_saying, make_sender, report_body

TEXTS = {
    "a family of four": "👩\u200d👩\u200d👧\u200d👦",
    "a skin tone": "👍🏾",
    "flags": "🇪🇬🇸🇦🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "a keycap": "1\ufe0f\u20e3",
    "combining marks": "e\u0301 and é are not one sequence; Z\u0351\u036b\u0343\u036a\u0302",
    "Arabic diacritics": "سَأَقْتُلُكَ ــ ﷺ لا",
    "bidi controls": "abc\u202edef\u202c \u2066ghi\u2069 \u200e\u200f",
    "invisible signs": "a\u200bb\u2060c\ufeffd\u00ad",
    "controls and line ends": "a\tb\r\nc\u2028d\u2029e\x1b[31m\x7f\x85",
    "unassigned and private": "\U000e0fff\ue000\U0010ffff\ufffe",
    "what looks like markup": "<script>alert(1)</script> {{ x }} %s \\ \" ' &amp;",
    "surrounding space": "  x \n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_every_sign_survives(client_of_sender: Client, text: str) -> None:
    report = client_of_sender.send(body_saying(text, comment=text, metadata={text: text}))

    body = Content.objects.get(report=report).body
    assert body["messages"][0]["text"].encode() == text.encode()
    assert body["comment"].encode() == text.encode()
    assert body["metadata"] == {text: text}


def test_ids_survive_and_name_the_item(client_of_sender: Client) -> None:
    name = TEXTS["bidi controls"]

    report = client_of_sender.send(report_body(item={"type": "message", "id": name}))

    assert report.item.external_id == name


def test_the_content_is_the_whole_body_without_the_reporter(client_of_sender: Client) -> None:
    body = report_body()

    report = client_of_sender.send(body)

    del body["reporter"]
    assert report.content.body == body
    assert report.content.submission().messages[0].text == "See you at lunch."


def test_content_that_nobody_can_fetch_is_accepted(client_of_sender: Client) -> None:
    item = {"type": "message", "id": "gone", "url": "http://127.0.0.1:1/deleted"}

    assert client_of_sender.send(report_body(item=item)).content.body["item"] == item


def rows_that_hold(needle: str) -> set[str]:
    """The tables of the product with a row that holds this text in whatever column."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        )
        tables = [name for (name,) in cursor.fetchall()]
        found = set()
        for table in tables:
            cursor.execute(
                f'SELECT EXISTS (SELECT FROM "{table}" AS row WHERE strpos(row::text, %s) > 0)',  # noqa: S608
                [needle],
            )
            if cursor.fetchone() == (True,):
                found.add(table)
        return found


def test_the_reporter_s_id_stands_with_the_identity_only(client_of_sender: Client) -> None:
    client_of_sender.send(report_body(reporter={"id": "reporter-4711"}))

    assert rows_that_hold("reporter-4711") == {"reports_reporteridentity"}


def test_one_reporter_has_one_pseudonym_at_a_sender(client_of_sender: Client) -> None:
    first, second = (client_of_sender.send(body_saying(text)) for text in ("one", "two"))
    other = client_of_sender.send(body_saying("three", reporter={"id": "u-10"}))

    assert first.reporter_pseudonym == second.reporter_pseudonym
    assert first.reporter_pseudonym != other.reporter_pseudonym
    assert set(ReporterIdentity.objects.values_list("pseudonym", "external_id")) == {
        (first.reporter_pseudonym, "u-9"),
        (other.reporter_pseudonym, "u-10"),
    }


def test_the_same_id_at_two_senders_is_two_pseudonyms(client_of_sender: Client) -> None:
    here, there = client_of_sender.send(), make_sender("forum").send()

    assert here.reporter_pseudonym != there.reporter_pseudonym
    assert len(here.reporter_pseudonym) == 32


def test_the_pseudonym_follows_from_the_evidence_key(
    client_of_sender: Client, settings: Any
) -> None:
    before = client_of_sender.send(body_saying("one"))
    settings.EVIDENCE_KEY = "another key of the installation, 32 characters"

    after = client_of_sender.send(body_saying("two"))

    assert before.reporter_pseudonym != after.reporter_pseudonym


@pytest.mark.parametrize("reporter", [None, {}, {"id": None}], ids=json.dumps)
def test_no_reporter_is_no_pseudonym(client_of_sender: Client, reporter: Any) -> None:
    report = client_of_sender.send(report_body(reporter=reporter))

    assert report.reporter_pseudonym == ""
    assert not ReporterIdentity.objects.exists()


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("مرحبا", "und-Arab"),
        ("سأقتلك ok", "und-Arab"),
        ("hello", "und-Latn"),
        ("hello يا", "und-Latn"),
        ("héllo ﬁne", "und-Latn"),
        ("привет", "und-Cyrl"),
        ("שלום", "und-Hebr"),
        ("12345 !? 😀", "und"),
        ("\u202e\u200d", "und"),
    ],
)
def test_a_missing_language_is_und_and_the_script(
    client_of_sender: Client, text: str, language: str
) -> None:
    for missing in ({}, {"language": None}):
        body = {**body_saying(text), **missing}
        if not missing:
            del body["language"]

        assert client_of_sender.send(body).language == language


def test_a_given_language_stands_whatever_the_script(client_of_sender: Client) -> None:
    assert client_of_sender.send(body_saying("hello", language="arz")).language == "arz"


def test_only_the_reported_message_sets_the_floor(client_of_sender: Client) -> None:
    threat = {"text": "I will kill you", "reported": False}
    harmless = {"text": "See you at lunch.", "reported": True}

    calm = client_of_sender.send(body_saying("x", messages=[threat, harmless]))
    unmarked = client_of_sender.send(
        body_saying("x", messages=[{"text": "I will kill you"}, {"text": "See you at lunch."}])
    )

    assert calm.floor == Report.objects.get(pk=calm.pk).rank == 0
    assert unmarked.floor == 4
