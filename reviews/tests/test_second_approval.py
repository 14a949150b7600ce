"""What one person may not decide alone: proposals and approvals, escalated items and who may decide them."""

import re
from typing import Any

import pytest
from django.test import Client as Browser
from pytest_django import Settings

from classifier.models import PolicyVersion
from reports.models import AuditEntry, Item, Report
from reports.tests.sending import Client, body_saying
from reviews.forms import TEXT_LIMIT
from reviews.invariants import broken_invariants
from reviews.models import Action, Decision, Draft, Hold
from reviews.tests.people import (
    classify,
    decide,
    form_of,
    judge_threat,
    log_in,
    page,
    time_runs_out,
)

HATE = {"category": "hate"}


@pytest.fixture
def dana(db: None) -> Browser:  # noqa: ARG001
    return log_in("dana", "reviewer")


@pytest.fixture
def omar(db: None) -> Browser:  # noqa: ARG001
    return log_in("omar", "reviewer")


@pytest.fixture
def report(client_of_sender: Client, policy: PolicyVersion) -> Report:
    """In review, critical."""
    report = client_of_sender.send(body_saying("I will kill you tomorrow"))
    judge_threat(report, policy)
    return report


def read(browser: Browser, report: Report) -> str:
    return page(browser, f"/review/items/{report.item_id}/")


def do(browser: Browser, report: Report, action: str, **values: str) -> Any:
    return decide(browser, report.item, read(browser, report), action=action, **values)


def approve(
    browser: Browser, report: Report, html: str, proposal: Decision, *, note: str = ""
) -> Any:
    values = {**form_of(html), "approve": str(proposal.pk), "note": note, "next": ""}
    return browser.post(f"/review/items/{report.item_id}/", values)


def in_api(client: Client, report: Report) -> Any:
    return client.get(f"/api/v1/reports/{report.public_id}/").json()


def in_list(client: Client, status: str) -> Any:
    return client.get(f"/api/v1/reports/?status={status}").json()["results"]


def standing(report: Report) -> tuple[str, str]:
    """The report's status, and for whom its item waits."""
    hold = Hold.objects.filter(item=report.item_id, ended_at=None).first()
    return Report.objects.get(pk=report.pk).status, hold.kind if hold else ""


# action, what it does alone: status before -> status after and the hold
ALONE = [
    ("no_violation", "needs_review", "resolved", ""),
    ("warn", "needs_review", "resolved", ""),
    ("label", "needs_review", "resolved", ""),
    ("restrict", "needs_review", "resolved", ""),
    ("remove", "needs_review", "resolved", ""),
    ("suspend", "needs_review", "needs_review", "second_approval"),
    ("escalate", "needs_review", "needs_review", "escalated"),
    ("no_violation", "pending", "resolved", ""),
    ("remove", "pending", "resolved", ""),
    ("suspend", "pending", "pending", "second_approval"),
    ("escalate", "pending", "pending", "escalated"),
    ("remove", "judged_safe", "resolved", ""),
    ("suspend", "judged_safe", "needs_review", "second_approval"),
    ("escalate", "judged_safe", "needs_review", "escalated"),
    ("reopen", "judged_safe", "needs_review", ""),
    ("no_violation", "resolved", "resolved", ""),
    ("remove", "resolved", "resolved", ""),
    ("suspend", "resolved", "needs_review", "second_approval"),
    ("escalate", "resolved", "needs_review", "escalated"),
    ("reopen", "resolved", "needs_review", ""),
]


@pytest.mark.parametrize(("action", "before", "after", "waits"), ALONE)
def test_what_becomes_of_an_item_by_one_person(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    *,
    action: str,
    before: str,
    after: str,
    waits: str,
) -> None:
    report = client_of_sender.send(body_saying("x"))
    if before == "needs_review":
        judge_threat(report, policy)
    elif before == "judged_safe":
        classify(report, policy)
    elif before == "resolved":
        do(dana, report, "warn", **HATE)

    assert do(dana, report, action, **HATE).status_code == 302

    assert standing(report) == (after, waits)


def test_every_action_stands_in_the_table(db: None) -> None:  # noqa: ARG001
    assert {row[0] for row in ALONE} == set(Action.objects.values_list("slug", flat=True))


