"""What an open page is told: how long its item is still one's own, who has it now, what came in."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client as Browser

from reports.models import Item, Report
from reports.tests.sending import Client, body_saying
from reviews.models import Claim
from reviews.tests.moving import NONE_LEFT, START, audited, go, holders, item_of, move
from reviews.tests.people import (
    decide,
    form_of,
    page,
    time_runs_out,
)


def beat(browser: Browser, report: Report) -> dict[str, object]:
    newest = Report.objects.filter(item=report.item_id).latest("id").pk
    return beat_from(browser, report, newest)


def beat_from(browser: Browser, report: Report, newest: int) -> dict[str, object]:
    answer = browser.post(move(report, "claim"), {"newest": str(newest)})
    assert answer.status_code == 200
    return dict(answer.json())


def test_a_beat_gives_more_time_and_leaves_no_row(dana: Browser, reports: list[Report]) -> None:
    go(dana, START)
    time_runs_out(minutes=8)

    told = beat(dana, reports[0])

    assert 598 <= int(str(told["seconds"])) <= 600
    assert told["says"] == ""
    assert audited() == ["dana claimed"]


def test_however_often_it_is_renewed_a_claim_ends_after_eight_hours(
    dana: Browser, reports: list[Report]
) -> None:
    go(dana, START)
    Claim.objects.update(
        claimed_at=F("claimed_at") - timedelta(hours=7, minutes=56),
        expires_at=F("expires_at") - timedelta(minutes=8),
    )

    told = beat(dana, reports[0])

    assert 238 <= int(str(told["seconds"])) <= 240


def test_a_beat_renews_nothing_that_ran_out_and_says_who_has_it_now(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, START)
    time_runs_out()

    told = beat(dana, reports[0])
    assert told["seconds"] == 0
    assert "counts unless somebody else takes the item first" in str(told["says"])
    assert holders() == {}

    go(omar, START)
    assert "\u2068omar\u2069 has this item now, until" in str(beat(dana, reports[0])["says"])

    decide(omar, reports[0].item, page(omar, item_of(reports[0])), action="no_violation")
    assert "was decided meanwhile" in str(beat(dana, reports[0])["says"])


def test_new_reports_join_a_claimed_item_and_its_page_says_so(
    dana: Browser, omar: Browser, client_of_sender: Client
) -> None:
    body = body_saying("grows")
    report = client_of_sender.send(body)
    html = page(dana, go(dana, START))
    for _ in range(2):
        client_of_sender.send(body)

    assert go(omar, START) == NONE_LEFT
    told = beat_from(dana, report, report.pk)
    assert str(told["says"]).startswith("2 new reports came in about this item.")
    values = {**form_of(html), "newest": str(report.pk), "action": "no_violation", "stay": ""}
    answer = dana.post(item_of(report), values, follow=True)

    assert "2 new reports came in about this item." in answer.content.decode()
    assert Item.objects.get().list == Item.List.PENDING


@pytest.mark.parametrize("newest", ["", "x", "-1", "9" * 40])
def test_a_beat_that_knows_no_report_is_told_of_none(
    dana: Browser, reports: list[Report], newest: str
) -> None:
    go(dana, START)

    answer = dana.post(move(reports[0], "claim"), {"newest": newest})

    assert answer.json()["says"] == ""


def test_moves_about_an_item_that_is_not_there_are_404(dana: Browser) -> None:
    for name in ("skip", "release", "put-aside", "hand-over"):
        assert dana.post(f"/review/items/4711/{name}/").status_code == 404
