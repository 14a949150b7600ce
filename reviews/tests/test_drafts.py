"""Drafts: what is typed comes back to who typed it, and to nobody else, until they decide."""

from typing import Any

import pytest
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item
from reports.tests.sending import Client, body_saying
from reviews.forms import TEXT_LIMIT
from reviews.models import Draft
from reviews.tests.people import decide, form_of, log_in, page, time_runs_out

JSON = {"Accept": "application/json"}


@pytest.fixture
def item(client_of_sender: Client, policy: PolicyVersion) -> Item:  # noqa: ARG001
    return client_of_sender.send(body_saying("x")).item


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def address_of(item: Item) -> str:
    return f"/review/items/{item.pk}/"


def save(browser: Browser, item: Item, **typed: str) -> Any:
    return browser.post(f"{address_of(item)}draft/", typed, headers=JSON)


def test_what_is_typed_comes_back_when_the_same_person_opens_the_item_again(
    dana: Browser, item: Item
) -> None:
    typed = {"action": "remove", "category": "hate", "note": "مسودة\n two lines ", "reason": "why"}

    assert save(dana, item, **typed).status_code == 200

    html = dana.get(address_of(item)).content.decode()
    assert "restored." in html
    assert "مسودة\n two lines </textarea>" in html
    assert "why</textarea>" in html
    assert '<option value="hate" selected>' in html
    assert html.count(" checked") == 1
    assert not AuditEntry.objects.filter(action__contains="draft").exists()


def test_nobody_else_reads_it_or_writes_over_it(dana: Browser, item: Item) -> None:
    omar = log_in("omar", "reviewer")
    save(dana, item, note="hers alone")

    assert "hers alone" not in page(omar, address_of(item))
    time_runs_out()
    save(omar, item, note="his own")

    assert "hers alone" in page(dana, address_of(item))


def test_a_form_with_nothing_in_it_discards_the_draft(dana: Browser, item: Item) -> None:
    save(dana, item, note="a word")

    answer = dana.post(f"{address_of(item)}draft/?from=pending")

    assert answer["Location"] == f"{address_of(item)}?from=pending"
    assert not Draft.objects.exists()
    assert "a word" not in page(dana, address_of(item))


def test_a_choice_that_is_not_offered_any_more_is_dropped_and_the_text_stays(
    dana: Browser, item: Item
) -> None:
    save(dana, item, action="pillory", category="heresy", note="still here")

    html = page(dana, address_of(item))

    assert "still here" in html
    assert "pillory" not in html
    assert "heresy" not in html


def test_deciding_ends_ones_own_draft_and_no_others(dana: Browser, item: Item) -> None:
    omar = log_in("omar", "reviewer")
    save(dana, item, note="hers")
    save(omar, item, note="his")

    decide(dana, item, page(dana, address_of(item)), action="no_violation")

    assert [draft.note for draft in Draft.objects.all()] == ["his"]


def test_what_comes_in_after_ones_own_decision_is_not_kept(dana: Browser, item: Item) -> None:
    before = form_of(page(dana, address_of(item)))["last"]
    decide(dana, item, page(dana, address_of(item)), action="no_violation", note="done")

    answer = save(dana, item, note="done", last=before)
    assert answer.status_code == 409
    assert not Draft.objects.exists()

    save(dana, item, note="second thoughts", last=form_of(page(dana, address_of(item)))["last"])
    assert Draft.objects.get().note == "second thoughts"


@pytest.mark.parametrize(
    ("wish", "status"), [({"action": "no_violation"}, 409), ({"action": "warn"}, 422)]
)
def test_a_form_that_came_too_late_or_incomplete_is_a_draft(
    dana: Browser, item: Item, wish: dict[str, str], status: int
) -> None:
    seen = page(dana, address_of(item))
    omar = log_in("omar", "reviewer")
    if status == 409:
        time_runs_out()
        decide(omar, item, page(omar, address_of(item)), action="no_violation")

    assert decide(dana, item, seen, note="a long text", **wish).status_code == status

    assert "a long text" in page(dana, address_of(item))


def test_who_saves_a_draft_without_scripts_is_told_that_it_was_not_kept(
    dana: Browser, item: Item
) -> None:
    before = form_of(page(dana, address_of(item)))["last"]
    decide(dana, item, page(dana, address_of(item)), action="no_violation")

    answer = dana.post(f"{address_of(item)}draft/", {"note": "in another tab", "last": before})

    assert "The draft was not saved." in page(dana, answer["Location"])


def test_a_text_as_long_as_a_note_may_be_is_kept_line_breaks_counted_once(
    dana: Browser, item: Item
) -> None:
    longest = "ض\r\n" * (TEXT_LIMIT // 2)

    assert save(dana, item, note=longest).status_code == 200
    assert save(dana, item, note=longest + "x").status_code == 422

    assert Draft.objects.get().note == longest.replace("\r\n", "\n")
    answer = decide(dana, item, page(dana, address_of(item)), action="no_violation", note=longest)
    assert answer.status_code == 302


@pytest.mark.parametrize(
    "wrong",
    [
        {"note": "\0"},
        {"action": "x" * 33},
        {"category": "x" * 65},
        {"note": "x", "last": "soon"},
        {"note": "x", "last": "-1 OR 1=1"},
    ],
)
def test_what_no_form_of_ours_sends_is_not_kept(
    dana: Browser, item: Item, wrong: dict[str, str]
) -> None:
    assert save(dana, item, **wrong).status_code == 422
    assert not Draft.objects.exists()


def test_a_number_beyond_the_databases_is_no_error(dana: Browser, item: Item) -> None:
    assert save(dana, item, note="x", last="9" * 30).status_code == 200


def test_only_who_may_decide_keeps_drafts_and_only_about_items_that_exist(
    dana: Browser, item: Item
) -> None:
    olga = log_in("olga", "operator")

    assert save(olga, item, note="x").status_code == 403
    assert save(log_in("nobody"), item, note="x").status_code == 403
    assert save(Browser(), item, note="x")["Location"].startswith("/login/")
    assert dana.get(f"{address_of(item)}draft/").status_code == 405
    assert dana.post("/review/items/999999999/draft/", {"note": "x"}).status_code == 404
    assert dana.post("/review/items/999999999/draft/").status_code == 404
    assert not Draft.objects.exists()


def test_a_script_is_told_where_a_decision_leads_and_a_log_in_is_none(
    dana: Browser, item: Item
) -> None:
    html = page(dana, address_of(item))
    form = {**form_of(html), "action": "no_violation", "stay": ""}

    assert Browser().post(address_of(item), form, headers=JSON).status_code == 302
    answer = dana.post(f"{address_of(item)}?from=pending", form, headers=JSON)

    assert answer.json() == {"to": f"{address_of(item)}?from=pending"}
    assert "Decided: no violation." in page(dana, address_of(item))
