"""The page about quality says in words, pictures and tables what the rows say, in both languages."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client as Browser
from django.utils import timezone

from classifier.models import PolicyVersion
from classifier.tests.situations import load_version
from reports.models import Report
from reports.tests.sending import Client
from reviews.models import BlindAudit, Draw, Stratum
from reviews.quality.calibration import to_settle
from reviews.tests.differing import differing
from reviews.tests.misses import find_harmless, find_missed, look_twice, send_safe
from reviews.tests.people import decide, log_in, page
from reviews.tests.quality import drawn_audit

QUALITY = "/review/quality/"
EVER = {"within": "all"}


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


def seen(browser: Browser, **query: Any) -> str:
    answer = browser.get(QUALITY, {**EVER, **query})
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def section(html: str, name: str) -> str:
    found = re.search(rf'<section[^>]*aria-labelledby="{name}">(.*?)</section>', html)
    assert found, name
    return found[1]


def table(html: str, name: str) -> list[list[str]]:
    """The cells of a section's table, row by row."""
    return [
        re.findall(r">([^<>]*)</(?:bdi></th|td)>", row)
        for row in re.findall(r"<tr>(.*?)</tr>", section(html, name).partition("<tbody>")[2])
    ]


def newest_stratum(report: Report, *, language: str) -> Stratum:
    """Of a draw that ended an hour ago."""
    now = timezone.now()
    draw = Draw.objects.create(
        of="audits",
        since=now - timedelta(hours=2),
        until=now - timedelta(hours=1),
        seed="s",
        actor_name="test",
    )
    return Stratum.objects.create(
        draw=draw,
        sender=report.sender,
        language=language,
        category="none",
        policy_version=report.classifications.get().policy_version,
        population=7,
        drawn=1,
    )


def test_nothing_was_drawn_so_nothing_is_said(lena: Browser) -> None:
    html = seen(lena)

    assert "No audit has been answered: not enough to say anything." in html
    assert "No second review has been answered: not enough to say anything." in html
    assert "<svg" not in html


def test_what_was_drawn_and_not_answered_is_counted_and_not_drawn(
    client_of_sender: Client, policy: PolicyVersion, lena: Browser
) -> None:
    drawn_audit(send_safe(client_of_sender, policy, "text"), population=40)

    html = seen(lena)

    assert "1 audit waits for its answer." in html
    assert "<svg" not in html
    assert table(html, "missed-by-language") == [["en", "not enough", "0 of 0", "40"]]


def test_numbers_are_those_of_the_rows(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "one", language="ar"), population=10)
    for text in ("two", "three"):
        audit = drawn_audit(send_safe(client_of_sender, policy, text), population=45)
        find_harmless(dana, audit)
    estimates = seen(lena)

    assert "an estimated 10% (" in estimates
    assert "by 3 audits." in estimates
    assert "Answered blind: 0 of 3." in estimates
    assert "1 audit found a violation." in estimates
    assert "0 audits wait for their answer." in estimates
    by_language = table(estimates, "missed-by-language")
    assert [(row[0], row[1].partition(" ")[0], *row[2:]) for row in by_language] == [
        ("ar", "100%", "1 of 1", "10"),
        ("en", "0%", "0 of 2", "90"),
    ]
    assert [row[0] for row in table(estimates, "missed-by-category")] == ["No violation"]
    assert [row[0] for row in table(estimates, "missed-by-sender")] == ["chat-app"]
    assert [row[0] for row in table(estimates, "missed-by-band")] == ["0.90-0.95"]
    assert [row[0] for row in table(estimates, "missed-by-version")] == ["1"]
    assert [row[0] for row in table(estimates, "missed-by-month")] == ["Jan 2026"]


def test_each_picture_has_a_row_for_each_of_its_table(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "one", language="ar"))
    find_harmless(dana, drawn_audit(send_safe(client_of_sender, policy, "two")))
    look_twice(dana, client_of_sender, policy, category="hate", said="hate")
    look_twice(dana, client_of_sender, policy, category="spam", said="")

    html = seen(lena)

    names = re.findall(r'aria-labelledby="((?:missed|agreed)-by-\w+)"', html)
    assert len(names) == 9
    for name in names:
        inside = section(html, name)
        assert inside.count("<circle") == len(table(html, name)) > 0, name
        assert f'<title id="{name}-named">' in inside


def test_severe_misses_are_told_and_lead_to_what_was_missed(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "one"), category="credible_threat")
    find_missed(dana, send_safe(client_of_sender, policy, "two"), category="spam")

    html = seen(lena)

    assert '<a href="/review/quality/missed/">2 audits found a violation.</a>' in html
    assert "1 of them severe" in html