def test_a_second_person_sees_what_is_proposed_and_approves_it(
    dana: Browser, omar: Browser, report: Report, client_of_sender: Client, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 0
    do(dana, report, "suspend", **HATE, note="the third time", reason="You threatened.")
    proposal = Decision.objects.get()
    assert in_api(client_of_sender, report)["decision"] is None

    html = read(omar, report)
    assert "<bdi>dana</bdi> proposed: remove and suspend." in html
    assert "the third time" in html
    assert approve(omar, report, html, proposal).status_code == 302

    approval = Decision.objects.latest("id")
    assert (approval.approves, approval.kind) == (proposal, Decision.Kind.DECISION)
    assert (approval.reason, approval.category) == ("You threatened.", "hate")
    assert standing(report) == ("resolved", "")
    assert in_api(client_of_sender, report)["decision"]["action"] == "suspend"
    audited = AuditEntry.objects.filter(object_type="item").order_by("id")
    said = list(audited.values_list("action", "actor_name"))
    assert [each for each in said if each[0] in {"proposed", "approved"}] == [
        ("proposed", "dana"),
        ("approved", "omar"),
    ]
    assert "<bdi>omar</bdi> approved what was proposed: remove and suspend." in read(dana, report)


def test_what_a_proposal_is_about_stays_decided_for_its_sender_until_a_second_person_agrees(
    dana: Browser, omar: Browser, report: Report, client_of_sender: Client, settings: Settings
) -> None:
    settings.UNDO_SECONDS = 0
    do(dana, report, "remove", **HATE)
    decided, upheld = in_api(client_of_sender, report), Report.objects.get().upheld_at
    assert (decided["status"], decided["decision"]["action"]) == ("resolved", "remove")

    for reason in ("one", "other"):
        do(omar, report, "suspend", **HATE, reason=reason)

        assert standing(report) == ("needs_review", "second_approval")
        assert in_api(client_of_sender, report) == decided
        assert in_list(client_of_sender, "resolved") == [decided]
        assert in_list(client_of_sender, "needs_review") == []
        assert Report.objects.get().upheld_at == upheld
        assert [each for each in broken_invariants() if each.invariant == "V6"] == []

    do(omar, report, "reopen")
    withdrawn = in_api(client_of_sender, report)
    assert (withdrawn["status"], withdrawn["decision"]) == ("needs_review", None)
    assert in_list(client_of_sender, "needs_review") == [withdrawn]
    assert Report.objects.get().upheld_at is None


def test_a_proposal_about_what_was_overridden_before_its_time_brings_it_to_no_sender(
    dana: Browser, omar: Browser, report: Report, client_of_sender: Client
) -> None:
    do(dana, report, "remove", **HATE)
    do(omar, report, "suspend", **HATE)

    waits = in_api(client_of_sender, report)

    assert (waits["status"], waits["decision"]) == ("needs_review", None)
    assert in_list(client_of_sender, "needs_review") == [waits]


@pytest.mark.parametrize("undo_seconds", [0, 10])
def test_what_was_judged_safe_is_in_review_for_its_sender_while_a_proposal_waits(
    dana: Browser,
    client_of_sender: Client,
    policy: PolicyVersion,
    settings: Settings,
    *,
    undo_seconds: int,
) -> None:
    report = client_of_sender.send(body_saying("x"))
    classify(report, policy)
    do(dana, report, "suspend", **HATE)
    waits = in_api(client_of_sender, report)
    assert (waits["status"], waits["decision"]) == ("needs_review", None)

    settings.UNDO_SECONDS = undo_seconds
    do(log_in("omar", "reviewer"), report, "warn", **HATE)

    assert in_api(client_of_sender, report)["status"] == (
        "needs_review" if undo_seconds else "resolved"
    )


def test_nobody_approves_their_own_proposal(dana: Browser, report: Report) -> None:
    do(dana, report, "suspend", **HATE)
    html = read(dana, report)

    assert 'name="approve"' not in html
    approve(dana, report, html, Decision.objects.get())

    assert Decision.objects.count() == 1
    assert standing(report) == ("needs_review", "second_approval")


def test_the_same_choice_of_a_second_person_is_an_approval(
    dana: Browser, omar: Browser, report: Report
) -> None:
    for browser in (dana, omar):
        do(browser, report, "suspend", **HATE)

    assert Decision.objects.latest("id").approves == Decision.objects.earliest("id")


def test_another_reason_is_another_proposal(dana: Browser, omar: Browser, report: Report) -> None:
    do(dana, report, "suspend", **HATE, reason="one")
    do(omar, report, "suspend", **HATE, reason="other")

    kinds = Decision.objects.order_by("id").values_list("kind", flat=True)
    assert list(kinds) == ["proposal", "proposal"]
    assert standing(report) == ("needs_review", "second_approval")


@pytest.mark.parametrize(("action", "status"), [("warn", "resolved"), ("reopen", "needs_review")])
def test_a_second_person_may_decide_otherwise_or_send_it_back(
    dana: Browser, omar: Browser, report: Report, action: str, status: str
) -> None:
    do(dana, report, "suspend", **HATE)

    assert do(omar, report, action, **HATE).status_code == 302

    assert standing(report) == (status, "")


def test_an_approval_that_comes_second_says_what_was_decided(
    dana: Browser, omar: Browser, report: Report
) -> None:
    do(dana, report, "suspend", **HATE)
    proposal, html = Decision.objects.get(), read(omar, report)
    time_runs_out()
    do(log_in("vera", "reviewer"), report, "warn", **HATE)

    answer = approve(omar, report, html, proposal)

    assert answer.status_code == 409
    said = " ".join(answer.content.decode().split())
    assert re.search(r"Before you, [^<]*: <bdi>vera</bdi> decided: warn. Hate.</strong>", said)


def test_a_refused_approval_keeps_the_draft_and_shows_it(
    dana: Browser, omar: Browser, report: Report
) -> None:
    do(dana, report, "suspend", **HATE)
    html, address = read(omar, report), f"/review/items/{report.item_id}/"
    omar.post(f"{address}draft/", {**form_of(html), "action": "warn", "note": "my long note"})
    time_runs_out()
    read(log_in("vera", "reviewer"), report)

    answer = approve(omar, report, html, Decision.objects.get())

    assert answer.status_code == 409
    said = " ".join(answer.content.decode().split())
    assert "<bdi>vera</bdi> has this item until" in said
    assert "my long note</textarea>" in said
    assert "This field is required." not in said
    assert Draft.objects.get().note == "my long note"


def test_an_approval_has_a_note_of_its_own_and_keeps_the_draft_of_another_decision(
    dana: Browser, omar: Browser, report: Report
) -> None:
    do(dana, report, "suspend", **HATE)
    html = read(omar, report)
    draft = {**form_of(html), "action": "warn", "note": "or is a warning enough?"}
    omar.post(f"/review/items/{report.item_id}/draft/", draft)

    approve(omar, report, html, Decision.objects.get(), note="because of message three")

    assert Decision.objects.latest("id").note == "because of message three"
    assert "because of message three" in read(dana, report)
    assert Draft.objects.get().note == "or is a warning enough?"
    assert "or is a warning enough?</textarea>" in read(omar, report)


@pytest.mark.parametrize("withdrawn", [True, False])
def test_the_note_of_a_refused_approval_stays_on_the_page(
    dana: Browser, omar: Browser, report: Report, *, withdrawn: bool
) -> None:
    do(dana, report, "suspend", **HATE)
    proposal, html = Decision.objects.get(), read(omar, report)
    time_runs_out()
    vera = log_in("vera", "reviewer")
    if withdrawn:
        do(vera, report, "reopen")
    else:
        read(vera, report)

    answer = approve(omar, report, html, proposal, note="a <b>careful</b> note")

    assert answer.status_code == 409
    assert "a &lt;b&gt;careful&lt;/b&gt; note" in answer.content.decode()


def test_a_note_that_is_too_long_for_an_approval_is_said_beside_it(
    dana: Browser, omar: Browser, report: Report
) -> None:
    do(dana, report, "suspend", **HATE)

    answer = approve(
        omar, report, read(omar, report), Decision.objects.get(), note="n" * (TEXT_LIMIT + 1)
    )

    said = answer.content.decode()
    assert answer.status_code == 422
    assert f"at most {TEXT_LIMIT} characters" in said
    assert "n" * (TEXT_LIMIT + 1) in said


def test_an_approval_leaves_alone_what_came_after_the_proposal(
    dana: Browser, omar: Browser, report: Report, client_of_sender: Client
) -> None:
    do(dana, report, "suspend", **HATE)
    later = client_of_sender.send(Report.objects.get(pk=report.pk).content.body)
    assert later.item_id == report.item_id

    approve(omar, report, read(omar, report), Decision.objects.get())

    assert Report.objects.get(pk=report.pk).status == "resolved"
    assert Report.objects.get(pk=later.pk).status == "pending"
    said = "1 report about this item was not part of the proposal. It stays open."
    assert said in read(omar, later)


def test_the_same_choice_about_a_report_that_came_since_is_a_proposal_about_both(
    dana: Browser, omar: Browser, report: Report, client_of_sender: Client
) -> None:
    do(dana, report, "suspend", **HATE)
    later = client_of_sender.send(Report.objects.get(pk=report.pk).content.body)

    do(omar, report, "suspend", **HATE)

    proposal = Decision.objects.latest("id")
    assert (proposal.kind, proposal.approves) == (Decision.Kind.PROPOSAL, None)
    assert set(proposal.reports.all()) == {report, later}
    approve(dana, report, read(dana, report), proposal)
    assert (standing(report), standing(later)) == (("resolved", ""), ("resolved", ""))


@pytest.mark.parametrize("answer", ["x", "4711", "9" * 30])
def test_what_nobody_proposed_is_not_approved(omar: Browser, report: Report, answer: str) -> None:
    values = {**form_of(read(omar, report)), "approve": answer}

    assert omar.post(f"/review/items/{report.item_id}/", values).status_code == 404
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("second_from", "category", "waits"),
    [(4, "spam", "second_approval"), (4, "hate", "second_approval"), (None, "hate", "")],
)
def test_the_installation_says_from_which_severity_a_second_person_is_needed(
    dana: Browser, report: Report, second_from: int | None, category: str, waits: str
) -> None:
    Action.objects.filter(slug="remove").update(second_from=second_from)

    do(dana, report, "remove", category=category)

    assert standing(report)[1] == waits
    assert Decision.objects.get().severity == 4


