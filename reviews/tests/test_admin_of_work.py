"""Items, reports, verdicts, jobs, rules, claims and the audit, as operations look at them."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client as Browser
from django.utils import timezone

from classifier.models import Classification, Job, PolicyVersion, WaitingReason
from reports.models import AuditEntry, Content, Report
from reports.tests.sending import Client, body_saying
from reviews.models import Hold
from reviews.tests.people import classify, judge_threat, log_in, page

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(db: None) -> Browser:  # noqa: ARG001
    browser = Browser()
    browser.force_login(User.objects.create_superuser("root"))
    return browser


def parked(report: Report, policy: PolicyVersion) -> Job:
    return Job.objects.create(
        report=report,
        policy_version=policy,
        attempts=3,
        reason=WaitingReason.ANSWER_INVALID,
        parked=True,
        ended_at=timezone.now(),
    )


# --- Pending by default


@pytest.mark.parametrize(
    ("listed", "parameter"),
    [("/admin/reports/item/", "list"), ("/admin/reports/report/", "status")],
)
def test_a_list_shows_what_is_pending_says_so_and_shows_the_rest_when_asked(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion, listed: str, parameter: str
) -> None:
    waiting = client_of_sender.send(body_saying("waiting"))
    safe = client_of_sender.send(body_saying("safe"))
    classify(safe, policy)

    pending = page(browser, listed)
    judged = page(browser, f"{listed}?{parameter}=judged_safe")
    every = page(browser, f"{listed}?{parameter}=all")

    ids = (waiting.item.external_id, safe.item.external_id)
    assert [each in pending for each in ids] == [True, False]
    assert [each in judged for each in ids] == [False, True]
    assert all(each in every for each in ids)
    assert f'<li class="selected"> <a href="?{parameter}=pending">pending</a>' in pending


@pytest.mark.parametrize("listed", ["/admin/reports/item/", "/admin/reports/report/"])
def test_a_search_looks_in_all_lists(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion, listed: str
) -> None:
    safe = client_of_sender.send(body_saying("safe"))
    classify(safe, policy)

    html = page(browser, f"{listed}?q={safe.item.external_id}")

    assert "found: 1" in html


@pytest.mark.parametrize("typed", ["nobody", "%00", "%27", "0", "٣", "-1", "9" * 40])
def test_whatever_is_searched_for_is_found_or_not_and_never_an_error(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion, typed: str
) -> None:
    judge_threat(client_of_sender.send(), policy)

    for listed in (
        "reports/item",
        "reports/report",
        "reports/apikey",
        "reports/auditentry",
        "reports/sender",
        "classifier/classification",
        "classifier/job",
        "reviews/claim",
        "classifier/providermodel",
    ):
        assert "found:" in page(browser, f"/admin/{listed}/?q={typed}")


def test_an_item_leads_to_all_its_reports(browser: Browser, client_of_sender: Client) -> None:
    first = client_of_sender.send()
    client_of_sender.send()
    other = client_of_sender.send(body_saying("another"))

    address = f"/admin/reports/report/?item={first.item_id}"
    assert address in page(browser, "/admin/reports/item/")
    html = page(browser, address)

    assert html.count("field-excerpt") == 2
    assert other.item.external_id not in html


def test_a_purged_content_is_said_to_be(browser: Browser, client_of_sender: Client) -> None:
    report = client_of_sender.send()
    Content.objects.filter(report=report).delete()

    assert "Its text was purged." in page(browser, f"/admin/reports/report/{report.pk}/change/")


# --- Verdicts


def test_a_verdict_is_found_by_its_report_and_shown_without_markup_of_its_own(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send()
    verdict = judge_threat(report, policy, summary="<b>A\u202e threat.</b>", quotes=["<i>kill</i>"])

    listed = page(browser, f"/admin/classifier/classification/?q={report.public_id}")
    shown = page(browser, f"/admin/classifier/classification/{verdict.pk}/change/")

    assert "credible_threat" in listed
    assert "critical" in listed
    assert '&lt;b&gt;A<span class="glyph">U+202E</span> threat.' in shown
    assert "&lt;i&gt;kill" in shown
    assert f"/admin/reports/report/{report.pk}/change/" in shown


def test_a_purged_verdict_keeps_its_line_and_says_so(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    verdict = judge_threat(client_of_sender.send(), policy)
    Classification.objects.filter(pk=verdict.pk).update(
        summary=None, quotes=None, purged_at=timezone.now()
    )

    shown = page(browser, f"/admin/classifier/classification/{verdict.pk}/change/")

    assert shown.count("Its text was purged.") == 2


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", True),
        ("?category=credible_threat", True),
        ("?category=spam", False),
        ("?version=1", True),
        ("?version=2", False),
        ("?current=yes", True),
        ("?current=no", False),
    ],
)
def test_verdicts_are_narrowed(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion, query: str, *, found: bool
) -> None:
    report = client_of_sender.send()
    judge_threat(report, policy)

    html = page(browser, f"/admin/classifier/classification/{query}")

    assert (report.item.external_id in html) == found


def test_the_rules_are_listed_with_how_often_they_fired(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    judge_threat(client_of_sender.send(body_saying("I will kill you tomorrow")), policy)

    html = page(browser, "/admin/classifier/classification/rules/")

    assert (
        '<th scope="row"><bdi dir="ltr">threat_en</bdi></th>'
        "<td>The text holds an explicit threat (English).</td>"
        '<td><span class="severity rank-4">critical</span></td><td>3</td><td>1</td>'
    ) in html
    assert "<td>The content tries to give the model instructions.</td><td>3</td><td>0</td>" in html


# --- Jobs


def test_a_parked_job_gets_new_attempts_by_the_verb_of_replay(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    job = parked(client_of_sender.send(), policy)
    other = parked(client_of_sender.send(body_saying("left alone")), policy)
    assert "The model&#x27;s answer was not usable." in page(browser, "/admin/classifier/job/")

    answer = browser.post(
        "/admin/classifier/job/", {"action": "renew", "_selected_action": [job.pk]}, follow=True
    )

    assert "New attempts: 1. Left alone: 0" in answer.content.decode()
    job.refresh_from_db()
    other.refresh_from_db()
    assert (job.parked, job.attempts, job.reason) == (False, 0, "")
    assert other.parked
    entry = AuditEntry.objects.get(action="replay")
    assert (entry.actor_name, entry.detail["reports"]) == ("root", 1)


def test_a_job_of_a_report_that_was_judged_is_left_alone(
    browser: Browser, client_of_sender: Client, policy: PolicyVersion
) -> None:
    report = client_of_sender.send()
    job = parked(report, policy)
    classify(report, policy)

    answer = browser.post(
        "/admin/classifier/job/", {"action": "renew", "_selected_action": [job.pk]}, follow=True
    )

    assert "New attempts: 0. Left alone: 1" in answer.content.decode()
    assert not AuditEntry.objects.filter(action="replay").exists()


# --- The audit, and who is there


def test_an_audit_entry_leads_to_what_it_is_about(
    browser: Browser, client_of_sender: Client
) -> None:
    html = page(browser, "/admin/reports/auditentry/?q=test&action=sender_created")
    assert "found: 0" in html

    listed = page(browser, f"/admin/reports/auditentry/?q={client_of_sender.sender.pk}")

    assert f"/admin/reports/sender/{client_of_sender.sender.pk}/change/" in listed


def test_a_change_of_rights_says_what_they_are_now(browser: Browser) -> None:
    log_in("dana")
    dana = User.objects.get(username="dana")
    lead = Group.objects.get(name="reviewer")

    answer = browser.post(
        f"/admin/auth/user/{dana.pk}/change/",
        {
            "username": "dana",
            "is_active": "on",
            "is_staff": "on",
            "groups": [lead.pk],
            "date_joined_0": "2026-11-01",
            "date_joined_1": "10:00:00",
        },
    )

    assert answer.status_code == 302, answer.content.decode()
    entry = AuditEntry.objects.get(action="user_changed")
    assert entry.object_id == str(dana.pk)
    assert entry.detail["groups"] == ["reviewer"]
    assert (entry.detail["staff"], entry.detail["superuser"]) == (True, False)


def test_holds_are_listed_while_they_are_in_force(
    browser: Browser, client_of_sender: Client
) -> None:
    report = client_of_sender.send()
    root = User.objects.get(username="root")
    hold = Hold.objects.create(item=report.item, kind=Hold.Kind.ESCALATED, placed_by=root)
    listed = "/admin/reviews/hold/"
    assert report.item.external_id in page(browser, listed)

    Hold.objects.filter(pk=hold.pk).update(ended_at=timezone.now())

    assert report.item.external_id not in page(browser, listed)
    assert report.item.external_id in page(browser, f"{listed}?standing=all")
