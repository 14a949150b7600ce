"""Saved views: what they show and count, and whose they are."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry
from reports.tests.sending import Client, body_saying, make_sender
from reviews.claims import claim_item
from reviews.models import SavedView
from reviews.saved_views import COUNTED_IN_A_VIEW, LOOKED_THROUGH_FOR_A_COUNT, VIEWS_AT_MOST
from reviews.tests.people import fill_list, log_in, page

VIEWS = "/review/views/"


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def omar(db: None) -> Browser:  # noqa: ARG001
    return log_in("omar", "reviewer")


def save(browser: Browser, name: str, query: str = "language=en", **values: str) -> int:
    sent = {"name": name, "list": "pending", "query": query, **values}
    return browser.post(VIEWS, sent).status_code


def shown(html: str) -> dict[str, str]:
    """The views of the page and their counts."""
    return dict(re.findall(r'dir="auto">([^<]*)</a></h2> <span class="num">([^<]*)</span>', html))


def audited() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("action", flat=True))


def test_a_view_is_saved_from_a_narrowed_list_and_leads_back_to_it(
    dana: Browser, client_of_sender: Client
) -> None:
    for language in ("en", "en", "ar"):
        client_of_sender.send(body_saying("x", language=language))
    query = re.search(r'name="query" value="([^"]*)"', page(dana, "/review/pending/?language=en"))
    assert query is not None
    before = len(audited())

    answer = dana.post(VIEWS, {"name": "English", "list": "pending", "query": query[1]})

    assert answer["Location"] == "/review/pending/?language=en"
    html = page(dana, VIEWS)
    assert shown(html) == {"English": "2"}
    assert 'href="/review/pending/?language=en"' in html
    assert audited()[before:] == ["view_saved"]
    assert "query" not in page(dana, "/review/pending/").split("More filters")[0]


def test_a_view_is_its_owners_until_it_is_shared(dana: Browser, omar: Browser) -> None:
    save(dana, "mine")
    view = SavedView.objects.get()
    address = f"{VIEWS}{view.pk}/"
    assert shown(page(omar, VIEWS)) == {}

    dana.post(address, {"do": "share"})
    dana.post(address, {"do": "share"})

    html = page(omar, VIEWS)
    assert shown(html) == {"mine": "0"}
    assert "shared by <bdi>dana</bdi>" in html
    assert 'name="do"' not in html
    for wanted in ("share", "keep", "remove"):
        assert omar.post(address, {"do": wanted}).status_code == 404
    dana.post(address, {"do": "keep"})
    assert shown(page(omar, VIEWS)) == {}
    dana.post(address, {"do": "remove"})
    assert not SavedView.objects.exists()
    assert dana.post(address, {"do": "remove"}).status_code == 404
    assert [each for each in audited() if each.startswith("view_")] == [
        "view_saved",
        "view_shared",
        "view_unshared",
        "view_removed",
    ]


def test_me_in_a_shared_view_is_whoever_looks(
    dana: Browser, omar: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("x"))
    claim_item(item_id=report.item_id, reviewer=User.objects.get(username="omar"))
    save(dana, "in hand", "assignee=me", shared="on")

    assert shown(page(dana, VIEWS)) == {"in hand": "0"}
    assert shown(page(omar, VIEWS)) == {"in hand": "1"}


def test_a_name_is_taken_once_and_what_was_typed_stays(dana: Browser, omar: Browser) -> None:
    assert save(dana, "same") == 302
    assert save(omar, "same") == 302
    answer = dana.post(VIEWS, {"name": "same", "list": "safe", "query": "language=ar"})

    assert answer.status_code == 409
    html = answer.content.decode()
    assert "You have a view of this name." in html
    assert 'value="language=ar"' in html
    assert SavedView.objects.count() == 2


def test_there_are_only_so_many(dana: Browser) -> None:
    for number in range(VIEWS_AT_MOST):
        assert save(dana, f"view {number}") == 302

    assert save(dana, "one too many") == 409
    assert len(shown(page(dana, VIEWS))) == VIEWS_AT_MOST


@pytest.mark.parametrize(
    "sent",
    [
        {"name": "", "list": "pending", "query": ""},
        {"name": "x" * 81, "list": "pending", "query": ""},
        {"name": "x\0", "list": "pending", "query": ""},
        {"name": "x", "list": "elsewhere", "query": ""},
        {"name": "x", "list": "pending", "query": "q" * 5_001},
    ],
)
def test_a_form_that_cannot_be_saved_is_refused(dana: Browser, sent: dict[str, str]) -> None:
    assert dana.post(VIEWS, sent).status_code == 422
    assert not SavedView.objects.exists()


def test_what_is_no_filter_is_left_out(dana: Browser) -> None:
    save(dana, "odd", "language=en&viewer=7&evil=1&after=3&sender=%00")

    assert SavedView.objects.get().filters == {"language": "en"}
    SavedView.objects.update(filters={"language": ["x"], "gone": "1", "version": "x"})
    assert shown(page(dana, VIEWS)) == {"odd": "0"}


def test_a_name_of_other_peoples_making_is_escaped_and_isolated(dana: Browser) -> None:
    save(dana, "<script>alert(1)</script>\u202e")

    html = page(dana, VIEWS)
    assert "<script>alert" not in html
    assert "U+202E" in html


def test_counts_are_bounded_and_come_in_one_statement(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    django_assert_max_num_queries: object,
) -> None:
    fill_list(client_of_sender, policy, "pending", COUNTED_IN_A_VIEW + 5)
    fill_list(make_sender("other-app"), policy, "judged_safe", LOOKED_THROUGH_FOR_A_COUNT + 1)
    save(dana, "many")
    save(dana, "whole list", "")
    save(dana, "looked into", "language=ar", list="safe")
    save(dana, "none", "language=ar")

    with django_assert_max_num_queries(12) as few:  # type: ignore[operator]
        html = page(dana, VIEWS)

    assert shown(html) == {
        "many": "1,000+",
        "whole list": "1,000+",
        "looked into": "0+",
        "none": "0",
    }
    for number in range(VIEWS_AT_MOST - 4):
        save(dana, f"view {number}")
    with django_assert_max_num_queries(12) as many:  # type: ignore[operator]
        page(dana, VIEWS)
    assert len(many.captured_queries) == len(few.captured_queries)
