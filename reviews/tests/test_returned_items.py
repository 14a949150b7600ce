"""What reviewers read of an item that several people brought back, and what a decision makes of it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import PolicyVersion
from reports.models import Report, Return
from reports.tests.reporting_again import (
    judge_safe,
    judged_safe_by,
    report_by,
    report_by_each,
    standings,
    time_passes,
)
from reports.tests.sending import Client
from reviews.decisions import Wish, decide_item
from reviews.invariants import broken_invariants
from reviews.models import Decision
from reviews.tests.people import log_in, page
from reviews.undo import undo_decision

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("dana")]
BRIGADE = "It may be a brigade; the content decides."


@pytest.fixture
def dana() -> Browser:
    return log_in("dana", "reviewer")


def brought_back(client: Client, policy: PolicyVersion) -> Return:
    judged_safe_by(client, policy, "u-1")
    report_by_each(client, "u-2", "u-3")
    return Return.objects.get()


def clear(about: list[Report], *, last: Decision | None = None) -> Decision:
    return decide_item(
        item_id=about[0].item_id,
        reviewer=User.objects.get(username="dana"),
        wish=Wish("no_violation"),
        report_ids=[report.pk for report in about],
        last_decision_id=last.pk if last else None,
    )


def assert_statuses_agree() -> None:
    # Verdicts are written here without a job, which another invariant asks for.
    assert [each for each in broken_invariants() if each.invariant == "V6"] == []


def clear_all() -> Decision:
    last = Decision.objects.order_by("pk").last()
    return clear(list(Report.objects.order_by("pk")), last=last)


def test_the_card_and_the_page_say_why_it_came_back(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    for number in (1, 2, 3):
        elsewhere = {"type": "message", "id": "other"}
        report_by(client_of_sender, f"u-{number}", item=elsewhere)
    time_passes(hours=30)
    returned = brought_back(client_of_sender, policy)

    said = "Brought back by reports: 3 different people have reported it since"
    for address in ("/review/needs-review/", f"/review/items/{returned.item_id}/"):
        html = page(dana, address)
        assert said in html
        assert BRIGADE not in html


def test_a_brigade_is_explained_with_its_counts(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    returned = brought_back(client_of_sender, policy)
    Return.objects.update(reporters=12, fresh=9, unreliable=6)

    for address in ("/review/needs-review/", f"/review/items/{returned.item_id}/"):
        html = page(dana, address)
        assert "9 of the 12 people had never reported anything before." in html
        assert "6 of the 12 people have seldom been right or acted in bad faith before." in html
        assert BRIGADE in html


def test_once_somebody_decided_only_the_story_tells_of_it(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser
) -> None:
    returned = brought_back(client_of_sender, policy)
    html = page(dana, f"/review/items/{returned.item_id}/")
    assert html.count("Brought back by reports") == 2

    clear_all()

    assert "Brought back by reports" not in page(dana, "/review/resolved/")
    html = page(dana, f"/review/items/{returned.item_id}/")
    assert html.count("Brought back by reports") == 1


def test_a_decision_that_is_taken_back_leaves_it_brought_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    returned = brought_back(client_of_sender, policy)
    before = standings()
    decision = clear_all()
    assert standings() == ["resolved"] * 3

    undo_decision(decision_id=decision.pk, reviewer=User.objects.get(username="dana"))

    returned.refresh_from_db()
    assert returned.ended_at is None
    assert standings() == before
    assert_statuses_agree()


def test_what_came_back_meanwhile_stays_before_people_when_the_decision_is_taken_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    first = judged_safe_by(client_of_sender, policy, "u-1")
    decision = clear([first])
    report_by_each(client_of_sender, "u-2", "u-3", "u-4")
    assert standings()[0] == "needs_review"

    undo_decision(decision_id=decision.pk, reviewer=User.objects.get(username="dana"))

    assert standings() == ["needs_review", "pending", "pending", "pending"]
    assert Return.objects.get().ended_at is None
    assert_statuses_agree()


def test_a_report_that_waits_again_for_its_verdict_does_not_pass_after_its_item_came_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    first = report_by(client_of_sender, "u-1")
    decision = clear([first])
    report_by_each(client_of_sender, "u-2", "u-3", "u-4")
    undo_decision(decision_id=decision.pk, reviewer=User.objects.get(username="dana"))
    assert standings() == ["pending"] * 4

    judge_safe(first, policy)

    assert standings()[0] == "needs_review"
    assert_statuses_agree()
