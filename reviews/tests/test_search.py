"""Search: how words compare, which ids are found, and what an error looks like."""

import json
import re
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports import search_text
from reports.models import Content, Report
from reports.tests.sending import (
    Client,
    body_saying,
    database_url,
    make_sender,
    report_body,
    store_instead,
)
from reviews.queue import PAGE
from reviews.tests.people import classify, decide, fill_list, judge_threat, log_in, page

SEARCH = "/review/search/"


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def look_for(browser: Browser, words: str, more: str = "", *, status: int = 200) -> str:
    return page(browser, f"{SEARCH}?q={quote(words)}{more}", status=status)


def found(html: str) -> list[str]:
    return re.findall(r'class="excerpt"><a [^>]*>([^<]*)</a>', html)


def cards(html: str) -> int:
    return html.count('<li class="card')


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("أَحْمَد", "احمد"),
        ("إسلام", "اسلام"),
        ("آمال", "امال"),
        ("ٱلكتاب", "الكتاب"),
        ("مستشفى", "مستشفي"),
        ("مدرسة", "مدرسه"),
        ("محـــمد", "محمد"),
        ("مسؤول", "مسوول"),
        ("بيئة", "بييه"),
        ("گرچہ", "كرچه"),
        ("٠١٢٣", "0123"),
        ("۴۵۶", "456"),
        ("ﷲ", "الله"),
        ("CRÈME Brûlée", "creme brulee"),
        ("ﬁsh", "fish"),
        ("Straße", "strasse"),
        ("Łódź", "lodz"),
        ("ki\u200bll", "kill"),
    ],
)
def test_two_spellings_of_a_word_find_each_other(
    browser: Browser, client_of_sender: Client, written: str, asked: str
) -> None:
    client_of_sender.send(body_saying(f"one {written} two"))
    client_of_sender.send(body_saying(f"three {asked} four"))
    client_of_sender.send(body_saying("كلام آخر entirely 789"))

    assert cards(look_for(browser, asked)) == 2
    assert cards(look_for(browser, written)) == 2


@pytest.mark.parametrize(
    ("written", "asked"),
    [("والكتاب", "كتاب"), ("بالمدرسة", "المدرسة"), ("للبيت", "البيت"), ("وقال", "قال")],
)
def test_an_arabic_word_is_found_behind_its_particles(
    browser: Browser, client_of_sender: Client, written: str, asked: str
) -> None:
    client_of_sender.send(body_saying(f"هذا {written} هنا"))

    assert len(found(look_for(browser, asked))) == 1


def test_all_words_must_stand_in_one_report_and_quoted_ones_in_a_row(
    browser: Browser, client_of_sender: Client
) -> None:
    for text in ("alpha beta gamma", "gamma beta alpha", "alpha only", "beta only"):
        client_of_sender.send(body_saying(text))

    assert found(look_for(browser, "alpha beta")) == ["gamma beta alpha", "alpha beta gamma"]
    assert found(look_for(browser, '"alpha beta"')) == ["alpha beta gamma"]
    assert found(look_for(browser, "“beta alpha” gamma")) == ["gamma beta alpha"]
    assert found(look_for(browser, '"alpha gamma"')) == []


def test_a_longer_word_is_found_by_its_beginning_and_a_short_one_whole(
    browser: Browser, client_of_sender: Client
) -> None:
    client_of_sender.send(body_saying("threatening"))
    client_of_sender.send(body_saying("to town"))

    assert found(look_for(browser, "threat")) == ["threatening"]
    assert found(look_for(browser, "tow")) == ["to town"]
    assert found(look_for(browser, "th")) == []


def test_the_reporters_comment_is_searched_and_a_purged_content_is_not_found(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("a text", comment="marmalade"))
    assert found(look_for(browser, "marmalade")) == ["a text"]

    Content.objects.filter(report=report).delete()

    assert found(look_for(browser, "marmalade")) == []


def test_an_item_of_several_matching_reports_is_one_card(
    browser: Browser, client_of_sender: Client
) -> None:
    for _ in range(3):
        client_of_sender.send(report_body())

    html = look_for(browser, "lunch")

    assert found(html) == ["See you at lunch."]
    assert "3 reports" in html


