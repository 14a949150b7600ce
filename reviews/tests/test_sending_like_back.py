"""What is like a found miss goes back to people in one press, and stays with them."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser

from classifier.models import Disagreement, PolicyVersion
from classifier.tests import history
from classifier.tests.batches import make_batch
from reports.models import AuditEntry, Report, Severity
from reports.tests.invalidating import invalidate
from reports.tests.sending import Client, body_saying
from reviews.models import BlindAudit, Decision
from reviews.quality.reopen import send_back
from reviews.tests.misses import MISSED, find_missed, send_safe
from reviews.tests.people import classify, decide, log_in, page


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def lena(db: None) -> Browser:  # noqa: ARG001
    return log_in("lena", "lead")


@pytest.fixture
def audit(client_of_sender: Client, policy: PolicyVersion, dana: Browser) -> BlindAudit:
    return find_missed(dana, send_safe(client_of_sender, policy, "the same words"))


def press(browser: Browser, audit: BlindAudit, *reports: Report) -> Any:
    sent = {"audit": audit.pk, "report": [report.pk for report in reports]}
    return browser.post(MISSED, sent)


def status_of(report: Report) -> tuple[str, str]:
    report = Report.objects.select_related("item").get(pk=report.pk)
    return str(report.status), str(report.item.list)


def rows() -> list[AuditEntry]:
    return list(AuditEntry.objects.filter(action="sent_back"))


def test_the_chosen_go_back_to_review_each_item_with_its_answer_and_audit_row(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    one, two, left = (send_safe(client_of_sender, policy, "the same words") for _ in range(3))

    html = " ".join(press(lena, audit, one, two).content.decode().split())

    assert [status_of(each) for each in (one, two)] == [("needs_review", "needs_review")] * 2
    assert status_of(left) == ("judged_safe", "judged_safe")
    assert html.count("1 report sent back to review.") == 2
    assert [(row.object_id, row.actor_name, row.detail) for row in rows()] == [
        (
            str(each.item_id),
            "lena",
            {"like_the_miss": audit.pk, "found": "hate", "reports": [str(each.public_id)]},
        )
        for each in (one, two)
    ]


def test_sent_twice_it_changes_nothing_more(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")
    press(lena, audit, like)

    html = press(lena, audit, like).content.decode()

    assert "Nothing was changed: it is not judged safe any more." in html
    assert len(rows()) == 1


def test_what_somebody_decided_meanwhile_stays_decided(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, dana: Browser, lena: Browser
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")
    html = page(dana, f"/review/items/{like.item_id}/")
    decide(dana, like.item, html, action="no_violation")

    press(lena, audit, like)

    assert status_of(like) == ("resolved", "resolved")
    assert rows() == []


def test_several_reports_of_one_item_have_one_audit_row(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    body = body_saying("the same words")
    reports = [client_of_sender.send({**body, "comment": comment}) for comment in "ab"]
    for each in reports:
        classify(each, policy)

    html = press(lena, audit, *reports).content.decode()

    assert "2 reports sent back to review." in html
    (row,) = rows()
    assert row.detail["reports"] == [str(each.public_id) for each in reports]


def test_no_newer_policy_takes_it_away_from_people_again(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")
    lead = User.objects.get(username="dana")
    send_back(audit=audit, report_ids=[like.pk], lead=lead)

    history.ask_again(like, make_batch(history.next_version()), category="none")

    assert status_of(like) == ("needs_review", "needs_review")


def test_it_stands_where_what_was_missed_would_stand_and_says_why(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")

    press(lena, audit, like)

    like.refresh_from_db()
    severity = Severity(Decision.objects.get(audits=audit).severity or 0)
    assert severity > Severity.NONE
    assert (like.floor, like.rank, like.floor_rules) == (severity, severity, ["like_a_miss"])
    why = "It is like something that an audit found to be missed."
    assert why in page(lena, "/review/needs-review/")
    assert why in page(lena, "/review/needs-review/?rule=like_a_miss")
    html = page(lena, f"/review/items/{like.item_id}/")
    assert html.count(why) == 2  # at its head and beside what the machine answered
    assert "<bdi>lena</bdi> sent it back to review, for it is like something" in html
    assert "Found there: Hate." in html


def test_what_a_batch_disagreed_about_is_settled_when_it_is_sent_back(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")
    history.ask_again(like, make_batch(history.next_version()), category="hate")
    assert Disagreement.objects.get().state == "open"

    press(lena, audit, like)

    assert Disagreement.objects.get().state == "settled"


def test_an_invalidation_of_who_reported_it_does_not_close_it(
    client_of_sender: Client, policy: PolicyVersion, dana: Browser, lena: Browser
) -> None:
    missed, like = (send_safe(client_of_sender, policy, "Buy cheap watches.") for _ in range(2))
    press(lena, find_missed(dana, missed, category="spam"), like)
    like.refresh_from_db()
    assert like.rank < Severity.HIGH

    invalidate(like)

    assert status_of(like) == ("needs_review", "needs_review")


@pytest.mark.parametrize("reports", [[], ["x"], ["-1"], ["1"] * 61])
def test_a_form_that_names_no_reports_is_refused_with_the_list(
    audit: BlindAudit, lena: Browser, reports: list[str]
) -> None:
    answer = lena.post(MISSED, {"audit": audit.pk, "report": reports})

    assert answer.status_code == 422
    assert "the same words" in answer.content.decode()


def test_only_an_audit_that_found_something_can_be_the_reason(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit, lena: Browser
) -> None:
    like = send_safe(client_of_sender, policy, "the same words")
    BlindAudit.objects.update(decision=None)

    assert press(lena, audit, like).status_code == 422
    assert status_of(like) == ("judged_safe", "judged_safe")


def test_reports_that_are_not_there_are_said_to_be_gone(audit: BlindAudit, lena: Browser) -> None:
    answer = lena.post(MISSED, {"audit": audit.pk, "report": ["999999999"]})

    assert "None of these reports is there any more." in answer.content.decode()


def test_who_may_only_read_does_not_send_back(
    client_of_sender: Client, policy: PolicyVersion, audit: BlindAudit
) -> None:
    operator = log_in("omar", "operator")
    like = send_safe(client_of_sender, policy, "the same words")

    assert "Send back to review" not in page(operator, MISSED)
    assert press(operator, audit, like).status_code == 403
    assert status_of(like) == ("judged_safe", "judged_safe")
