"""Moving through a list: start, skip, release, put aside, hand over; who gets what, and who does not."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item, Report
from reports.tests.sending import Client, body_saying
from reviews.models import Claim, Hold, Preferences, Skip
from reviews.tests.people import classify, decide, judge_threat, log_in, page, time_runs_out

START = "/review/pending/start/"
NONE_LEFT = "/review/pending/"


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def omar(db: None) -> Browser:  # noqa: ARG001
    return log_in("omar", "reviewer")


@pytest.fixture
def reports(client_of_sender: Client) -> list[Report]:
    """Five pending items, in the list's order."""
    return [client_of_sender.send(body_saying(f"text {number}")) for number in range(5)]


def go(browser: Browser, address: str, **values: str) -> str:
    """Where a move leads."""
    answer = browser.post(address, values)
    assert answer.status_code == 302, (address, answer.status_code)
    return str(answer["Location"])


def item_of(report: Report) -> str:
    return f"/review/items/{report.item_id}/?from=pending"


def move(report: Report, name: str) -> str:
    return f"/review/items/{report.item_id}/{name}/?from=pending"


def audited() -> list[str]:
    """What people did, in order."""
    people = AuditEntry.objects.filter(actor__isnull=False).order_by("id")
    return [f"{each.actor_name} {each.action}" for each in people]


def holders() -> dict[int, str]:
    claims = Claim.objects.in_force().select_related("reviewer")
    return {each.item_id: each.reviewer.username for each in claims}


# --- Start and next


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

    answer = dana.post(item_of(reports[0]), {**_form(html), "action": "no_violation", "next": ""})

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
    shown = [go(dana, START)]
    for report in reports:
        shown.append(go(dana, move(report, "skip")))

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


# --- Putting aside


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

    assert go(dana, move(reports[0], "put-aside"), hours="1") == item_of(reports[0])

    assert "the item is held" in page(dana, item_of(reports[0]))
    assert Hold.objects.get().kind == kind


@pytest.mark.parametrize("values", [{}, {"hours": "2"}, {"hours": "1", "note": "n" * 1_001}])
def test_a_time_that_is_not_offered_puts_nothing_aside(
    dana: Browser, reports: list[Report], values: dict[str, str]
) -> None:
    assert go(dana, move(reports[0], "put-aside"), **values) == item_of(reports[0])

    assert not Hold.objects.exists()
    assert "It was not put aside" in page(dana, item_of(reports[0]))


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


# --- Who is not given what


@pytest.mark.parametrize(
    ("kind", "by", "is_lead", "given"),
    [
        (Hold.Kind.ESCALATED, "omar", False, False),
        (Hold.Kind.ESCALATED, "omar", True, True),
        (Hold.Kind.SECOND_APPROVAL, "omar", False, True),
        (Hold.Kind.SECOND_APPROVAL, "dana", False, False),
        (Hold.Kind.SECOND_APPROVAL, "dana", True, False),
    ],
)
def test_what_waits_for_somebody_is_given_to_them_alone(
    reports: list[Report], kind: Hold.Kind, by: str, *, is_lead: bool, given: bool
) -> None:
    dana = log_in("dana", "reviewer")
    if is_lead:
        User.objects.filter(username="dana").update(is_superuser=True)
    hold(reports[0], by, kind)

    assert go(dana, START) == item_of(reports[0 if given else 1])

    go(dana, "/review/pending/start/")
    time_runs_out()
    page(dana, item_of(reports[0]))
    assert (holders().get(reports[0].item_id) == "dana") == given


def test_a_category_that_one_has_opted_out_of_is_not_given(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    threat = client_of_sender.send(body_saying("a threat"))
    judge_threat(threat, policy)
    spam = client_of_sender.send(body_saying("spam"))
    spam_verdict = {"category": "spam", "severity": 1, "safe": False, "rules": ["unsafe_category"]}
    classify(spam, policy, **spam_verdict)
    Preferences.objects.create(user_id=pk("dana"), opted_out=["credible_threat"])

    start = "/review/needs-review/start/"
    assert go(dana, start) == f"/review/items/{spam.item_id}/?from=needs-review"
    assert go(log_in("omar", "reviewer"), start).startswith(f"/review/items/{threat.item_id}/")


def test_when_all_that_is_left_is_in_other_hands_it_says_so(
    dana: Browser, omar: Browser, reports: list[Report]
) -> None:
    for report in reports:
        page(omar, item_of(report))

    assert go(dana, START) == NONE_LEFT

    html = page(dana, NONE_LEFT)
    assert "what is left is in other hands" in html
    assert html.count("<bdi>omar</bdi> has it until") == 5


# --- What the page is told


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
    minutes = 8 * 60 - 4
    Claim.objects.update(claimed_at=F("claimed_at") - timedelta(minutes=minutes))

    told = beat(dana, reports[0])

    assert 4 * 60 - 2 <= int(str(told["seconds"])) <= 10 * 60
    time_runs_out(minutes=4)
    assert beat(dana, reports[0])["seconds"] in {*range(0, 10 * 60)}


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
    values = {**_form(html), "newest": str(report.pk), "action": "no_violation", "stay": ""}
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


# --- Helpers


def pk(name: str) -> int:
    return User.objects.get(username=name).pk


def hold(report: Report, by: str, kind: Hold.Kind) -> None:
    placed_by, _made = User.objects.get_or_create(username=by)
    Hold.objects.create(item_id=report.item_id, kind=kind, placed_by=placed_by)


def _form(html: str) -> dict[str, str]:
    from reviews.tests.people import form_of

    return form_of(html)