def test_each_exact_id_leads_to_its_item_and_says_what_it_names(
    browser: Browser, client_of_sender: Client
) -> None:
    for name in ("chat-app", "other-app"):
        client = client_of_sender if name == "chat-app" else make_sender(name)
        client.post(body_saying("noise", reporter=None))
    body = report_body()
    assert client_of_sender.post(body, key="key-77").status_code == 202
    report = Report.objects.get(idempotency_key="key-77")
    names = {
        "m-81": "It has this id.",
        str(report.public_id): "A report of it has this id.",
        str(report.public_id).upper(): "A report of it has this id.",
        "key-77": "A report of it came under this idempotency key.",
        "u-7": "Its author has this id.",
        "u-9": "A reporter of it has this id.",
    }

    for name, says in names.items():
        html = look_for(browser, name)
        assert says in html, name
        assert found(html)[0] == "See you at lunch."
        assert cards(html) == 1


def test_an_id_of_two_senders_finds_both(browser: Browser, client_of_sender: Client) -> None:
    for client in (client_of_sender, make_sender("other-app")):
        client.send(report_body())

    assert len(found(look_for(browser, "u-7"))) == 2


def test_the_card_says_in_which_list_the_item_stands_and_filters_narrow_the_search(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    client_of_sender.send(body_saying("marmalade pending"))
    judge_threat(client_of_sender.send(body_saying("marmalade threat", language="ar")), policy)
    classify(client_of_sender.send(body_saying("marmalade harmless")), policy)
    decided = client_of_sender.send(body_saying("marmalade decided"))
    address = f"/review/items/{decided.item_id}/"
    decide(browser, decided.item, page(browser, address), action="no_violation")

    html = look_for(browser, "marmalade")

    assert found(html) == [
        f"marmalade {each}" for each in ("decided", "harmless", "threat", "pending")
    ]
    cards = html.split('<li class="card')[1:]
    for card, name in zip(
        cards, ("Resolved", "Judged safe", "Needs review", "Pending"), strict=True
    ):
        assert f">{name}</span>" in card
    assert found(look_for(browser, "marmalade", "&language=ar")) == ["marmalade threat"]
    assert found(look_for(browser, "marmalade", "&category=credible_threat")) == [
        "marmalade threat"
    ]


@pytest.mark.parametrize(
    "words",
    [
        "'", '"', '""', "' | '", "a' & !b:*", "\\", "\\'", "<->", ":*", "(", "!!!", "؟،؛", "🙂",
        "%", "_", '"%"', "\u202e", "--", "; DROP TABLE reports_report", "'; --", "a" * 255,
        "ء", "\ud7ff", "𝕳𝖊𝖑𝖑𝖔", "{}", "%(words)s", "%s",
    ],
)  # fmt: skip
def test_hostile_questions_are_words_or_nothing(browser: Browser, words: str) -> None:
    assert found(look_for(browser, words)) == []


def test_what_holds_no_word_says_so_and_what_is_too_long_or_holds_nul_names_the_field(
    browser: Browser,
) -> None:
    assert "no letter and no digit" in look_for(browser, "!?")
    assert 'id="search-q_error"' in look_for(browser, "a" * 10_000)
    assert 'id="search-q_error"' in look_for(browser, "a\0b")


@pytest.mark.django_db(transaction=True)
def test_a_search_that_takes_too_long_is_an_error_and_no_empty_list(settings: Settings) -> None:
    browser = log_in("dana", "reviewer")
    settings.SEARCH_SECONDS = 0.05
    with psycopg.connect(database_url()) as busy:
        busy.execute("LOCK TABLE reports_content")
        html = look_for(browser, "marmalade", status=503)

    assert "The search took longer than 0.05 seconds and was stopped." in html
    assert "No text matches" not in html
    assert "No text matches" in look_for(browser, "marmalade")


def test_a_body_gone_wrong_is_stored_and_the_others_are_found(
    browser: Browser, client_of_sender: Client
) -> None:
    client_of_sender.send(body_saying("marmalade"))
    for body in ("5", '"a text"', "[]", '{"messages": {}}', '{"messages": [{"text": {"a": 1}}]}'):
        store_instead(client_of_sender.send(body_saying("x")), body)

    assert found(look_for(browser, "marmalade")) == ["marmalade"]


def test_the_longest_texts_are_accepted_whatever_they_hold(
    browser: Browser, client_of_sender: Client
) -> None:
    """PostgreSQL ends at 1 MiB of words; distinct ones of four bytes, and signs spelled by eighteen."""
    rare = [
        chr(0x20000 + number % 40_000) + chr(0x20000 + number * 7 % 40_000)
        for number in range(75_000)
    ]
    for text in (" ".join(rare), "\ufdfa" * 300_000, "x" * 900_000, "ab " * 300_000):
        parts = [text[start : start + 20_000] for start in range(0, len(text), 20_000)]
        messages = [{"text": part, "reported": True} for part in parts]
        raw = json.dumps(body_saying("x", messages=messages), ensure_ascii=False).encode()
        assert client_of_sender.post(raw=raw).status_code == 202

    assert len(found(look_for(browser, "ab"))) == 1


def test_pages_follow_a_key_and_show_every_item_once(
    browser: Browser, client_of_sender: Client
) -> None:
    for number in range(PAGE + 5):
        client_of_sender.send(body_saying(f"marmalade {number:02}"))
    seen: list[str] = []
    address = f"{SEARCH}?q=marmalade"
    while address:
        html = page(browser, address)
        seen += found(html)
        following = re.search(r'href="(\?[^"]*after=[^"]*)">Next page', html)
        address = SEARCH + following[1].replace("&amp;", "&") if following else ""

    assert seen == [f"marmalade {number:02}" for number in reversed(range(PAGE + 5))]
    for key in ("x", "-1", str(2**63), "1.5"):
        answer = browser.get(SEARCH, {"q": "marmalade", "after": key})
        assert answer.status_code == 302


def test_a_search_looks_at_the_newest_and_says_so_with_few_statements(
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    django_assert_max_num_queries: object,
    settings: Settings,
) -> None:
    settings.SEARCH_SECONDS = 60  # this is not about how fast the machine is
    fill_list(client_of_sender, policy, "needs_review", 10_001)

    with django_assert_max_num_queries(12):  # type: ignore[operator]
        html = look_for(browser, "bulk", "&language=en&hold=put_aside&assignee=nobody")
    assert "More than 10,000 reports match" in html
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert len(found(look_for(browser, "bulk"))) == PAGE


def test_search_reads_its_indexes(client_of_sender: Client, policy: PolicyVersion) -> None:
    fill_list(client_of_sender, policy, "pending", 20_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE reports_content, reports_report, reports_item")
        searched = {
            "content_searched": "SELECT report_id FROM reports_content"
            " WHERE reports_search_text(body)::tsvector @@ '''rare'':*'::tsquery"
            " ORDER BY report_id + 0 DESC LIMIT 10001",
            "item_by_external_id": "SELECT id FROM reports_item WHERE external_id = 'bulk-7'"
            " ORDER BY id DESC LIMIT 10",
            "report_of_author": "SELECT id, item_id FROM reports_report WHERE author_pseudonym"
            " = ANY(ARRAY['a', 'b']) AND author_pseudonym <> '' ORDER BY id DESC LIMIT 1000",
            "report_of_reporter": "SELECT id, item_id FROM reports_report WHERE reporter_pseudonym"
            " = ANY(ARRAY['a', 'b']) AND reporter_pseudonym <> '' ORDER BY id DESC LIMIT 1000",
        }
        for index, sql in searched.items():
            cursor.execute(f"EXPLAIN {sql}")
            assert index in str(cursor.fetchall())


def test_the_page_says_how_much_of_a_report_is_searched(
    browser: Browser, client_of_sender: Client
) -> None:
    """The migration cuts where `reports.search_text` says."""
    filler = [{"text": "x " * 10_000} for _ in range(5)]
    client_of_sender.send(body_saying("x", messages=[*filler, {"text": "marmalade"}]))
    client_of_sender.send(
        body_saying("x", messages=[*filler[:4], {"text": "x " * 9_990}, {"text": "jam"}])
    )

    assert len(found(look_for(browser, "jam"))) == 1
    html = look_for(browser, "marmalade")
    assert found(html) == []
    assert f"The first {search_text.SEARCHED_CHARACTERS:,} characters" in html


def test_what_a_reviewer_wants_hidden_is_found_and_stays_hidden(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("I will kill you tomorrow"))
    judge_threat(report, policy)
    veiled = log_in("vera", "reviewer", veiled=True)

    for address in (f"{SEARCH}?q=tomorrow", f"/review/authors/{report.public_id}/"):
        html = page(veiled, address)
        assert cards(html) == 1
        assert "kill you" not in html
        assert "The author threatens the reader." in html
    assert "I will kill you tomorrow" in look_for(log_in("dana", "reviewer"), "tomorrow")


def test_a_card_says_who_has_the_item(client_of_sender: Client) -> None:
    report = client_of_sender.send(body_saying("marmalade"))
    page(log_in("omar", "reviewer"), f"/review/items/{report.item_id}/")

    assert "<bdi>omar</bdi> has it until" in look_for(log_in("dana", "reviewer"), "marmalade")
