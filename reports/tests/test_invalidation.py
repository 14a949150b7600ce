"""Reports made in bad faith count for nothing: planned, marked, closed where nothing severe is, put back."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from conftest import check_constraints_now
from reports import lifecycle
from reports.invalidation import (
    SLICE,
    DecidedJustNowError,
    Plan,
    Scope,
    begin_invalidation,
    carry_out,
    plan_invalidation,
    revoke_invalidation,
)
from reports.models import (
    AuditEntry,
    InvalidatedReport,
    Invalidation,
    Item,
    Report,
    Severity,
)
from reports.tests.invalidating import invalidate
from reports.tests.outcomes import judge, resolve, verdict_of
from reports.tests.reporting_again import (
    judge_safe,
    report_by,
    report_by_each,
    standings,
    time_passes,
)
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db
EVERYTHING = Scope()


def of_item(client: Client, number: str, reporter: str = "u-wrong", **changes: Any) -> Report:
    """A report by the bad-faith reporter about an item of its own."""
    item = {"type": "message", "id": f"item-{number}"}
    return report_by(client, reporter, **{"item": item, **changes})


def plan_of(report: Report, scope: Scope = EVERYTHING) -> Plan:
    return plan_invalidation(sender=report.sender, pseudonym=report.reporter_pseudonym, scope=scope)


def revoke(invalidation: Invalidation) -> int:
    done = sum(revoke_invalidation(invalidation=invalidation, actor_name="test"))
    check_constraints_now()
    return done


def marked() -> list[bool]:
    times = Report.objects.order_by("pk").values_list("invalidated_at", flat=True)
    return [each is not None for each in times]


@pytest.fixture
def in_each_status(client_of_sender: Client, policy: Any) -> list[Report]:
    """Pending, judged safe, in review (low), in review (severe), resolved."""
    reports = [of_item(client_of_sender, name) for name in "abcde"]
    judge_safe(reports[1], policy)
    judge(reports[2], policy, safe=False, severity=Severity.LOW)
    judge(reports[3], policy, safe=False, severity=Severity.HIGH)
    resolve(reports[4])
    of_item(client_of_sender, "a", reporter="u-right")
    return reports


def test_the_plan_counts_and_changes_nothing(in_each_status: list[Report]) -> None:
    plan = plan_of(in_each_status[0])

    counts = (plan.reports, plan.items, plan.pending, plan.needs_review, plan.judged_safe)
    assert counts == (5, 5, 1, 2, 1)
    fates = (plan.resolved, plan.closed, plan.severe, plan.decided, plan.in_hand)
    assert fates == (1, 2, 1, 0, 0)
    assert plan.marked == 0
    assert plan.newest_id == in_each_status[-1].pk
    assert not any(marked())
    assert not AuditEntry.objects.filter(object_type="invalidation").exists()


def test_all_are_marked_and_only_what_has_a_verdict_that_is_not_severe_is_closed(
    in_each_status: list[Report],
) -> None:
    begun = invalidate(in_each_status[0])

    assert standings() == ["pending", *["resolved"] * 2, "needs_review", "resolved", "pending"]
    assert marked() == [True] * 5 + [False]
    rows = InvalidatedReport.objects.filter(invalidation=begun).order_by("report")
    before = ["pending", "judged_safe", "needs_review", "needs_review", "resolved"]
    assert list(rows.values_list("status_before", flat=True)) == before
    items = list(Item.objects.order_by("pk").values_list("list", flat=True))
    assert items == ["pending", "resolved", "resolved", "needs_review", "resolved"]


def test_the_whole_leaves_one_audit_row(in_each_status: list[Report]) -> None:
    begun = invalidate(in_each_status[0])
    revoke(begun)

    entries = AuditEntry.objects.filter(object_type="invalidation").order_by("pk")
    assert [(each.action, each.object_id) for each in entries] == [
        ("reports_invalidated", str(begun.pk)),
        ("invalidation_revoked", str(begun.pk)),
    ]
    assert entries[0].detail["reports"] == 5
    assert "u-wrong" not in str(entries[0].detail)


def test_twice_changes_nothing(in_each_status: list[Report]) -> None:
    invalidate(in_each_status[0])

    assert plan_of(in_each_status[0]).reports == 0


def test_the_scope_narrows_it(client_of_sender: Client) -> None:
    old = of_item(client_of_sender, "old")
    time_passes(hours=48)
    new = of_item(client_of_sender, "new")
    of_item(client_of_sender, "post", item={"type": "post", "id": "p-1"})
    yesterday = timezone.now() - timedelta(hours=24)

    assert plan_of(old, Scope(until=yesterday)).reports == 1
    assert plan_of(old, Scope(since=yesterday)).reports == 2
    invalidate(new, Scope(since=yesterday, item_type="message"))

    assert marked() == [False, True, False]
    assert Invalidation.objects.get().scope == {
        "since": yesterday.isoformat(),
        "item_type": "message",
    }


def test_what_somebody_has_in_hand_or_a_decision_names_or_a_model_reads_stays_open(
    client_of_sender: Client, policy: Any
) -> None:
    names = ("held", "put aside", "decided", "read", "free")
    reports = {name: of_item(client_of_sender, name) for name in names}
    for report in reports.values():
        judge(report, policy, safe=False, severity=Severity.LOW)
    dana = User.objects.create(username="dana")
    soon = timezone.now() + timedelta(minutes=5)
    reports["held"].item.claims.create(reviewer=dana, expires_at=soon)
    reports["put aside"].item.holds.create(
        kind="put_aside", placed_by=dana, note="wait", until=soon
    )
    resolve(reports["decided"])
    Report.objects.filter(pk=reports["decided"].pk).update(status="needs_review")
    reports["read"].jobs.create(policy_version=policy, lane="live", claims=1, lease_until=soon)

    plan = plan_of(reports["free"])
    assert (plan.closed, plan.in_hand, plan.decided) == (1, 3, 1)
    invalidate(reports["free"])

    assert standings() == ["needs_review"] * 4 + ["resolved"]
    assert all(marked())


def test_what_others_brought_back_stays_before_people(
    client_of_sender: Client, policy: Any
) -> None:
    first = report_by(client_of_sender, "u-wrong")
    judge_safe(first, policy)
    report_by_each(client_of_sender, "u-2", "u-3")
    assert standings()[0] == "needs_review"

    invalidate(first)

    assert standings()[0] == "needs_review"


def test_put_back_everything_stands_and_counts_as_before(in_each_status: list[Report]) -> None:
    before = standings()
    begun = invalidate(in_each_status[0])

    assert revoke(begun) == 5
    assert standings() == before
    assert not any(marked())
    begun.refresh_from_db()
    assert begun.revoked_at is not None
    assert revoke(begun) == 0
    assert AuditEntry.objects.filter(action="invalidation_revoked").count() == 1


def test_what_is_pending_waits_for_its_verdict_like_any_other(
    client_of_sender: Client, policy: Any
) -> None:
    low, safe, severe = (of_item(client_of_sender, name) for name in "abc")
    begun = invalidate(low)
    judge(low, policy, safe=False, severity=Severity.LOW)
    judge_safe(safe, policy)
    judge(severe, policy, safe=False, severity=Severity.CRITICAL)

    assert standings() == ["needs_review", "judged_safe", "needs_review"]
    assert all(marked())
    revoke(begun)
    assert standings() == ["needs_review", "judged_safe", "needs_review"]


def test_what_was_marked_and_may_be_closed_by_now_is_named_again(
    client_of_sender: Client, policy: Any
) -> None:
    low, severe = (of_item(client_of_sender, name) for name in "ab")
    of_item(client_of_sender, "c")
    first = invalidate(low)
    judge(low, policy, safe=False, severity=Severity.LOW)
    judge(severe, policy, safe=False, severity=Severity.HIGH)

    plan = plan_of(low)
    assert (plan.reports, plan.marked, plan.closed) == (1, 1, 1)
    second = invalidate(low)
    assert standings() == ["resolved", "needs_review", "pending"]
    assert plan_of(low).reports == 0

    assert revoke(second) == 1
    assert standings() == ["needs_review", "needs_review", "pending"]
    assert all(marked())
    assert revoke(first) == 3
    assert not any(marked())


def test_what_a_later_one_closed_stays_closed_when_an_earlier_one_is_revoked(
    client_of_sender: Client, policy: Any
) -> None:
    report = of_item(client_of_sender, "a")
    other = of_item(client_of_sender, "b")
    first = invalidate(report)
    judge_safe(report, policy)
    second = invalidate(report)

    assert revoke(first) == 1
    assert (standings(), marked()) == (["resolved", "pending"], [True, False])
    assert revoke(second) == 1
    assert (standings(), marked()) == (["judged_safe", "pending"], [False, False])
    assert other.pk


def test_what_was_decided_since_stays_decided(client_of_sender: Client, policy: Any) -> None:
    report = of_item(client_of_sender, "a")
    judge_safe(report, policy)
    begun = invalidate(report)
    resolve(report)

    revoke(begun)

    assert standings() == ["resolved"]


def test_while_a_decision_may_be_taken_back_the_rest_of_it_waits(client_of_sender: Client) -> None:
    first, second = (of_item(client_of_sender, name) for name in "ab")
    begun = invalidate(first)
    resolve(first, effective_at=timezone.now() + timedelta(seconds=10))

    with pytest.raises(DecidedJustNowError):
        revoke(begun)
    assert (standings(), marked()) == (["resolved", "pending"], [True, False])
    begun.refresh_from_db()
    assert begun.revoked_at is None
    time_passes(hours=0.1)

    assert revoke(begun) == 1
    assert not any(marked())
    assert second.pk


def test_interrupted_the_same_again_does_the_rest(client_of_sender: Client, policy: Any) -> None:
    first = of_item(client_of_sender, "a")
    copy_many(first, 250)
    judge_all_safe(first, policy)
    plan = plan_of(first)
    begun = begin_invalidation(
        sender=first.sender,
        pseudonym=first.reporter_pseudonym,
        scope=EVERYTHING,
        plan=plan,
        reason="a campaign",
        actor_name="test",
    )
    assert next(carry_out(invalidation=begun, scope=EVERYTHING, plan=plan)) == SLICE

    assert plan_of(first).reports == 251 - SLICE
    second = invalidate(first)
    assert Item.objects.get().list == "resolved"

    assert next(revoke_invalidation(invalidation=begun, actor_name="test")) == SLICE
    assert revoke(begun) == 0
    assert revoke(second) == 251 - SLICE
    assert set(standings()) == {"judged_safe"}
    assert not any(marked())


def copy_many(report: Report, count: int) -> None:
    """So many more of the same, by the same reporter about the same item."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO reports_report SELECT (jsonb_populate_record(row, jsonb_build_object("
            "'id', nextval('reports_report_id_seq'), 'public_id', gen_random_uuid(),"
            " 'idempotency_key', 'copy ' || n))).*"
            " FROM reports_report AS row CROSS JOIN generate_series(1, %s) AS n WHERE id = %s",
            [count, report.pk],
        )


def judge_all_safe(report: Report, policy: Any) -> None:
    """All reports of its item."""
    ids = list(Report.objects.filter(item=report.item_id).values_list("pk", flat=True))
    for each in Report.objects.filter(pk__in=ids):
        verdict_of(each, policy, safe=True, severity=Severity.NONE, category="none")
    lifecycle.apply_verdicts(
        reports=lifecycle.lock_many(ids),
        verdicts=dict.fromkeys(ids, lifecycle.NewVerdict(safe=True, severity=Severity.NONE)),
    )
    check_constraints_now()
