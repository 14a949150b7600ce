"""What is done blind cannot be told apart, and tells nothing: an audit, a second review, other work."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test import Client as Browser
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from classifier.models import PolicyVersion
from classifier.tests import history
from classifier.tests.batches import make_batch
from reports.models import Item, Report
from reports.tests.sending import Client, body_saying
from reviews.decisions import Wish, decide_item
from reviews.models import Claim, Decision, Draft, Preferences, SamplingRate
from reviews.tests.people import decide, log_in, page
from reviews.tests.quality import (
    decided,
    drawn_audit,
    drawn_double_review,
    judge_spam,
    judged_safe,
    share,
)

pytestmark = pytest.mark.django_db
Of = SamplingRate.Of
Reports = dict[str, Report]
KINDS = ("audit", "second", "other")
NO_WORDS = r'"notice safe"|datetime="[^"]*"|csrfmiddlewaretoken" value="\w+"'
"""What a page says to no reader: its letters may be those of any word."""


@pytest.fixture
def reports(client_of_sender: Client, policy: PolicyVersion) -> Reports:
    """One for an audit, one that omar decided for a second review, and one of other work."""
    found = {"audit": judged_safe(client_of_sender, policy, "text of the audit")}
    first = decided(client_of_sender, policy, "text of the second", by="omar", action="remove")
    found["second"] = first.reports.get()
    found["other"] = client_of_sender.send(body_saying("text of the other"))
    judge_spam(found["other"], policy)
    drawn_audit(found["audit"])
    drawn_double_review(first)
    return found


def leave_free(kind: str, reports: Reports) -> None:
    """Nobody has anything in hand but the other samples."""
    Claim.objects.update(released_at=Now())
    share(Of.MIXED_IN, 0 if kind == "other" else 1)
    share(Of.BLIND, 1)
    lena, _made = User.objects.get_or_create(username="lena")
    for sample in {"audit", "second"} - {kind}:
        Claim.objects.create(
            item=reports[sample].item, reviewer=lena, expires_at=Now() + timedelta(minutes=5)
        )


def hand_out(browser: Browser, kind: str, reports: Reports) -> str:
    """The address that starting leads to, where just this one is free."""
    leave_free(kind, reports)
    answer = browser.post("/review/needs-review/start/?language=en")
    address = str(answer["Location"])
    assert str(reports[kind].item_id) in address
    return address


def time_is_over() -> None:
    """For whatever somebody has in hand; when they took it stays."""
    Claim.objects.filter(released_at=None).update(expires_at=Now() - timedelta(seconds=1))


def anonymous(html: str, report: Report) -> str:
    """Without ids, texts and times."""
    html = " ".join(html.split())
    for foreign in (report.item.external_id, str(report.public_id)):
        assert foreign in html
        html = html.replace(foreign, "ID")
    for kind in KINDS:
        html = html.replace(f"text of the {kind}", "TEXT")
    html = re.sub(r"\bu-[0-9a-f]{12}\b", "AUTHOR", html)
    html = re.sub(r"/review/items/\d+/", "/review/items/N/", html)
    html = re.sub(r'(name="(?:reports|newest)" value|data-newest)="\d+"', r'\1="N"', html)
    html = re.sub(r'data-draft="draft:(\d+):\d+"', r'data-draft="draft:\1:N"', html)
    html = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "CSRF", html)
    html = re.sub(r'data-seconds="\d+"', 'data-seconds="S"', html)
    html = re.sub(r'datetime="[^"]*">[^<]*<', 'datetime="T">T<', html)
    return re.sub(r"\b\d\d?:\d\d\b( [صم])?", "T", html).replace("> <", ">\n<")


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("veiled", [False, True], ids=["shown", "veiled"])
def test_the_three_are_alike_to_the_byte_in_page_and_address(
    reports: Reports, language: str, *, veiled: bool
) -> None:
    dana = log_in("dana", "reviewer", veiled=veiled)
    dana.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    addresses, pages, refused = {}, {}, {}

    for kind in KINDS:
        address = hand_out(dana, kind, reports)
        addresses[kind] = address.replace(str(reports[kind].item_id), "N")
        pages[kind] = anonymous(page(dana, address), reports[kind])
        # What is refused is shown again: as little tells it.
        answer = dana.post(address, {"reports": reports[kind].pk, "last": "", "action": "remove"})
        assert answer.status_code == 422
        refused[kind] = anonymous(answer.content.decode(), reports[kind])

    for found in (addresses, pages, refused):
        assert found["audit"] == found["other"]
        assert found["second"] == found["other"]
    assert addresses["other"] == "/review/items/N/?language=en&from=needs-review"
    assert ("TEXT" in pages["other"]) is not veiled


@pytest.mark.parametrize("kind", KINDS)
def test_neither_what_a_machine_said_nor_what_others_decided_is_on_the_page(
    dana: Browser, reports: Reports, kind: str
) -> None:
    html = page(dana, hand_out(dana, kind, reports))

    main = html.partition("<main")[2].partition("<dl>")[0]
    assert "without the machine's answer" in main
    assert f"text of the {kind}" in main
    for told in ("What the model answered", "What happened", "It advertises", "harmless", "omar"):
        assert told not in html
    for told in ("Judged safe", "Resolved", "Needs review", "0.9", "0.8", "severe", "low", "safe"):
        assert told not in re.sub(NO_WORDS, "", main)
    # An item that is days old among those that came today would be a sample.
    assert f"{reports[kind].received_at:%Y-%m-%dT%H:%M}" not in html
    assert 'value="reopen"' not in html
    assert 'value="escalate"' in html
    assert 'name="last" id' in html or 'name="last"' in html
    assert re.search(r'name="last"[^>]*value="\d', html) is None


# --- Nothing else tells: lists, search, counts


def test_lists_and_search_leave_out_what_one_has_blind_and_show_it_to_others(
    dana: Browser, reports: Reports
) -> None:
    colleague = log_in("lena", "reviewer")
    places = {
        "audit": ["/review/safe/", f"/review/search/?q={reports['audit'].public_id}"],
        "second": [
            "/review/resolved/",
            "/review/decisions/",
            f"/review/search/?q={reports['second'].public_id}",
            "/review/search/?q=second",
        ],
        "other": ["/review/needs-review/", "/review/search/?q=text"],
    }

    for kind, addresses in places.items():
        hand_out(dana, kind, reports)
        named = reports[kind].item.external_id
        for address in addresses:
            assert named not in page(dana, address).partition("<main")[2], address
            assert named in page(colleague, address), address
        time_is_over()
        assert named not in page(dana, addresses[0])
        Claim.objects.update(
            claimed_at=Now() - timedelta(hours=25), expires_at=Now() - timedelta(hours=24)
        )
        assert named in page(dana, addresses[0])


def test_pages_of_authors_and_reporters_and_the_disagreements_leave_it_out_as_well(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion, reports: Reports
) -> None:
    address = hand_out(dana, "other", reports)
    card = f"{address.partition('?')[0]}?from="
    for of_whom in ("authors", "reporters"):
        theirs = f"/review/{of_whom}/{reports['other'].public_id}/"
        assert card in page(log_in("lena", "reviewer"), theirs)
        assert card not in page(dana, theirs)

    disputed = history.judged_safe(client_of_sender, policy)
    batch = make_batch(history.next_version())
    history.ask_again(disputed, batch, category="hate")
    assert disputed.item.external_id in page(dana, "/review/disagreements/")
    Claim.objects.create(
        item=disputed.item,
        reviewer=User.objects.get(username="dana"),
        blind=True,
        expires_at=Now() + timedelta(minutes=5),
    )
    assert disputed.item.external_id not in page(dana, "/review/disagreements/")


@pytest.mark.parametrize("let_go", [False, True])
def test_what_one_has_blind_is_reached_again_by_starting_though_the_list_is_empty(
    dana: Browser, reports: Reports, *, let_go: bool
) -> None:
    address = hand_out(dana, "other", reports)
    if let_go:
        dana.post(address.replace("/?", "/release/?"))

    html = page(dana, "/review/needs-review/")

    assert "Start reviewing" in html
    assert "Start reviewing" not in page(dana, "/review/pending/")
    assert dana.post("/review/needs-review/start/")["Location"] == address.replace(
        "language=en&", ""
    )


def test_a_severe_item_is_counted_for_a_pause_once_it_is_decided_and_not_before(
    dana: Browser, reports: Reports, settings: Settings
) -> None:
    Report.objects.filter(pk=reports["other"].pk).update(rank=3, floor=3)
    Item.objects.filter(pk=reports["other"].item_id).update(rank=3)
    address = hand_out(dana, "other", reports)

    assert "severe today" not in page(dana, address)
    dana.post(address.replace("/?", "/release/?"))
    assert "severe today" not in page(dana, "/review/pending/")
    html = page(dana, address)
    decide(dana, reports["other"].item, html, action="no_violation")

    # Nor as long as the answer may be taken back and given anew.
    assert "severe today" not in page(dana, address)
    settings.UNDO_SECONDS = 0
    assert "1 severe today" in page(dana, address)


def test_a_severe_item_counts_after_a_second_review_of_it_as_well(
    dana: Browser, reports: Reports, settings: Settings
) -> None:
    Item.objects.filter(pk=reports["second"].item_id).update(rank=3)
    address = hand_out(dana, "second", reports)
    decide(dana, reports["second"].item, page(dana, address), action="no_violation")

    assert "severe today" not in page(dana, address)
    settings.UNDO_SECONDS = 0
    assert "1 severe today" in page(dana, address)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_told_where_the_address_does_not_say_where_one_came_from(
    dana: Browser, reports: Reports, kind: str
) -> None:
    here = hand_out(dana, kind, reports).partition("?")[0]

    assert 'href="/review/needs-review/">Back to the list' in page(dana, here)
    assert dana.post(f"{here}release/")["Location"] == "/review/needs-review/"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("move", ["put-aside", "hand-over"])
def test_it_is_neither_put_aside_nor_handed_over_and_the_refusal_tells_nothing(
    dana: Browser, reports: Reports, kind: str, move: str
) -> None:
    address = hand_out(dana, kind, reports)
    log_in("noor", "reviewer")
    html = page(dana, address)
    assert "Put aside" not in html
    assert "Hand over" not in html
    sent = {"hours": 1, "to": User.objects.get(username="noor").pk, "note": "typed for long"}

    answer = dana.post(address.replace("/?", f"/{move}/?"), sent)

    said = answer.content.decode()
    assert answer.status_code == 409
    assert "Nothing was changed: decide about this item, skip it or release it." in said
    assert "typed for long</textarea>" in said
    assert Claim.objects.in_force().get(item=reports[kind].item_id).reviewer.username == "dana"


@pytest.mark.parametrize("kind", KINDS)
def test_when_the_time_runs_out_the_page_says_the_same_of_all(
    dana: Browser, reports: Reports, kind: str
) -> None:
    here = hand_out(dana, kind, reports).partition("?")[0]
    time_is_over()

    told = dana.post(f"{here}claim/", {"newest": reports[kind].pk}).json()

    assert told["seconds"] == 0
    assert told["says"].startswith("Your time for this item ran out.")


@pytest.mark.parametrize("kind", KINDS)
def test_who_lets_go_of_it_and_opens_it_again_sees_no_more(
    dana: Browser, reports: Reports, kind: str
) -> None:
    address = hand_out(dana, kind, reports)
    here = address.partition("?")[0]
    dana.post(f"{here}release/?from=needs-review")

    html = page(dana, here)

    assert "without the machine's answer" in html
    claim = Claim.objects.in_force().get(item=reports[kind].item_id)
    assert claim.blind
    assert (claim.double_review is not None) == (kind == "second")


def test_others_see_all_of_it_and_who_has_it(dana: Browser, reports: Reports) -> None:
    here = hand_out(dana, "audit", reports).partition("?")[0]

    html = page(log_in("noor", "reviewer"), here)

    assert "<bdi>dana</bdi> has this item until" in html
    assert "What the model answered" in html


# --- Deciding


@pytest.mark.parametrize("kind", ["audit", "other"])
def test_the_answer_is_an_ordinary_decision_and_everything_is_shown_once_it_stands(
    dana: Browser, reports: Reports, kind: str, settings: Settings
) -> None:
    address = hand_out(dana, kind, reports)
    html = page(dana, address)

    answer = decide(dana, reports[kind].item, html, action="remove", category="spam")

    assert answer.status_code == 302
    decision = Decision.objects.get(item=reports[kind].item_id)
    assert (decision.action_id, decision.reviewer.username) == ("remove", "dana")
    html = page(dana, address)
    assert "Decided: remove." in html
    assert 'class="button undo"' in html
    settings.UNDO_SECONDS = 0
    html = page(dana, address)
    assert "What the model answered" in html
    assert "<bdi>dana</bdi> decided: remove." in html
    assert 'id="draft"' in html


@pytest.mark.parametrize("kind", KINDS)
def test_as_long_as_the_answer_can_be_taken_back_nothing_tells_more(
    dana: Browser, reports: Reports, kind: str
) -> None:
    address = hand_out(dana, kind, reports)
    first = page(dana, address)
    decide(dana, reports[kind].item, first, action="no_violation")
    named = reports[kind].item.external_id

    html = page(dana, address)

    assert "Both are shown once your answer can no longer be taken back." in html
    assert "You have answered. In a moment everything is shown." in html
    for told in ("What the model answered", "What happened", "omar", "agrees", "differs", "/skip/"):
        assert told not in html
    assert 'name="action"' not in html
    assert not Claim.objects.in_force().filter(item=reports[kind].item_id).exists()
    for listed in ("resolved", "safe", "needs-review", "decisions"):
        main = page(dana, f"/review/{listed}/").partition("<main")[2]
        assert named not in main.partition("</div>")[2], listed
    # Another answer, as from a page that was left open.
    answer = decide(dana, reports[kind].item, first, action="remove", category="spam", note="typed")
    said = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert "You have answered already. Take that back to answer anew." in said
    assert "typed</textarea>" in said
    for told in ("What the model answered", "omar"):
        assert told not in said


@pytest.mark.parametrize("kind", ["audit", "other"])
def test_who_takes_the_answer_back_answers_anew_blind(
    dana: Browser, reports: Reports, kind: str
) -> None:
    address = hand_out(dana, kind, reports)
    sent = {"action": "remove", "category": "spam", "note": "seems spam"}
    decide(dana, reports[kind].item, page(dana, address), **sent)
    first = Decision.objects.get(item=reports[kind].item_id)

    dana.post(f"/review/decisions/{first.pk}/undo/")
    html = page(dana, address)

    assert "without the machine's answer" in html
    assert "What the model answered" not in html
    assert "seems spam</textarea>" in html
    assert Claim.objects.in_force().get(item=reports[kind].item_id).blind
    assert decide(dana, reports[kind].item, html, action="warn", category="spam").status_code == 302
    assert Decision.objects.filter(item=reports[kind].item_id).standing().get().action_id == "warn"


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_typed_and_arrives_after_the_answer_is_not_kept(
    dana: Browser, reports: Reports, kind: str
) -> None:
    address = hand_out(dana, kind, reports)
    decide(dana, reports[kind].item, page(dana, address), action="no_violation")
    typed = {"action": "", "category": "", "note": "half a", "reason": "", "last": ""}

    answer = dana.post(
        address.replace("/?", "/draft/?"), typed, headers={"Accept": "application/json"}
    )

    assert answer.status_code == 409
    assert not Draft.objects.exists()


def test_what_stood_when_it_was_claimed_is_overridden_knowingly_by_the_server(
    dana: Browser, reports: Reports
) -> None:
    """A blind page names no earlier decision, and still it follows it."""
    other = reports["other"]
    sent_back = decide_item(
        item_id=other.item_id,
        reviewer=User.objects.get(username="omar"),
        wish=Wish("reopen", note="Look again."),
        report_ids=[other.pk],
        last_decision_id=None,
    )
    html = page(dana, hand_out(dana, "other", reports))
    assert "Look again." not in html

    assert decide(dana, other.item, html, action="no_violation").status_code == 302

    assert Decision.objects.latest("pk").overrides == sent_back


def test_where_somebody_decided_meanwhile_it_says_so_and_what_was_typed_is_kept(
    dana: Browser, reports: Reports
) -> None:
    address = hand_out(dana, "audit", reports)
    html = page(dana, address)
    time_is_over()
    noor = log_in("noor", "reviewer")
    theirs = page(noor, address.partition("?")[0])
    decide(noor, reports["audit"].item, theirs, action="remove", category="spam")

    answer = decide(dana, reports["audit"].item, html, action="no_violation", note="typed")

    said = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert "<bdi>noor</bdi> decided: remove." in said
    assert "typed</textarea>" in said
    assert "What the model answered" in said
    again = decide(dana, reports["audit"].item, said, action="no_violation", note="typed")
    assert again.status_code == 302


def test_a_draft_is_kept_where_one_had_decided_about_the_item_before(
    dana: Browser, reports: Reports
) -> None:
    other = reports["other"]
    decide_item(
        item_id=other.item_id,
        reviewer=User.objects.get(username="dana"),
        wish=Wish("reopen"),
        report_ids=[other.pk],
        last_decision_id=None,
    )
    here = hand_out(dana, "other", reports).partition("?")[0]
    typed = {"action": "", "category": "", "note": "half a", "reason": "", "last": ""}

    answer = dana.post(f"{here}draft/", typed, headers={"Accept": "application/json"})

    assert answer.status_code == 200
    assert Draft.objects.get().note == "half a"


# --- The veil


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("wishes", "hidden"),
    [
        ({"veil_from": 4}, True),
        ({"veil_from": None, "opted_out": ["hate"]}, True),
        ({"veil_from": None, "opted_out": []}, False),
    ],
)
def test_the_text_is_hidden_from_all_who_hide_anything_and_shown_when_they_ask(
    dana: Browser, reports: Reports, kind: str, *, wishes: dict[str, object], hidden: bool
) -> None:
    Preferences.objects.update_or_create(user=User.objects.get(username="dana"), defaults=wishes)
    address = hand_out(dana, kind, reports)

    assert (f"text of the {kind}" not in page(dana, address)) == hidden

    if hidden:
        dana.post(address.replace("/?", "/reveal/?"))
        html = page(dana, address)
        assert f"text of the {kind}" in html
        assert "What the model answered" not in html


# --- What it costs


@pytest.mark.parametrize("kind", KINDS)
def test_handing_it_out_and_its_page_make_few_statements(
    dana: Browser, reports: Reports, kind: str
) -> None:
    leave_free(kind, reports)
    with CaptureQueriesContext(connection) as of_starting:
        address = dana.post("/review/needs-review/start/")["Location"]
    with CaptureQueriesContext(connection) as of_the_page:
        page(dana, address)

    assert str(reports[kind].item_id) in address
    assert 5 < len(of_starting) <= 12
    assert 5 < len(of_the_page) <= 12
