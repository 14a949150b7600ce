"""Opening an item takes it for a while: nobody else decides about it, and no machine moves it away."""

from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now

from classifier.models import PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again, next_version
from classifier.tests.situations import at_once
from reports.models import Report
from reports.tests.sending import Client, body_saying
from reviews.claims import claim_item
from reviews.decisions import Wish, decide_item
from reviews.models import Claim, Decision, Hold
from reviews.tests.moving import meanwhile
from reviews.tests.people import decide, judge_threat, log_in, page, time_runs_out


def address(report: Report) -> str:
    return f"/review/items/{report.item_id}/"


def held_by() -> list[tuple[str, bool]]:
    """Who holds what in force, and whether for nearly ten minutes from now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT username, expires_at BETWEEN clock_timestamp() + interval '590 seconds'"
            " AND clock_timestamp() + interval '600 seconds'"
            " FROM reviews_claim JOIN auth_user ON auth_user.id = reviewer_id"
            " WHERE released_at IS NULL AND expires_at > clock_timestamp()"
        )
        return list(cursor.fetchall())


@pytest.fixture
def report(client_of_sender: Client) -> Report:
    return client_of_sender.send(body_saying("contested"))


def test_opening_an_item_holds_it_for_ten_minutes_and_opening_it_again_renews_that(
    report: Report,
) -> None:
    dana = log_in("dana", "reviewer")

    page(dana, address(report))
    time_runs_out(minutes=5)
    assert held_by() == [("dana", False)]
    page(dana, address(report))

    assert held_by() == [("dana", True)]
    assert Claim.objects.count() == 1


def test_another_reviewer_sees_who_has_it_and_until_when_and_is_offered_no_decision(
    report: Report,
) -> None:
    dana, omar = log_in("dana", "reviewer"), log_in("omar", "reviewer")
    assert 'name="action"' in page(dana, address(report))

    html = page(omar, address(report))

    until = Claim.objects.get().expires_at.strftime("%H:%M")
    assert f"<bdi>dana</bdi> has this item until {until}.</strong>" in html
    assert 'name="action"' not in html
    assert held_by() == [("dana", True)]


def test_while_somebody_else_has_it_a_decision_is_refused_and_what_was_typed_is_kept(
    report: Report,
) -> None:
    dana, omar = log_in("dana", "reviewer"), log_in("omar", "reviewer")
    seen = page(dana, address(report))
    time_runs_out()
    page(omar, address(report))

    answer = decide(dana, report.item, seen, action="no_violation", note="typed for long")

    html = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert "<bdi>omar</bdi> has this item until" in html
    assert "typed for long</textarea>" in html
    assert not Decision.objects.exists()
    assert held_by() == [("omar", True)]


def test_after_ones_time_has_run_out_a_decision_counts_where_nobody_else_took_the_item(
    report: Report,
) -> None:
    dana = log_in("dana", "reviewer")
    html = page(dana, address(report))
    time_runs_out()

    assert decide(dana, report.item, html, action="no_violation").status_code == 302

    assert Decision.objects.get().action_id == "no_violation"
    assert Claim.objects.in_force().count() == 0


def test_whose_time_has_run_out_gives_way_to_the_next(report: Report) -> None:
    page(log_in("dana", "reviewer"), address(report))
    time_runs_out()

    html = page(log_in("omar", "reviewer"), address(report))

    assert held_by() == [("omar", True)]
    assert "has this item until" not in html


def test_deciding_releases_it_and_what_is_resolved_is_not_held(report: Report) -> None:
    dana = log_in("dana", "reviewer")
    html = page(dana, address(report))

    decide(dana, report.item, html, action="no_violation")
    page(dana, address(report))

    assert held_by() == []
    assert Claim.objects.get().released_at is not None


@pytest.mark.parametrize("method", ["get", "head"])
def test_who_may_not_decide_or_does_not_look_holds_nothing(report: Report, method: str) -> None:
    browser = log_in("olga", *(["operator"] if method == "get" else ["reviewer"]))

    assert getattr(browser, method)(address(report)).status_code == 200

    assert not Claim.objects.exists()


def test_who_may_only_read_sees_who_has_it_and_is_not_told_to_decide(report: Report) -> None:
    page(log_in("dana", "reviewer"), address(report))

    html = page(log_in("olga", "operator"), address(report))

    assert "<bdi>dana</bdi> has this item until" in html
    assert "yours to decide" not in html


@pytest.mark.django_db
def test_an_item_that_is_not_there_is_not_held() -> None:
    claim_item(item_id=4711, reviewer=User.objects.create(username="dana"))

    assert not Claim.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_eight_who_open_it_at_once_one_holds_it(report: Report) -> None:
    people = [User.objects.create(username=f"reviewer-{n}") for n in range(8)]

    at_once([partial(claim_item, item_id=report.item_id, reviewer=each) for each in people])

    assert len(held_by()) == Claim.objects.count() == 1


# --- Opened in the very moment in which it comes to wait for somebody else


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("action", "who"), [("escalate", "omar"), ("suspend", "dana")])
def test_who_opens_it_while_it_is_escalated_or_proposed_does_not_take_it(
    report: Report, action: str, who: str
) -> None:
    log_in("omar", "reviewer")
    dana, omar = (User.objects.get_or_create(username=name)[0] for name in ("dana", "omar"))
    assert omar.has_perm("reviews.decide_items")
    opens = {"dana": dana, "omar": omar}[who]
    taken: list[bool] = []

    meanwhile(
        lambda: decide_item(
            item_id=report.item_id,
            reviewer=dana,
            wish=Wish(action, "spam"),
            report_ids=[report.pk],
            last_decision_id=None,
        ),
        lambda: taken.append(claim_item(item_id=report.item_id, reviewer=opens)),
    )

    assert taken == [False]
    assert not Claim.objects.exists()


# --- A newer verdict that would take it out of review


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("held_first", [True, False])
def test_a_waiting_report_that_passes_as_safe_leaves_review_only_when_nobody_holds_it(
    report: Report,
    policy: PolicyVersion,
    *,
    held_first: bool,
) -> None:
    judge_threat(report, policy)
    batch = make_batch(next_version())
    dana = User.objects.create(username="dana")
    hold = partial(claim_item, item_id=report.item_id, reviewer=dana)
    judge = partial(ask_again, report, batch, category="none")

    if held_first:
        meanwhile(hold, judge)
    else:
        meanwhile(judge, hold)

    report.refresh_from_db()
    assert report.status == ("needs_review" if held_first else "judged_safe")
    assert report.current_classification().safe
    assert held_by() == [("dana", True)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("over", ["released", "run out"])
def test_a_hold_that_is_over_keeps_nothing_in_review(
    report: Report, policy: PolicyVersion, over: str
) -> None:
    judge_threat(report, policy)
    claim_item(item_id=report.item_id, reviewer=User.objects.create(username="dana"))
    if over == "released":
        Claim.objects.update(released_at="2026-11-01T10:00Z")
    else:
        time_runs_out()

    ask_again(report, make_batch(next_version()), category="none")

    report.refresh_from_db()
    assert report.status == "judged_safe"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("hours", "status"), [(1, "needs_review"), (-1, "judged_safe")])
def test_what_was_put_aside_stays_in_review_until_its_time(
    report: Report, policy: PolicyVersion, hours: int, status: str
) -> None:
    judge_threat(report, policy)
    Hold.objects.create(
        item=report.item,
        kind=Hold.Kind.PUT_ASIDE,
        placed_by=User.objects.create(username="dana"),
        until=Now() + timedelta(hours=hours),
    )

    ask_again(report, make_batch(next_version()), category="none")

    report.refresh_from_db()
    assert report.status == status
