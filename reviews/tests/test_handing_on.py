"""Out of one's hands: put aside until a time, or handed to a colleague who is given it first."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client as Browser

from reports.models import AuditEntry, Report
from reviews.models import Claim, Hold
from reviews.tests.moving import START, audited, go, hold, holders, item_of, move, pk
from reviews.tests.people import (
    log_in,
    page,
)


def refused(browser: Browser, report: Report, status: int, **values: str) -> str:
    """The page that says why an item was not put aside."""
    answer = browser.post(move(report, "put-aside"), values)
    assert answer.status_code == status
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize("hours", [1, 4, 24])
def test_what_is_put_aside_comes_to_nobody_until_its_time_and_keeps_its_place(
    dana: Browser, omar: Browser, reports: list[Report], hours: int
) -> None:
    go(dana, START)
    aside = {"hours": str(hours), "note": "asked the \u202elawyers"}

    assert go(dana, move(reports[0], "put-aside"), **aside) == item_of(reports[1])

    assert go(omar, START) == item_of(reports[2])
    html = page(omar, "/review/pending/")
    assert "Put aside by <bdi>dana</bdi> until" in html
    assert 'asked the <span class="glyph">U+202E</span>lawyers' in html
    assert html.index("text 0") < html.index("text 1")
    assert audited()[:2] == ["dana claimed", "dana put_aside"]
    lasts = Hold.objects.get().until - Hold.objects.get().placed_at  # type: ignore[operator]
    assert lasts == timedelta(hours=hours)

    Hold.objects.update(until=F("placed_at"))
    go(omar, move(reports[2], "release"))
    assert go(omar, START) == item_of(reports[0])


def test_putting_aside_twice_leaves_one_row_and_doing_it_anew_another(
    dana: Browser, reports: list[Report]
) -> None:
    address = move(reports[0], "put-aside")
    page(dana, item_of(reports[0]))
    go(dana, address, hours="1")
    go(dana, address, hours="1")
    assert audited().count("dana put_aside") == 1

    page(dana, item_of(reports[0]))
    go(dana, address, hours="24")

    assert audited().count("dana put_aside") == 2
    assert Hold.objects.in_force().count() == 1


def test_who_opens_what_was_put_aside_has_it(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    go(dana, move(reports[0], "put-aside"), hours="1")

    page(omar, item_of(reports[0]))

    assert holders()[reports[0].item_id] == "omar"


@pytest.mark.parametrize("kind", [Hold.Kind.ESCALATED, Hold.Kind.SECOND_APPROVAL])
def test_what_waits_for_another_person_cannot_be_put_aside(
    dana: Browser, reports: list[Report], kind: Hold.Kind
) -> None:
    hold(reports[0], "omar", kind)

    html = refused(dana, reports[0], 409, hours="1", note="a long story")

    assert "the item is held" in html
    assert "a long story</textarea>" in html
    assert Hold.objects.get().kind == kind


@pytest.mark.parametrize("values", [{}, {"hours": "2"}, {"hours": "1", "note": "n" * 1_001}])
def test_a_time_that_is_not_offered_puts_nothing_aside(
    dana: Browser, reports: list[Report], values: dict[str, str]
) -> None:
    html = refused(dana, reports[0], 422, **{"note": "typed", **values})

    assert not Hold.objects.exists()
    assert f"{values.get('note', 'typed')}</textarea>" in html
    assert 'role="alert"' in html


def test_the_note_of_putting_aside_stays_when_somebody_else_has_the_item(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    page(omar, item_of(reports[0]))

    html = refused(dana, reports[0], 409, hours="1", note="typed <i>for</i> long")

    assert "\u2068omar\u2069 has this item until" in html
    assert "typed &lt;i&gt;for&lt;/i&gt; long</textarea>" in html
    assert not Hold.objects.exists()


def test_a_line_break_counts_once_in_a_note(dana: Browser, reports: list[Report]) -> None:
    go(dana, move(reports[0], "put-aside"), hours="1", note="a\r\n" * 499 + "bb")

    assert len(Hold.objects.get().note) == 1_000


# --- Handing over


def test_what_is_handed_over_comes_first_to_the_colleague_with_the_note_and_to_nobody_else(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    last = reports[4]
    page(dana, item_of(last))
    given = {"to": str(pk("omar")), "note": "You know the slang."}

    assert go(dana, move(last, "hand-over"), **given) == item_of(reports[0])

    assert go(omar, "/review/needs-review/start/").startswith(f"/review/items/{last.item_id}/")
    html = page(omar, item_of(last))
    assert "<bdi>dana</bdi> handed this item to you." in html
    assert "You know the slang." in html
    assert audited() == ["dana claimed", "dana handed_over", "dana claimed"]
    claim = Claim.objects.in_force().get(item=last.item_id)
    assert claim.expires_at - claim.claimed_at == timedelta(hours=4)


def test_the_giver_sees_who_has_it_and_can_take_it_back(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    page(dana, item_of(reports[0]))
    go(dana, move(reports[0], "hand-over"), to=str(pk("omar")))
    html = page(dana, item_of(reports[0]))
    assert "<bdi>omar</bdi> has this item until" in html
    assert "Take it back" in html

    assert go(dana, move(reports[0], "release"), stay="") == item_of(reports[0])

    page(dana, item_of(reports[0]))
    assert holders()[reports[0].item_id] == "dana"
    assert "Take it back" not in page(omar, item_of(reports[0]))


def test_handing_over_twice_leaves_one_row(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    del omar
    for _ in range(2):
        go(dana, move(reports[0], "hand-over"), to=str(pk("omar")))

    assert audited().count("dana handed_over") == 1


def test_a_later_note_takes_the_place_of_the_first(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    given, address = {"to": str(pk("omar"))}, move(reports[0], "hand-over")
    for note in ("at first", "look at message 3", "", "look at message 3"):
        go(dana, address, **given, note=note)

    assert "look at message 3" in page(omar, item_of(reports[0]))
    assert Claim.objects.in_force().get(item=reports[0].item_id).note == "look at message 3"
    assert audited().count("dana handed_over") == 2


def test_only_an_active_colleague_who_may_decide_is_offered_and_taken(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    del omar
    log_in("olga", "operator")
    log_in("gone", "reviewer")
    User.objects.filter(username="gone").update(is_active=False)
    address = move(reports[0], "hand-over")

    html = page(dana, address)

    assert ">omar</option>" in html
    for name in ("olga", "gone", "dana"):
        assert f">{name}</option>" not in html
        answer = dana.post(address, {"to": str(pk(name)), "note": "typed"})
        assert answer.status_code == 422
        assert "typed</textarea>" in " ".join(answer.content.decode().split())
    assert not Claim.objects.exists()


def test_what_somebody_else_has_is_not_handed_over_and_the_note_is_kept(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    log_in("noor", "reviewer")
    go(omar, START)

    answer = dana.post(
        move(reports[0], "hand-over"), {"to": str(pk("noor")), "note": "typed for long"}
    )

    html = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert "\u2068omar\u2069 has this item until" in html
    assert "typed for long</textarea>" in html
    assert holders() == {reports[0].item_id: "omar"}


def test_a_proposal_is_not_handed_to_who_made_it(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    del omar
    hold(reports[0], "omar", Hold.Kind.SECOND_APPROVAL)

    answer = dana.post(move(reports[0], "hand-over"), {"to": str(pk("omar"))})

    assert answer.status_code == 409


@pytest.mark.usefixtures("omar")
def test_who_leads_takes_an_item_over_from_a_colleague_who_is_away(
    dana: Browser, reports: list[Report]
) -> None:
    lina = log_in("lina", "lead")
    page(dana, item_of(reports[0]))
    go(dana, move(reports[0], "hand-over"), to=str(pk("omar")))
    User.objects.filter(username="omar").update(is_active=False)

    assert f'name="holder" value="{pk("omar")}"' in page(lina, item_of(reports[0]))
    assert "Take it over" not in page(log_in("olga", "reviewer"), item_of(reports[0]))
    address = move(reports[0], "release")
    assert go(lina, address, holder=str(pk("omar")), stay="") == item_of(reports[0])
    page(lina, item_of(reports[0]))

    assert holders()[reports[0].item_id] == "lina"
    assert audited()[-2:] == ["lina released", "lina claimed"]
    entry = AuditEntry.objects.get(action="released")
    assert entry.detail == {"from": pk("omar")}


def test_whoever_has_it_by_then_keeps_it_and_who_does_not_lead_takes_nothing_over(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    page(dana, item_of(reports[0]))
    address = move(reports[0], "release")

    assert omar.post(address, {"holder": str(pk("dana"))}).status_code == 403
    go(log_in("lina", "lead"), address, holder=str(pk("omar")))

    assert holders() == {reports[0].item_id: "dana"}
    assert audited() == ["dana claimed"]
