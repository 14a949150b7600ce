"""Undo: within its time, by who decided, back to what was and to what has come since; one audit row."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client as Browser
from pytest_django import Settings

from classifier.batches.reopen import reopen_disagreements
from classifier.models import Disagreement, PolicyVersion
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again, disagreement_about, judged_safe, next_version
from conftest import check_constraints_now
from reports.models import AuditEntry, Item, Report
from reports.tests.sending import Client, body_saying
from reviews.claims import HeldByAnotherError, claim_item
from reviews.decisions import StaleDecisionError, Wish, decide_item
from reviews.invariants import broken_invariants
from reviews.models import Claim, Decision, Hold
from reviews.tests.people import classify, decide, judge_threat, log_in, page, time_runs_out
from reviews.undo import NotTheirsError, TooLateError, undo_decision

pytestmark = pytest.mark.usefixtures("policy")
THREAT = "credible_threat"


@pytest.fixture
def dana(db: None) -> User:  # noqa: ARG001
    return User.objects.create(username="dana")


def wish(report: Report, action: str, reviewer: User, **words: str) -> Decision:
    last = Decision.objects.filter(item=report.item_id).last()
    return decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=Wish(action, **words),
        report_ids=[report.pk],
        last_decision_id=last.pk if last else None,
    )


def take_back(decision: Decision, reviewer: User) -> Decision:
    undo = undo_decision(decision_id=decision.pk, reviewer=reviewer)
    check_constraints_now()
    assert_statuses_agree()
    return undo


def assert_statuses_agree() -> None:
    # Verdicts are written here without a job, which another invariant asks for.
    assert [each for each in broken_invariants() if each.invariant == "V6"] == []


def stands(report: Report) -> tuple[str, str, bool]:
    """The report's status, its item's list, and whether it counts as upheld."""
    fresh = Report.objects.select_related("item").get(pk=report.pk)
    return fresh.status, fresh.item.list, fresh.upheld_at is not None


@pytest.mark.parametrize("before", ["pending", "needs_review", "judged_safe", "resolved"])
@pytest.mark.parametrize("action", ["no_violation", "remove", "suspend", "escalate", "reopen"])
def test_everything_stands_again_as_it_did(
    client_of_sender: Client, policy: PolicyVersion, dana: User, before: str, action: str
) -> None:
    report = client_of_sender.send(body_saying("x"))
    if before == "needs_review":
        judge_threat(report, policy)
    elif before == "judged_safe":
        classify(report, policy)
    elif before == "resolved":
        wish(report, "remove", dana)
    was = stands(report)
    assert was[0] == before
    decision = wish(report, action, dana)
    audited = AuditEntry.objects.count()

    take_back(decision, dana)

    assert stands(report) == was
    assert not Hold.objects.filter(ended_at=None).exists()
    assert AuditEntry.objects.count() == audited + 1
    entry = AuditEntry.objects.latest("id")
    assert (entry.action, entry.actor_name) == ("undone", "dana")


def test_the_item_is_in_the_reviewers_hands_again(client_of_sender: Client, dana: User) -> None:
    report = client_of_sender.send(body_saying("x"))

    take_back(wish(report, "remove", dana), dana)

    assert Claim.objects.in_force().get(item=report.item_id).reviewer == dana


def test_twice_is_one_row(client_of_sender: Client, dana: User) -> None:
    decision = wish(client_of_sender.send(body_saying("x")), "remove", dana)

    assert take_back(decision, dana) == take_back(decision, dana)
    assert Decision.objects.filter(kind="undo").count() == 1
    assert AuditEntry.objects.filter(action="undone").count() == 1


def test_once_in_effect_it_is_too_late(
    client_of_sender: Client, dana: User, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 0
    report = client_of_sender.send(body_saying("x"))
    for action in ("remove", "suspend"):
        decision = wish(report, action, dana)
        was = stands(report)

        with pytest.raises(TooLateError):
            undo_decision(decision_id=decision.pk, reviewer=dana)
        assert stands(report) == was
    assert not Decision.objects.filter(kind="undo").exists()


def test_another_person_takes_nothing_back(client_of_sender: Client, dana: User) -> None:
    decision = wish(client_of_sender.send(body_saying("x")), "remove", dana)

    with pytest.raises(NotTheirsError):
        undo_decision(decision_id=decision.pk, reviewer=User.objects.create(username="omar"))


def test_what_somebody_decided_since_stands(client_of_sender: Client, dana: User) -> None:
    report = client_of_sender.send(body_saying("x"))
    decision = wish(report, "remove", dana)
    later = wish(report, "warn", User.objects.create(username="omar"))

    with pytest.raises(StaleDecisionError) as error:
        undo_decision(decision_id=decision.pk, reviewer=dana)
    assert error.value.standing == later


def test_an_undo_is_not_undone(client_of_sender: Client, dana: User) -> None:
    undo = take_back(wish(client_of_sender.send(body_saying("x")), "remove", dana), dana)

    with pytest.raises(Decision.DoesNotExist):
        undo_decision(decision_id=undo.pk, reviewer=dana)


@pytest.mark.parametrize("safe", [True, False])
def test_a_verdict_that_came_meanwhile_counts(
    client_of_sender: Client, policy: PolicyVersion, dana: User, *, safe: bool
) -> None:
    report = client_of_sender.send(body_saying("x"))
    decision = wish(report, "remove", dana)
    (classify if safe else judge_threat)(report, policy)
    assert stands(report)[0] == "resolved"

    take_back(decision, dana)

    status = "judged_safe" if safe else "needs_review"
    assert stands(report) == (status, status, False)


def test_an_override_gives_way_to_what_it_overrode(client_of_sender: Client, dana: User) -> None:
    report = client_of_sender.send(body_saying("x"))
    first = wish(report, "remove", dana)
    second = wish(report, "no_violation", dana)
    assert stands(report) == ("resolved", "resolved", False)

    take_back(second, dana)

    assert stands(report) == ("resolved", "resolved", True)
    assert Decision.objects.filter(item=report.item_id).standing().latest("id") == first
    again = wish(report, "warn", dana)
    assert set(again.reports.all()) == {report}
    check_constraints_now()


def test_a_disagreement_that_it_settled_is_open_again(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    report = judged_safe(client_of_sender, policy)
    ask_again(report, make_batch(next_version()), category="hate")
    decision = wish(report, "remove", dana)
    assert disagreement_about(report).state == Disagreement.State.SETTLED

    take_back(decision, dana)

    assert stands(report)[0] == "judged_safe"
    assert disagreement_about(report).state == Disagreement.State.OPEN


def a_second_thought_and_a_batch(
    client: Client, policy: PolicyVersion, reviewer: User, second: str
) -> tuple[Report, Decision]:
    """A person found no violation and then thought again; meanwhile a batch finds one."""
    report = judged_safe(client, policy)
    wish(report, "no_violation", reviewer)
    decision = wish(report, second, reviewer)
    ask_again(report, make_batch(next_version()), category="hate")
    return report, decision


def test_what_a_batch_found_beside_a_decision_that_upheld_it_is_listed(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    report, decision = a_second_thought_and_a_batch(client_of_sender, policy, dana, "remove")
    assert not Disagreement.objects.exists()

    take_back(decision, dana)

    assert stands(report) == ("resolved", "resolved", False)
    found = disagreement_about(report)
    assert (found.state, found.unseen, found.batch is None) == ("open", False, False)
    assert found.severity == found.classification.severity


def test_what_a_batch_sent_back_to_people_stays_with_them(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    report, decision = a_second_thought_and_a_batch(client_of_sender, policy, dana, "no_violation")
    batch = disagreement_about(report).batch
    assert batch is not None
    reopen_disagreements(batch_id=batch.pk, at_most=1, actor_name="test")

    take_back(decision, dana)

    assert stands(report) == ("needs_review", "needs_review", False)


@pytest.mark.parametrize("action", ["escalate", "reopen", "suspend"])
def test_who_has_taken_the_item_since_keeps_it(
    client_of_sender: Client, policy: PolicyVersion, dana: User, action: str
) -> None:
    report = client_of_sender.send(body_saying("x"))
    judge_threat(report, policy)
    decision = wish(report, action, dana)
    lena = User.objects.create(username="lena", is_superuser=True)
    assert claim_item(item_id=report.item_id, reviewer=lena)

    take_back(decision, dana)

    assert Claim.objects.in_force().get(item=report.item_id).reviewer == lena
    assert stands(report)[0] == "needs_review"
    assert not Hold.objects.filter(ended_at=None).exists()
    with pytest.raises(HeldByAnotherError):
        wish(report, "warn", dana)


def test_an_escalation_that_a_decision_ended_waits_again(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    report = client_of_sender.send(body_saying("x"))
    judge_threat(report, policy)
    escalated = wish(report, "escalate", dana, note="look")
    lead = User.objects.create(username="lena", is_superuser=True)
    decision = wish(report, "remove", lead)

    take_back(decision, lead)

    assert Hold.objects.get(ended_at=None).kind == Hold.Kind.ESCALATED
    assert Decision.objects.filter(item=report.item_id).standing().latest("id") == escalated


def test_an_approval_that_is_taken_back_makes_room_for_another(
    client_of_sender: Client, policy: PolicyVersion, dana: User
) -> None:
    report = client_of_sender.send(body_saying("x"))
    judge_threat(report, policy)
    proposal = wish(report, "suspend", dana, category=THREAT)
    omar = User.objects.create(username="omar")
    first = wish(report, "suspend", omar, category=THREAT)
    assert first.approves == proposal

    take_back(first, omar)
    assert Hold.objects.get(ended_at=None).kind == Hold.Kind.SECOND_APPROVAL
    again = wish(report, "suspend", omar, category=THREAT)

    assert (again.approves, stands(report)) == (proposal, ("resolved", "resolved", True))
    check_constraints_now()
    assert_statuses_agree()


# --- On the page


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


def undo(browser: Browser, decision: Decision) -> Any:
    return browser.post(f"/review/decisions/{decision.pk}/undo/?from=pending")


def test_the_next_page_offers_it_and_the_item_comes_back_with_what_was_typed(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("x"))
    address = f"/review/items/{report.item_id}/"
    typed = {"note": "seen before", "reason": "You advertise."}
    decide(browser, report.item, page(browser, address), action="remove", category="spam", **typed)
    decision = Decision.objects.get()

    html = page(browser, address)
    assert f'action="/review/decisions/{decision.pk}/undo/"' in html
    assert 'data-key="u"' in html
    assert undo(browser, decision)["Location"] == f"{address}?from=pending"

    html = page(browser, f"{address}?from=pending")
    assert "Taken back: remove." in html
    assert "<bdi>dana</bdi> took back: remove." in html
    assert "seen before</textarea>" in html
    assert "You advertise.</textarea>" in html
    assert Item.objects.get().list == Item.List.PENDING


@pytest.mark.parametrize(
    ("held", "sentence"),
    [
        (True, "What you typed is kept below; submit it again when the item is free."),
        (False, "What you typed is kept below.</p>"),
    ],
)
def test_a_page_of_before_says_that_a_decision_was_taken_back_and_what_to_do(
    browser: Browser, client_of_sender: Client, *, held: bool, sentence: str
) -> None:
    report = client_of_sender.send(body_saying("x"))
    address = f"/review/items/{report.item_id}/"
    omar = log_in("omar", "reviewer")
    html = page(omar, address)
    time_runs_out()
    decide(browser, report.item, page(browser, address), action="remove", category="spam")
    undo(browser, Decision.objects.get())
    if not held:
        time_runs_out()

    answer = decide(omar, report.item, html, action="no_violation", note="typed")

    said = " ".join(answer.content.decode().split())
    assert answer.status_code == 409
    assert re.search(r"Before you, [^<]*: <bdi>dana</bdi> took back: remove.</strong>", said)
    assert "typed</textarea>" in said
    assert sentence in said
    assert "overrides that decision" not in said


def test_too_late_says_so_and_what_to_do(
    browser: Browser, client_of_sender: Client, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 0
    report = client_of_sender.send(body_saying("x"))
    address = f"/review/items/{report.item_id}/"
    decide(browser, report.item, page(browser, address), action="remove", category="spam")
    assert "/undo/" not in page(browser, address)

    undo(browser, Decision.objects.get())

    assert "Too late to undo: remove is in effect." in page(browser, address)


def test_a_decision_that_was_overridden_is_not_undone_and_the_page_says_what_came_since(
    browser: Browser, client_of_sender: Client
) -> None:
    """Also where that was taken back again: a decision is overridden but once."""
    report = client_of_sender.send(body_saying("x"))
    dana, address = User.objects.get(username="dana"), f"/review/items/{report.item_id}/"
    first, second = wish(report, "remove", dana), wish(report, "warn", dana)

    for since in ("decided", "took back"):
        undo(browser, first)

        said = f"Not undone. Since then: <bdi>dana</bdi> {since}: warn. Decide again to change it."
        assert said in page(browser, address)
        undo(browser, second)

    assert Decision.objects.filter(kind="undo").count() == 1


def test_only_who_decided_may_and_only_where_there_is_a_decision(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send(body_saying("x"))
    html = page(browser, f"/review/items/{report.item_id}/")
    decide(browser, report.item, html, action="remove", category="spam")
    decision = Decision.objects.get()

    assert undo(log_in("omar", "reviewer"), decision).status_code == 403
    assert undo(log_in("vera", "operator"), decision).status_code == 403
    assert browser.post("/review/decisions/4711/undo/").status_code == 404
    assert Decision.objects.count() == 1
