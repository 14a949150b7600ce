"""Several people, or one from several tabs, approve, take back and decide at one moment: one outcome, and
an answer for each of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.test import Client as Browser

from classifier.models import PolicyVersion
from classifier.tests.situations import at_once
from reports.models import AuditEntry, Item, Report
from reports.tests.sending import Client, body_saying
from reviews.invariants import broken_invariants
from reviews.models import Decision, Hold
from reviews.tests.people import classify, decide, form_of, log_in, page, time_runs_out

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/review/needs-review/"
ROUNDS = 3
SPAM = {"category": "spam"}


def send_spam(client: Client, policy: PolicyVersion) -> Report:
    """In review, not severe."""
    report = client.send(body_saying("buy"))
    classify(report, policy, category="spam", safe=False, severity=1, rules=["unsafe_category"])
    return report


def read(browser: Browser, report: Report) -> str:
    """The item's page, and then the reader's time with it runs out."""
    html = page(browser, f"/review/items/{report.item_id}/")
    time_runs_out()
    return html


def propose(browser: Browser, report: Report) -> Decision:
    decide(browser, report.item, read(browser, report), action="suspend", **SPAM)
    return Decision.objects.get(item=report.item_id)


def approving(browser: Browser, report: Report, proposal: Decision) -> Callable[[], Any]:
    values = {**form_of(read(browser, report)), "approve": str(proposal.pk), "stay": ""}
    return partial(browser.post, f"/review/items/{report.item_id}/", values)


def deciding(browser: Browser, report: Report, action: str) -> Callable[[], Any]:
    return partial(decide, browser, report.item, read(browser, report), action=action, **SPAM)


def taking_back(browser: Browser, decision: Decision) -> Callable[[], Any]:
    return partial(browser.post, f"/review/decisions/{decision.pk}/undo/")


def statuses(answers: list[Any]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def kinds(report: Report) -> list[str]:
    rows = Decision.objects.filter(item=report.item_id).order_by("id")
    return list(rows.values_list("kind", flat=True))


def assert_all_agrees() -> None:
    # Verdicts are written here without a job, which another invariant asks for.
    assert [each for each in broken_invariants() if each.invariant == "V6"] == []


def test_of_several_who_approve_at_once_one_does(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dana, *others = (log_in(name, "reviewer") for name in ("dana", "noor", "omar", "sara"))
    for _round in range(ROUNDS):
        report = send_spam(client_of_sender, policy)
        proposal = propose(dana, report)

        answers = at_once([approving(each, report, proposal) for each in others])

        assert statuses(answers) == [302, 409, 409]
        assert proposal.approvals.count() == 1
        assert Report.objects.get(pk=report.pk).status == "resolved"
    assert AuditEntry.objects.filter(action="approved").count() == ROUNDS
    assert not Hold.objects.filter(ended_at=None).exists()
    assert_all_agrees()


def test_a_proposal_is_either_approved_or_taken_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dana, omar = log_in("dana", "reviewer"), log_in("omar", "reviewer")
    for _round in range(ROUNDS):
        report = send_spam(client_of_sender, policy)
        proposal = propose(dana, report)

        answers = at_once([approving(omar, report, proposal), taking_back(dana, proposal)])

        assert answers[1].status_code == 302
        approved = answers[0].status_code == 302
        assert approved or answers[0].status_code == 409
        assert kinds(report) == ["proposal", "decision" if approved else "undo"]
        status = "resolved" if approved else "needs_review"
        assert Report.objects.get(pk=report.pk).status == status
    assert_all_agrees()


def test_a_decision_is_either_overridden_or_taken_back(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dana, omar = log_in("dana", "reviewer"), log_in("omar", "reviewer")
    for _round in range(ROUNDS):
        report = send_spam(client_of_sender, policy)
        deciding(dana, report, "remove")()
        decision = Decision.objects.get(item=report.item_id)

        answers = at_once([deciding(omar, report, "no_violation"), taking_back(dana, decision)])

        assert answers[1].status_code == 302
        overridden = answers[0].status_code == 302
        assert overridden or answers[0].status_code == 409
        assert kinds(report) == ["decision", "decision" if overridden else "undo"]
    assert_all_agrees()


def test_taken_back_from_several_tabs_at_once_is_one_row(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dana = log_in("dana", "reviewer")
    report = send_spam(client_of_sender, policy)
    deciding(dana, report, "remove")()
    tabs = [log_in("dana", "reviewer") for _tab in range(4)]

    answers = at_once([taking_back(tab, Decision.objects.get()) for tab in tabs])

    assert statuses(answers) == [302] * 4
    assert kinds(report) == ["decision", "undo"]
    assert AuditEntry.objects.filter(action="undone").count() == 1
    assert_all_agrees()


def test_an_item_is_decided_once_by_a_bulk_and_by_people_at_once(
    client_of_sender: Client, policy: PolicyVersion
) -> None:
    dana = log_in("dana", "reviewer")
    reports = [send_spam(client_of_sender, policy) for _item in range(6)]
    people = [log_in(f"reviewer-{number}", "reviewer") for number in range(len(reports))]
    shown = page(dana, LIST)
    chosen = [f"{each.item_id}.0.{each.pk}" for each in reports]
    assert all(each in shown for each in chosen)
    bulk = partial(dana.post, f"{LIST}bulk/", {"action": "remove", "item": chosen, **SPAM})
    singles = [deciding(*pair, "warn") for pair in zip(people, reports, strict=True)]

    calls: list[Callable[[], Any]] = [bulk, *singles]
    answers = at_once(calls)

    assert answers[0].status_code == 200
    html = answers[0].content.decode()
    for report, answer in zip(reports, answers[1:], strict=True):
        (decision,) = Decision.objects.filter(item=report.item_id)
        first = decision.action_id == "warn"
        assert answer.status_code == (302 if first else 409)
    late = Decision.objects.filter(action="warn").count()
    assert html.count("Decided: remove.") == len(reports) - late
    assert AuditEntry.objects.filter(action="decided").count() == len(reports)
    assert set(Item.objects.values_list("list", flat=True)) == {"resolved"}
    assert_all_agrees()
