"""Start, skip and release: each takes or lets go of one item, and none is shown twice."""

from django.test import Client as Browser

from reports.models import Report
from reviews.models import Skip
from reviews.tests.moving import NONE_LEFT, START, audited, go, holders, item_of, move
from reviews.tests.people import decide, form_of, log_in, page


def test_starting_takes_the_top_for_oneself_and_what_follows_for_the_next_person(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    assert go(dana, START) == item_of(reports[0])
    assert go(omar, START) == item_of(reports[1])

    assert holders() == {reports[0].item_id: "dana", reports[1].item_id: "omar"}
    assert audited() == ["dana claimed", "omar claimed"]


def test_starting_again_goes_on_with_what_one_has_and_leaves_no_second_row(
    dana: Browser, reports: list[Report]
) -> None:
    go(dana, START)

    assert go(dana, START) == item_of(reports[0])

    assert audited() == ["dana claimed"]


def test_looking_at_the_address_of_a_move_changes_nothing(
    dana: Browser, reports: list[Report]
) -> None:
    assert dana.get(f"{START}?language=en")["Location"] == "/review/pending/?language=en"
    for name in ("skip", "release", "put-aside"):
        assert dana.get(move(reports[0], name))["Location"] == item_of(reports[0])
    assert dana.get(move(reports[0], "hand-over")).status_code == 200
    assert dana.get(move(reports[0], "claim")).status_code == 405

    assert audited() == []


def test_after_a_decision_the_next_free_one_is_taken(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    html = page(dana, go(dana, START))
    go(omar, START)

    answer = dana.post(item_of(reports[0]), {**form_of(html), "action": "no_violation", "next": ""})

    assert answer["Location"] == item_of(reports[2])


def test_the_resolved_are_nobodys_so_nothing_is_started_there(
    dana: Browser, reports: list[Report]
) -> None:
    html = page(dana, item_of(reports[0]))
    decide(dana, reports[0].item, html, action="no_violation")

    assert go(dana, "/review/resolved/start/") == "/review/resolved/"
    assert "Start reviewing" not in page(dana, "/review/resolved/")
    assert holders() == {}


def test_who_may_only_read_is_offered_no_start_and_moves_nothing(reports: list[Report]) -> None:
    olga = log_in("olga", "operator")

    assert "Start reviewing" not in page(olga, "/review/pending/")
    for address in (START, *(move(reports[0], name) for name in ("skip", "release", "put-aside"))):
        assert olga.post(address).status_code == 403
    assert olga.post(move(reports[0], "hand-over")).status_code == 403
    assert olga.post(move(reports[0], "claim")).status_code == 403


# --- Skipping


def test_five_skips_show_five_different_items_and_then_the_end(
    dana: Browser, reports: list[Report]
) -> None:
    shown = [go(dana, START), *(go(dana, move(report, "skip")) for report in reports)]

    assert shown == [*map(item_of, reports), NONE_LEFT]
    assert "What you skipped comes again when you start anew." in page(dana, NONE_LEFT)
    assert holders() == {}
    assert audited() == ["dana claimed", "dana skipped"] * 5


def test_starting_anew_brings_back_what_was_skipped(dana: Browser, reports: list[Report]) -> None:
    go(dana, START)
    go(dana, move(reports[0], "skip"))
    go(dana, move(reports[1], "release"))

    assert go(dana, START) == item_of(reports[0])
    assert not Skip.objects.exists()


def test_what_one_skips_is_free_for_the_others(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, START)
    go(dana, move(reports[0], "skip"))

    assert go(omar, START) == item_of(reports[0])


def test_skipping_twice_leaves_one_row_and_takes_nothing_from_a_colleague(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, START)
    go(dana, move(reports[0], "skip"))
    go(omar, START)

    go(dana, move(reports[0], "skip"))

    assert audited().count("dana skipped") == 1
    assert holders()[reports[0].item_id] == "omar"


# --- Releasing


def test_a_released_item_is_free_at_once(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, START)

    assert go(dana, move(reports[0], "release")) == NONE_LEFT
    assert go(dana, move(reports[0], "release")) == NONE_LEFT

    assert go(omar, START) == item_of(reports[0])
    assert audited() == ["dana claimed", "dana released", "omar claimed"]


def test_nobody_releases_what_somebody_else_has(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, START)

    go(omar, move(reports[0], "release"))

    assert holders() == {reports[0].item_id: "dana"}
