"""What a verdict makes of a status, and where an item stands: by its reports, whatever came first."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from reports import lifecycle
from reports.lifecycle import AFTER_DECISION, AFTER_VERDICT
from reports.models import Item, Report, Severity
from reports.placing import place_items
from reports.tests.outcomes import judge, resolve
from reports.tests.sending import Client, body_saying, report_body

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "safe", "after"),
    [
        ("pending", True, "judged_safe"),
        ("pending", False, "needs_review"),
        ("judged_safe", True, "judged_safe"),
        ("judged_safe", False, "needs_review"),
        ("needs_review", True, "needs_review"),
        ("needs_review", False, "needs_review"),
        ("resolved", True, "resolved"),
        ("resolved", False, "resolved"),
    ],
)
def test_a_machine_raises_to_people_and_takes_nothing_from_them(
    before: str,
    safe: bool,  # noqa: FBT001
    after: str,
) -> None:
    assert AFTER_VERDICT[before, safe] == after


@pytest.mark.parametrize(
    ("before", "reopen", "after"),
    [
        ("pending", False, "resolved"),
        ("needs_review", False, "resolved"),
        ("judged_safe", False, "resolved"),
        ("resolved", False, "resolved"),
        ("pending", True, "pending"),
        ("needs_review", True, "needs_review"),
        ("judged_safe", True, "needs_review"),
        ("resolved", True, "needs_review"),
    ],
)
def test_a_person_resolves_anything_and_may_send_it_back(
    before: str,
    reopen: bool,  # noqa: FBT001
    after: str,
) -> None:
    assert AFTER_DECISION[before, reopen] == after


@pytest.mark.parametrize("table", [AFTER_VERDICT, AFTER_DECISION])
def test_every_status_has_an_outcome(table: dict[tuple[str, bool], str]) -> None:
    assert set(table) == set(product(Report.Status.values, (True, False)))
    assert set(table.values()) <= set(Report.Status.values)


def give_status(report: Report, status: str, policy: Any) -> None:
    if status == "resolved":
        resolve(report)
    elif status != "pending":
        judge(report, policy, safe=status == "judged_safe")


PRECEDENCE = ["needs_review", "pending", "judged_safe", "resolved"]


@pytest.mark.parametrize("statuses", [*product(PRECEDENCE, repeat=2), PRECEDENCE, PRECEDENCE[::-1]])
def test_an_item_stands_in_the_one_list_of_its_most_urgent_report(
    client_of_sender: Client, policy: Any, statuses: tuple[str, ...]
) -> None:
    for number, status in enumerate(statuses):
        give_status(client_of_sender.send(report_body(comment=f"{number}")), status, policy)

    item = Item.objects.get()
    assert item.list == min(statuses, key=PRECEDENCE.index)
    assert item.reports.count() == len(statuses)


def test_a_new_report_on_a_safe_item_makes_it_pending(
    client_of_sender: Client, policy: Any
) -> None:
    judge(client_of_sender.send(), policy, safe=True)

    client_of_sender.send(report_body(comment="worse"))

    assert Item.objects.get().list == Item.List.PENDING


def test_rank_is_the_verdict_s_severity_but_never_below_the_floor(
    client_of_sender: Client, policy: Any
) -> None:
    threat = client_of_sender.send(body_saying("I will kill you"))
    calm = client_of_sender.send(body_saying("buy now"))

    judge(threat, policy, safe=False, severity=Severity.LOW)
    judge(calm, policy, safe=False, severity=Severity.MEDIUM)

    for report, floor, rank in [(threat, 4, 4), (calm, 0, 2)]:
        report.refresh_from_db()
        report.item.refresh_from_db()
        assert (report.floor, report.rank, report.item.rank) == (floor, rank, rank)


def test_an_item_s_rank_and_age_come_from_its_open_reports(
    client_of_sender: Client, policy: Any
) -> None:
    threat = client_of_sender.send(
        report_body(messages=[{"text": "I will kill you"}], comment="first")
    )
    Report.objects.filter(pk=threat.pk).update(received_at=NOON)
    resolve(threat)
    open_one = client_of_sender.send()
    judge(open_one, policy, safe=False, severity=Severity.MEDIUM)

    item = Item.objects.get()
    assert (item.list, item.rank, item.since) == ("needs_review", 2, open_one.received_at)


def test_an_item_without_open_reports_keeps_the_rank_and_age_of_all(
    client_of_sender: Client,
) -> None:
    threat = client_of_sender.send(
        report_body(messages=[{"text": "I will kill you"}], comment="first")
    )
    Report.objects.filter(pk=threat.pk).update(received_at=NOON)
    other = client_of_sender.send()

    resolve(threat)
    resolve(other)

    item = Item.objects.get()
    assert (item.list, item.rank, item.since) == ("resolved", 4, NOON)


def test_placing_again_changes_nothing(client_of_sender: Client, policy: Any) -> None:
    report = client_of_sender.send()
    judge(report, policy, safe=False, severity=Severity.HIGH)
    before = Item.objects.values().get()

    place_items({report.item_id})

    assert Item.objects.values().get() == before


def test_a_raised_floor_lifts_report_and_item_once(client_of_sender: Client) -> None:
    report = client_of_sender.send()

    for to in (Severity.HIGH, Severity.CRITICAL):
        lifecycle.raise_floor(report=lifecycle.lock(report.pk), to=to, rule="model_refused")

    report.refresh_from_db()
    report.item.refresh_from_db()
    assert (report.floor, report.rank, report.item.rank) == (3, 3, 3)
    assert report.floor_rules == ["model_refused"]


def test_a_raised_floor_never_lowers_one(client_of_sender: Client) -> None:
    report = client_of_sender.send(body_saying("I will kill you"))

    lifecycle.raise_floor(report=lifecycle.lock(report.pk), to=Severity.HIGH, rule="model_refused")

    report.refresh_from_db()
    assert (report.floor, report.rank) == (4, 4)
    assert report.floor_rules == ["threat_en", "model_refused"]


def test_a_raised_floor_sends_what_was_judged_safe_to_people(
    client_of_sender: Client, policy: Any
) -> None:
    report = client_of_sender.send()
    judge(report, policy, safe=True, severity=Severity.NONE)

    lifecycle.raise_floor(report=lifecycle.lock(report.pk), to=Severity.HIGH, rule="model_refused")

    report.refresh_from_db()
    report.item.refresh_from_db()
    assert (report.status, report.rank) == ("needs_review", 3)
    assert (report.item.list, report.item.rank) == ("needs_review", 3)


def test_the_list_goes_by_severity_then_age_then_id(client_of_sender: Client) -> None:
    def arrived(text: str, minutes: int) -> Report:
        report = client_of_sender.send(body_saying(text))
        Report.objects.filter(pk=report.pk).update(received_at=NOON + timedelta(minutes=minutes))
        return report

    late, early = arrived("calm", 9), arrived("calm", 1)
    twin, other_twin = arrived("calm", 5), arrived("calm", 5)
    threat = arrived("I will kill you", 10)

    assert list(Report.objects.in_list_order()) == [threat, early, twin, other_twin, late]


def test_retries_and_lateness_never_change_the_order(client_of_sender: Client) -> None:
    first, second = (client_of_sender.send(body_saying(text)) for text in ("one", "two"))

    Report.objects.filter(pk=second.pk).update(due_at=NOON)

    assert list(Report.objects.in_list_order()) == [first, second]
    assert list(Report.objects.overdue()) == [second]
