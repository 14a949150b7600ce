"""The Arabic catalogue is whole, compiled as it stands, and the pages speak it."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import read_mo
from babel.messages.pofile import read_po

from reports.tests.sending import Client, body_saying
from reviews.tests.people import log_in, page

DIRECTORY = Path(__file__).resolve().parents[2] / "locale" / "ar" / "LC_MESSAGES"
PLACEHOLDER = re.compile(r"%\(\w+\)[.\d]*[sdf]|\{\w+\}|<[^>]+>")


@pytest.fixture(scope="module")
def written() -> Catalog:
    with (DIRECTORY / "django.po").open("rb") as file:
        return read_po(file, locale="ar")


def test_every_sentence_is_translated(written: Catalog) -> None:
    for message in written:
        strings = message.string if isinstance(message.string, tuple | list) else [message.string]
        assert all(strings), message.id
        assert not message.fuzzy or not message.id


def test_placeholders_and_markup_are_kept(written: Catalog) -> None:
    for message in written:
        if not message.id or isinstance(message.id, tuple | list):
            continue
        assert sorted(PLACEHOLDER.findall(message.id)) == sorted(
            PLACEHOLDER.findall(str(message.string))
        ), message.id


def test_the_compiled_catalogue_is_the_written_one(written: Catalog) -> None:
    with (DIRECTORY / "django.mo").open("rb") as file:
        compiled = read_mo(file)

    assert _as_pairs(compiled) == _as_pairs(written)


def _as_pairs(catalog: Catalog) -> dict[str, list[str]]:
    def every(value: object) -> list[str]:
        return list(value) if isinstance(value, tuple | list) else [str(value)]

    return {every(message.id)[0]: every(message.string) for message in catalog if message.id}


def test_pages_speak_arabic_from_right_to_left_and_leave_foreign_text_its_own_direction(
    client_of_sender: Client,
) -> None:
    client_of_sender.send(body_saying("An English text."))
    browser = log_in("dana", "reviewer")
    answer = browser.post("/language/", {"language": "ar", "next": "/review/pending/"})
    assert answer["Location"] == "/review/pending/"

    html = page(browser, "/review/pending/")

    assert '<html lang="ar" dir="rtl">' in html
    assert "<h1>قيد الانتظار</h1>" in html
    assert "بلاغ واحد" in html
    assert re.search(
        r'<a href="/review/items/[^"]*" dir="auto" lang="en">An English text.</a>', html
    )
