"""Severe items of today are counted, and after so many a pause is proposed, never forced."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item, Severity
from reports.tests.sending import Client
from reviews.claims import HOLDS
from reviews.models import Claim, Preferences
from reviews.pause import answer_proposal
from reviews.tests.people import fill_list, log_in, page

LIST = "/review/needs-review/"
PROPOSAL = "Take a break?"


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    user = User.objects.create(username="dana")
    Preferences.objects.create(user=user, pause_after=3)
    return user


@pytest.fixture
def browser(dana: User) -> Browser:
    return log_in(dana.username, "reviewer", veiled=True)


@pytest.fixture
def severe(client_of_sender: Client, policy: PolicyVersion, dana: User) -> list[Item]:  # noqa: ARG001
    """Ten items in review, all severe."""
    fill_list(client_of_sender, policy, "needs_review", 10)
    Item.objects.update(rank=Severity.HIGH)
    return list(Item.objects.order_by("pk"))


def have_had(user: User, *items: Item, ago: timedelta = timedelta()) -> None:
    """Items that the user has had in hand and let go of."""
    for item in items:
        Claim.objects.create(item=item, reviewer=user, claimed_at=Now() - ago,
                             expires_at=Now() - ago + HOLDS, released_at=Now())  # fmt: skip


def answer(browser: Browser, button: str, *, back: str = LIST) -> str:
    location: str = browser.post("/review/pause/", {button: "", "next": back})["Location"]
    return location


def test_the_header_counts_each_severe_item_of_today_once(
    browser: Browser, dana: User, severe: list[Item]
) -> None:
    assert "severe today" not in page(browser, LIST)

    have_had(dana, severe[0], severe[0], severe[1])
    have_had(dana, severe[2], ago=timedelta(hours=24))
    have_had(User.objects.create(username="omar"), severe[3])
    Item.objects.filter(pk=severe[4].pk).update(rank=Severity.MEDIUM)
    have_had(dana, severe[4])

    assert "2 severe today" in page(browser, LIST)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_pause_is_proposed_at_exactly_the_chosen_number(
    browser: Browser, dana: User, severe: list[Item], language: str
) -> None:
    browser.post("/language/", {"language": language, "next": "/"})
    have_had(dana, *severe[:2])
    assert 'action="/review/pause/"' not in page(browser, LIST)

    have_had(dana, severe[2])

    # Where items are opened as well as on the lists.
    for address in (LIST, f"/review/items/{severe[2].pk}/"):
        html = page(browser, address)
        assert html.count('action="/review/pause/"') == 1
        assert html.index('action="/review/pause/"') < html.index("<h1")


def test_who_goes_on_is_asked_again_after_as_many_more(
    browser: Browser, dana: User, severe: list[Item]
) -> None:
    have_had(dana, *severe[:3])
    assert "You have seen 3 severe items. Take a break?" in page(browser, LIST)

    assert answer(browser, "go-on", back="/review/pending/") == "/review/pending/"

    assert PROPOSAL not in page(browser, LIST)
    have_had(dana, *severe[3:5])
    assert PROPOSAL not in page(browser, LIST)
    assert "5 severe today" in page(browser, LIST)
    have_had(dana, severe[5])
    assert PROPOSAL in page(browser, LIST)


def test_who_rests_lets_go_of_what_they_have_and_sees_a_page_without_work(
    browser: Browser, dana: User, severe: list[Item]
) -> None:
    have_had(dana, *severe[:2])
    page(browser, f"/review/items/{severe[2].pk}/")
    assert Claim.objects.in_force().filter(reviewer=dana).count() == 1
    omar = User.objects.create(username="omar")
    Claim.objects.create(item=severe[3], reviewer=omar, expires_at=Now() + HOLDS)

    assert answer(browser, "rest") == "/review/pause/"

    assert list(Claim.objects.in_force().values_list("reviewer", flat=True)) == [omar.pk]
    html = page(browser, "/review/pause/")
    assert "Take your time." in html
    assert 'href="/review/"' in html
    assert 'class="lists"' not in html
    assert PROPOSAL not in page(browser, LIST)
    row = AuditEntry.objects.get(action="paused")
    assert (row.object_type, row.object_id) == ("user", str(dana.pk))
    assert row.detail == {"items": [severe[2].pk]}


@pytest.mark.parametrize(("rests", "action"), [(True, "paused"), (False, "went_on")])
def test_the_same_answer_sent_twice_counts_once(
    dana: User,
    severe: list[Item],
    rests: bool,  # noqa: FBT001
    action: str,
) -> None:
    have_had(dana, *severe[:3])

    answer_proposal(user=dana, rests=rests)
    answer_proposal(user=dana, rests=rests)

    assert AuditEntry.objects.filter(action=action).count() == 1


def test_nobody_is_sent_to_another_site_from_the_proposal(browser: Browser) -> None:
    assert answer(browser, "go-on", back="https://elsewhere.example/") == "/review/"