def test_the_category_counts_where_the_item_itself_is_harmless(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    Action.objects.filter(slug="remove").update(second_from=3)
    report = client_of_sender.send(body_saying("x"))
    severity = policy.category("credible_threat")["severity"]

    do(dana, report, "remove", category="credible_threat")

    decision = Decision.objects.get()
    assert (decision.severity, decision.kind) == (severity, Decision.Kind.PROPOSAL)
    assert decision.policy_version == policy


# --- Escalation


def test_an_escalated_item_waits_for_who_may_decide_it(
    dana: Browser, omar: Browser, report: Report
) -> None:
    lena = log_in("lena", "lead")
    html = read(omar, report)
    time_runs_out()
    do(dana, report, "escalate", note="beyond me")

    refused = decide(omar, report.item, html, action="warn", **HATE, note="typed")
    assert refused.status_code == 409  # it was read before the escalation
    again = form_of(" ".join(refused.content.decode().split()))
    refused = omar.post(
        f"/review/items/{report.item_id}/",
        {**again, "action": "warn", **HATE, "note": "typed", "stay": ""},
    )
    said = " ".join(refused.content.decode().split())
    assert refused.status_code == 403
    assert "<bdi>dana</bdi> escalated this item." in said
    assert "Who may decide: <bdi>lena</bdi>." in said
    assert "typed</textarea>" in said
    assert "<bdi>dana</bdi> escalated it." in read(lena, report)
    assert do(lena, report, "warn", **HATE).status_code == 302
    assert standing(report) == ("resolved", "")
    assert AuditEntry.objects.filter(action="escalated").count() == 1


def test_a_verdict_takes_no_item_away_from_the_person_it_waits_for(
    dana: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send(body_saying("x"))
    do(dana, report, "escalate")

    classify(report, policy)

    assert standing(report) == ("needs_review", "escalated")
    assert Item.objects.get().list == Item.List.NEEDS_REVIEW


# --- Actions


def test_an_action_that_is_offered_no_more_keeps_its_name_in_the_story(
    dana: Browser, report: Report
) -> None:
    do(dana, report, "label", **HATE)
    Action.objects.filter(slug="label").update(is_active=False)

    html = read(dana, report)

    assert "<bdi>dana</bdi> decided: label." in html
    assert re.search(r'value="label"', html) is None


def test_an_installation_adds_its_own_and_hostile_names_stay_text(
    dana: Browser, report: Report
) -> None:
    Action.objects.create(
        slug="age-gate",
        names={"en": "<b>age gate\u202e</b>"},
        outcome=Action.Outcome.UPHOLDS,
        key="j",
        position=5,
    )

    html = read(dana, report)

    assert "&lt;b&gt;age gate[U+202E]&lt;/b&gt;" in html
    assert 'data-key="j"' in html
    assert do(dana, report, "age-gate", **HATE).status_code == 302
    assert standing(report) == ("resolved", "")