def test_a_language_that_stands_out_is_named(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    assert "More is missed in these languages" not in seen(lena)
    for number in range(5):
        find_missed(dana, send_safe(client_of_sender, policy, f"a{number}", language="ar"))
        find_harmless(dana, drawn_audit(send_safe(client_of_sender, policy, f"e{number}")))

    html = seen(lena)

    assert (
        "More is missed in these languages than in the rest, beyond what chance gives at this look:"
        in html
    )
    assert "</strong> <bdi>ar</bdi></p>" in html


def test_agreement_is_told_overall_by_category_language_and_pair(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    for category, said in [("hate", "hate")] * 3 + [("spam", "spam")] * 3 + [("spam", "hate")]:
        look_twice(dana, client_of_sender, policy, category=category, said=said)

    html = seen(lena)

    assert "Of 7 decisions that a second person looked at, 86% found the same." in html
    assert "is chance): 0.72 (" in section(html, "agreed")
    assert "1 difference waits to be settled." in html
    assert [row[::2] for row in table(html, "agreed-by-category")] == [
        ["Hate", "3 of 4"],
        ["Spam", "3 of 4"],
    ]
    assert [row[::2] for row in table(html, "agreed-by-language")] == [["en", "6 of 7"]]
    assert [row[::2] for row in table(html, "agreed-by-pair")] == [["dana + lena", "6 of 7"]]


def test_one_and_the_same_answer_throughout_is_said_and_is_neither_nought_nor_one(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    look_twice(dana, client_of_sender, policy, category="hate", said="hate")

    html = seen(lena)

    assert "All said one and the same, so nothing can be said of chance." in html
    assert table(html, "agreed-by-pair") == [["dana + lena", "all said the same", "1 of 1"]]


def test_the_period_and_the_version_narrow_it(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "old"))
    newer = load_version(prompt="Judge anew.")
    report = send_safe(client_of_sender, newer, "new")
    BlindAudit.objects.create(
        stratum=newest_stratum(report, language="de"),
        classification=report.classifications.get(),
        report=report,
    )

    def languages(**query: str) -> list[str]:
        return [row[0] for row in table(seen(lena, **query), "missed-by-language")]

    assert languages() == ["en", "de"]
    assert languages(within="30d") == languages(within="") == languages(within="odd") == ["de"]
    assert languages(version="1") == ["en"]
    assert languages(version=str(newer.number)) == ["de"]
    assert languages(version="no number") == ["en", "de"]


def test_in_arabic_it_reads_from_the_right_with_the_same_numbers(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    find_missed(dana, send_safe(client_of_sender, policy, "one", language="ar"), population=30)
    find_harmless(dana, drawn_audit(send_safe(client_of_sender, policy, "two"), population=70))
    english = seen(lena)
    lena.post("/language/", {"language": "ar", "next": QUALITY})

    arabic = seen(lena)

    def places(html: str) -> list[float]:
        return [float(x) for x in re.findall(r'<circle cx="([\d.]+)%"', html)]

    assert 'dir="rtl"' in arabic
    assert [one + other for one, other in zip(places(english), places(arabic), strict=True)] == [
        100.0
    ] * len(places(english))
    assert [row[-1] for row in table(arabic, "missed-by-language")] == ["30", "70"]
    assert "30" in section(arabic, "missed")


def test_a_name_with_markup_and_hidden_signs_is_shown_and_not_obeyed(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    report = send_safe(client_of_sender, policy, "one")
    stratum = newest_stratum(report, language="<b>\u202e</b>")
    audit = BlindAudit.objects.create(
        stratum=stratum, classification=report.classifications.get(), report=report
    )
    find_harmless(dana, audit)

    inside = section(seen(lena), "missed-by-language")

    assert "<b>" not in inside
    assert "\u202e" not in inside
    assert inside.count("&lt;b&gt;") == 3  # the picture, its point's name, and the table


def test_who_leads_nobody_does_not_see_it_nor_the_way_to_it(dana: Browser, lena: Browser) -> None:
    assert dana.get(QUALITY).status_code == 403
    assert 'href="/review/quality/"' not in page(dana, "/review/needs-review/")
    assert 'href="/review/quality/"' in page(lena, "/review/needs-review/")


def test_above_every_page_a_lead_reads_how_many_differences_wait(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    operator = log_in("olga", "operator")
    differing(client_of_sender, policy)
    differing(client_of_sender, policy, answered_at=Now())  # it can still be taken back
    overridden = differing(client_of_sender, policy).decision.item
    html = page(lena, f"/review/items/{overridden.pk}/")
    decide(lena, overridden, html, action="no_violation")
    look_twice(dana, client_of_sender, policy, category="spam", said="spam")

    assert to_settle().count() == 1
    assert 'Quality <span class="count">1</span>' in page(lena, "/review/pending/")
    assert "1 difference waits to be settled." in seen(lena)
    assert "Quality</a>" in page(operator, "/review/pending/")
