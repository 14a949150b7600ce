"""What audits found is listed, the most severe first, each with what is like it and still judged safe."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Report
from reports.tests.sending import Client, body_saying, make_sender, report_body
from reviews.models import Claim
from reviews.quality.like import PAGE, SHOWN_AT_MOST, Why, read_misses
from reviews.tests.misses import MISSED, find_harmless, find_missed, send_safe
from reviews.tests.people import classify, judge_threat, log_in, page
from reviews.tests.quality import drawn_audit


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


def likes_of(missed: Report, *, reader: str = "lena") -> list[tuple[int, str]]:
    (miss,) = (
        each
        for each in read_misses(reader=User.objects.get(username=reader)).misses
        if each.report.pk == missed.pk
    )
    return [(each.report.pk, str(each.why)) for each in miss.like]


def hold_blind(report: Report) -> None:
    """Lena has the item in hand without seeing what others said of it."""
    lena = User.objects.get(username="lena")
    expires = Now() + timedelta(minutes=5)
    Claim.objects.create(item=report.item, reviewer=lena, blind=True, expires_at=expires)


@pytest.mark.usefixtures("lena")
def test_what_is_judged_safe_of_the_same_item_author_or_text_is_like_it(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "Meet me at the old bridge, or else!")
    audit = find_missed(dana, missed)
    sent = missed.content.body
    again = client_of_sender.send(sent)
    author = sent["item"]["author_id"]
    theirs = client_of_sender.send(
        report_body(item={"type": "message", "id": "m-other", "author_id": author, "url": None})
    )
    text = make_sender("forum").send(body_saying("Meet me at the old bridge, or else!"))
    other = client_of_sender.send(body_saying("Meet me at the old bridge, or else"))
    for each in (again, theirs, text, other):
        classify(each, policy)

    assert audit.report_id == missed.pk
    assert likes_of(missed) == [(again.pk, "item"), (theirs.pk, "author"), (text.pk, "text")]


@pytest.mark.usefixtures("lena")
def test_only_what_is_judged_safe_is_like_it(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "the same words")
    find_missed(dana, missed)
    client_of_sender.send(body_saying("the same words"))
    judge_threat(client_of_sender.send(body_saying("the same words")), policy)

    assert likes_of(missed) == []


@pytest.mark.usefixtures("lena")
@pytest.mark.parametrize("text", ["!!! 😡😡", "ستندم على هذا يا كلب", "o'clock \\ % & | <->"])
def test_any_text_can_be_compared(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, text: str
) -> None:
    missed = send_safe(client_of_sender, policy, text)
    find_missed(dana, missed)
    same = send_safe(client_of_sender, policy, text)

    has_words = any(character.isalnum() for character in text)
    assert likes_of(missed) == ([(same.pk, "text")] if has_words else [])


@pytest.mark.usefixtures("lena")
def test_what_the_reader_has_in_hand_blind_is_not_told_to_be_judged_safe(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "the same words")
    find_missed(dana, missed)
    same = send_safe(client_of_sender, policy, "the same words")
    hold_blind(same)

    assert likes_of(missed) == []
    assert likes_of(missed, reader="dana") == [(same.pk, "text")]


def test_a_miss_that_the_reader_has_in_hand_blind_is_not_listed(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "the same words")
    find_missed(dana, missed)
    hold_blind(missed)

    assert "the same words" not in page(lena, MISSED)


@pytest.mark.usefixtures("lena")
def test_of_many_only_some_are_shown_and_that_there_are_more_is_said(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "the same words")
    find_missed(dana, missed)
    same = [send_safe(client_of_sender, policy, "the same words") for _ in range(SHOWN_AT_MOST + 1)]

    (miss,) = read_misses(reader=User.objects.get(username="lena")).misses
    assert {each.report.pk for each in miss.like} == {each.pk for each in same[1:]}
    assert miss.more == [Why.TEXT]


def test_the_page_shows_what_was_missed_by_whom_it_was_found_and_its_like(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    missed = send_safe(client_of_sender, policy, "the same words")
    find_missed(dana, missed)
    same = send_safe(client_of_sender, policy, "the same words")

    html = page(lena, MISSED)

    assert "Policy version 1 had judged it safe with confidence 0.93." in html
    assert "<bdi>dana</bdi> decided: remove. Hate." in html
    assert html.count("the same words") == 2
    assert f'name="report" value="{same.pk}"' in html
    assert "the same text" in html


def test_an_audit_that_found_nothing_or_waits_is_not_listed(
    client_of_sender: Client, policy: PolicyVersion, lena: Browser
) -> None:
    drawn_audit(send_safe(client_of_sender, policy, "never answered"))

    assert "never answered" not in page(lena, MISSED)


def test_an_empty_list_says_how_far_the_audits_came(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    assert "Nothing was drawn for an audit yet" in page(lena, MISSED)
    audit = drawn_audit(send_safe(client_of_sender, policy, "harmless"))
    assert "No audit has been answered yet" in page(lena, MISSED)

    find_harmless(dana, audit)

    assert "No audit has found anything that was missed." in page(lena, MISSED)


def test_the_most_severe_stand_first_and_then_the_newest(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    for number, category in enumerate(("spam", "credible_threat", "spam", "credible_threat")):
        missed = send_safe(client_of_sender, policy, f"miss{number:02}")
        find_missed(dana, missed, category=category)

    html = page(lena, MISSED)

    assert re.findall(r">(miss\d\d)<", html) == ["miss03", "miss01", "miss02", "miss00"]


def test_it_is_narrowed_as_the_page_that_counts_them(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "old one"))
    newer = load_version(prompt="Judge anew.")
    find_missed(dana, send_safe(client_of_sender, newer, "new one"))
    of_version, of_all = f"within=all&version={newer.number}", "within=all"

    for query, seen in {of_all: {"old one", "new one"}, of_version: {"new one"}}.items():
        counting = page(lena, f"/review/quality/?{query}")
        (address,) = re.findall(r'href="(/review/quality/missed/[^"]*)">\d audits? found', counting)
        shown = set(re.findall(r">(\w+ one)<", page(lena, unescape(address))))
        assert shown == seen, query
    html = page(lena, f"{MISSED}?within=30d")
    assert "No audit of this time and version has found anything that was missed." in html
    odd = lena.get(MISSED, {"after": "x", "version": str(newer.number)})
    assert odd.headers["Location"] == f"{MISSED}?version={newer.number}"


def test_pages_follow_each_other(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    texts = [f"miss{number:02}" for number in range(PAGE + 2)]
    for text in texts:
        find_missed(dana, send_safe(client_of_sender, policy, text))

    seen, address = [], MISSED
    while address:
        html = page(lena, address)
        seen.append(re.findall(r">(miss\d\d)<", html))
        following = re.search(r'href="(\?after=[^"]+)"', html)
        address = MISSED + following[1] if following else ""

    assert seen == [texts[:1:-1], texts[1::-1]]


@pytest.mark.parametrize(
    "after", ["x", "1.2", "1.2.3.4", "1.-1.2", "1.0.0", "9.1.1", f"1.{2**63}.1"]
)
def test_an_odd_key_begins_at_the_top(lena: Browser, after: str) -> None:
    answer = lena.get(MISSED, {"after": after})

    assert (answer.status_code, answer.headers["Location"]) == (302, MISSED)


def test_a_reviewer_who_leads_nothing_does_not_see_it(dana: Browser) -> None:
    assert dana.get(MISSED).status_code == 403


def test_severe_text_is_veiled_as_everywhere(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    report = send_safe(client_of_sender, policy, "the very words of it")
    find_missed(dana, report)
    veiled = log_in("lena", "lead", veiled=True)
    veiled.post("/review/preferences/", {"veil_from": "0", "pause_after": "5"})

    assert "the very words of it" not in page(veiled, MISSED)


def test_what_anybody_wrote_is_shown_and_not_obeyed(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    evil = "<script>alert(1)</script>\u202e"
    item = {"type": evil, "id": evil, "author_id": evil, "url": None}
    missed = send_safe(client_of_sender, policy, f"{evil} one", item=item)
    find_missed(dana, missed)
    send_safe(client_of_sender, policy, f"{evil} two", item={**item, "id": f"{evil}2"})

    html = page(lena, MISSED)

    assert "the same author" in html
    assert "<script>alert" not in html
    assert "\u202e" not in html
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 6
