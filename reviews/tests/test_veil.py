"""Severe content is not in the page until its reader asks for it, and asking is put on record."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.tests import history
from classifier.tests.batches import make_batch
from reports.models import AuditEntry, Report, Severity
from reports.tests.sending import Client, body_saying, make_sender, report_body
from reviews.claims import HOLDS, release_item
from reviews.models import Claim, Preferences
from reviews.tests.people import classify, decide, judge_threat, log_in, page
from reviews.veil import reveal_item
from reviews.wellbeing import read_desk

HIDDEN = ("at the school gate", "he knows where I live", "https://chat.example/81", "cat-video.mp4")


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer", veiled=True)


@pytest.fixture
def threat(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """A critical report of which every part that may disturb is named in `HIDDEN`."""
    report = client_of_sender.send(
        report_body(
            item={
                "type": "message",
                "id": "m-81",
                "author_id": "u-7",
                "url": "https://chat.example/81",
            },
            messages=[{"text": "I will wait at the school gate.", "reported": True}],
            comment="he knows where I live",
            metadata={"attachment": "cat-video.mp4"},
        )
    )
    judge_threat(report, policy, summary="A threat to a child.", quotes=["at the school gate"])
    return report


def address_of(report: Report) -> str:
    return f"/review/items/{report.item_id}/"


def show_text(browser: Browser, report: Report) -> None:
    answer = browser.post(f"{address_of(report)}reveal/?from=needs-review")
    assert answer["Location"] == f"{address_of(report)}?from=needs-review#shown"


def shown_of(html: str) -> list[str]:
    return [each for each in HIDDEN if each in html]


def reveals() -> int:
    return AuditEntry.objects.filter(action="revealed").count()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_severe_item_shows_the_summary_and_nothing_that_anybody_wrote_until_it_is_asked_for(
    browser: Browser, threat: Report, language: str
) -> None:
    browser.post("/language/", {"language": language, "next": "/"})

    html = page(browser, address_of(threat))

    assert f'lang="{language}"' in html
    assert shown_of(html) == []
    assert html.index("A threat to a child.") < html.index('data-key="s"')
    assert 'name="action"' in html  # who can decide from the summary need not see more

    show_text(browser, threat)
    html = page(browser, address_of(threat))
    assert shown_of(html) == list(HIDDEN)
    assert 'data-key="s"' not in html
    assert html.index("A threat to a child.") < html.index("I will wait")


def test_a_reveal_leaves_one_row_however_often_it_is_asked_for(
    browser: Browser, threat: Report
) -> None:
    page(browser, address_of(threat))
    show_text(browser, threat)
    show_text(browser, threat)
    page(browser, address_of(threat))

    row = AuditEntry.objects.get(action="revealed")
    assert (row.actor_name, row.object_type, row.object_id) == ("dana", "item", str(threat.item_id))
    assert row.detail == {}


def test_what_one_has_revealed_stays_hidden_from_another(browser: Browser, threat: Report) -> None:
    show_text(browser, threat)

    assert shown_of(page(log_in("omar", "reviewer", veiled=True), address_of(threat))) == []


def test_it_stays_revealed_while_the_reviewer_holds_the_item_and_no_longer(
    browser: Browser,  # noqa: ARG001 - makes dana
    threat: Report,
) -> None:
    dana, ago = User.objects.get(username="dana"), HOLDS + timedelta(minutes=1)
    AuditEntry.objects.create(
        action="revealed", object_type="item", object_id=str(threat.item_id),
        actor=dana, actor_name="dana", at=Now() - ago,
    )  # fmt: skip
    assert not read_desk(dana, item_id=threat.item_id).has_revealed

    Claim.objects.create(
        item=threat.item, reviewer=dana, claimed_at=Now() - 2 * ago, expires_at=Now() + HOLDS
    )
    assert read_desk(dana, item_id=threat.item_id).has_revealed
    reveal_item(item_id=threat.item_id, user=dana)
    assert reveals() == 1

    release_item(threat.item_id)
    assert not read_desk(dana, item_id=threat.item_id).has_revealed


def test_who_only_reads_and_holds_nothing_can_reveal_as_well(threat: Report) -> None:
    olga = log_in("olga", "operator", veiled=True)
    show_text(olga, threat)
    assert shown_of(page(olga, address_of(threat))) == list(HIDDEN)
    show_text(olga, threat)
    assert reveals() == 1


@pytest.mark.parametrize(
    ("veil_from", "rank", "hidden"),
    [
        (None, Severity.CRITICAL, False),
        (Severity.NONE, Severity.NONE, True),
        (Severity.HIGH, Severity.MEDIUM, False),
        (Severity.HIGH, Severity.HIGH, True),
        (Severity.HIGH, Severity.CRITICAL, True),
    ],
)
def test_each_person_chooses_from_which_severity_on(  # noqa: PLR0917 - a table
    browser: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    veil_from: int | None,
    rank: Severity,
    hidden: bool,  # noqa: FBT001
) -> None:
    report = client_of_sender.send(body_saying("the text itself"))
    classify(report, policy, severity=rank, safe=False, category="hate", summary="In short.")
    Preferences.objects.create(user=User.objects.get(username="dana"), veil_from=veil_from)

    for address in (address_of(report), "/review/needs-review/"):
        html = page(browser, address)
        assert ("the text itself" in html) is not hidden
        assert not hidden or "In short." in html
    item = page(browser, address_of(report))
    assert (item.index("In short.") < item.index("What was reported")) is hidden


def test_a_list_shows_the_summary_in_place_of_a_severe_text_or_says_that_it_is_hidden(
    browser: Browser, threat: Report
) -> None:
    card = card_of(page(browser, "/review/needs-review/"), threat)
    assert shown_of(card) == []
    assert 'The model\'s summary:</span> <span dir="auto" lang="en">A threat to a child.' in (
        card.replace("&#x27;", "'")
    )

    show_text(browser, threat)  # the list goes on hiding it
    assert shown_of(card_of(page(browser, "/review/needs-review/"), threat)) == []

    pending = make_sender("other-app").send(body_saying("I will kill you tomorrow"))
    assert pending.rank >= Severity.HIGH
    card = card_of(page(browser, "/review/pending/"), pending)
    assert "I will kill you" not in card
    assert "Text hidden, as your preferences say." in card


def test_neither_a_search_nor_the_author_s_page_shows_a_severe_text(
    browser: Browser, threat: Report
) -> None:
    for address in ("/review/search/?q=school", f"/review/authors/{threat.public_id}/"):
        card = card_of(page(browser, address), threat)
        assert shown_of(card) == []
        assert "A threat to a child." in card
        assert HIDDEN[0] in card_of(page(log_in("omar", "reviewer"), address), threat)


def test_nowhere_is_the_text_of_a_mild_report_shown_of_an_item_that_another_makes_severe(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    author = {"type": "message", "id": "m-81", "author_id": "u-7"}
    reports = [
        client_of_sender.send(report_body(item=author, messages=[{"text": text, "reported": True}]))
        for text in ("the grave one", "wait at the school gate")
    ]
    judge_threat(reports[0], policy)
    mild = reports[1]

    for reader, hidden in ((browser, True), (log_in("omar", "reviewer"), False)):
        for address in (
            address_of(mild),
            "/review/search/?q=school",
            f"/review/authors/{mild.public_id}/",
        ):
            assert ("at the school gate" not in page(reader, address)) is hidden, address


def test_the_list_of_disagreements_hides_severe_texts_too(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = history.judged_safe(client_of_sender, policy)
    batch = make_batch(history.next_version())
    history.ask_again(report, batch, category="hate", summary="A group is insulted.")

    assert "A group is insulted." in page(browser, "/review/disagreements/")
    text = report.content.submission().messages[0].text
    assert text not in page(browser, "/review/disagreements/")
    assert text in page(log_in("omar", "reviewer"), "/review/disagreements/")


def test_it_is_decided_from_the_summary_without_revealing(browser: Browser, threat: Report) -> None:
    html = page(browser, address_of(threat))

    decide(browser, threat.item, html, action="remove", category="credible_threat")

    threat.refresh_from_db()
    assert threat.status == "resolved"
    assert reveals() == 0


@pytest.mark.parametrize(("chosen", "classes"), [(True, "panel calm"), (False, "panel")])
def test_reported_texts_are_without_colours_where_so_chosen(
    browser: Browser,
    threat: Report,
    chosen: bool,  # noqa: FBT001
    classes: str,
) -> None:
    Preferences.objects.create(
        user=User.objects.get(username="dana"), veil_from=None, greyscale=chosen
    )

    assert f'<section class="{classes}" id="shown"' in page(browser, address_of(threat))


def test_an_item_that_is_not_there_has_nothing_to_reveal(browser: Browser) -> None:
    assert browser.post("/review/items/4711/reveal/").status_code == 404
    assert browser.get("/review/items/4711/reveal/").status_code == 405
    assert reveals() == 0


def card_of(html: str, report: Report) -> str:
    """The card of the report's item in a list's page."""
    _head, *cards = html.split('<li class="card')
    return next(each for each in cards if f"/review/items/{report.item_id}/" in each)
