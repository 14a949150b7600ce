"""Each invariant, broken on purpose behind the database's back, is named with the ids; nothing else is."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from classifier.batches.reopen import reopen_disagreements
from classifier.jobs import put_off
from classifier.models import (
    Batch,
    BatchLine,
    Classification,
    Job,
    PolicyVersion,
    ProviderBatch,
    WaitingReason,
)
from classifier.recording import record_rows
from classifier.tests.batches import make_batch
from classifier.tests.history import ask_again
from classifier.tests.situations import (
    claim,
    load_version,
    make_many,
    record,
    send_text,
)
from conftest import check_constraints_now, undone
from reports.models import Report, Sender
from reports.tests.invalidating import invalidate
from reports.tests.sending import Client, make_sender
from reports.tests.unguarded import unguarded
from reviews.decisions import Wish, decide_item
from reviews.invariants import broken_invariants
from reviews.models import Decision
from reviews.tests.harms import HARMS, Harm, lose_content

pytestmark = pytest.mark.django_db


def decide(report: Report, action: str, *, last: Decision | None = None) -> Decision:
    reviewer, _made = User.objects.get_or_create(username="dana")
    return decide_item(
        item_id=report.item_id,
        reviewer=reviewer,
        wish=Wish(action),
        report_ids=[report.pk],
        last_decision_id=last.pk if last else None,
    )


@pytest.fixture
def life(client_of_sender: Client, policy: PolicyVersion) -> dict[str, Report]:
    """One report in each situation that the product leads to, by the product's own steps."""

    def send(name: str, **changes: Any) -> Report:
        return send_text(client_of_sender, reporter={"id": f"reporter of {name}"}, **changes)

    life = {"new": send("new")}
    for name in ("leased", "waiting", "parked", "decided"):
        life[name] = send(name)
    claim(life["leased"], policy)
    for name, reason in (
        ("waiting", WaitingReason.PROVIDER_QUOTA),
        ("parked", WaitingReason.MODEL_REFUSED),
        ("decided", WaitingReason.ANSWER_CUT),
    ):
        put_off(claimed=claim(life[name], policy), reason=reason)
    decide(life["decided"], "warn")
    for name, category in (
        ("safe", "none"),
        ("unsafe", "spam"),
        ("resolved", "spam"),
        ("reopened", "none"),
    ):
        life[name] = send(name)
        record(claim(life[name], policy), category=category)
    decide(life["resolved"], "remove")
    first = decide(life["reopened"], "no_violation")
    decide(life["reopened"], "reopen", last=first)
    life["newer"] = send("newer")
    older = claim(life["newer"], policy)
    record(claim(life["newer"], load_version(prompt="Another.")), category="spam")
    record(older, category="spam")
    ask_history_again(life, send, policy)
    # Under the version that is active now the waiting ones have jobs as well.
    Job.objects.filter(report__in=[life["leased"], life["waiting"], life["parked"]]).update(
        policy_version=PolicyVersion.objects.get(state="active")
    )
    report_again(life, send)
    discount(life, send, policy)
    make_sender("forum")
    check_constraints_now()
    return life


def discount(life: dict[str, Report], send: Callable[..., Report], policy: PolicyVersion) -> None:
    """What was reported in bad faith is closed, or marked where nobody has judged it."""
    for name in ("discounted", "unread"):
        life[name] = send(name)
    record(claim(life["discounted"], policy))
    for name in ("discounted", "unread"):
        invalidate(life[name])


def report_again(life: dict[str, Report], send: Callable[..., Report]) -> None:
    """What was resolved comes back when two others report it."""
    life["recalled"] = send("recalled")
    decide(life["recalled"], "no_violation")
    Sender.objects.update(returns_from=2)
    item = {"type": "message", "id": life["recalled"].item.external_id}
    for name in ("again", "once_more"):
        life[name] = send(name, item=item)


def ask_history_again(
    life: dict[str, Report], send: Callable[[str], Report], policy: PolicyVersion
) -> None:
    """A batch that has ended, which found what older verdicts and people had not found."""
    for name in ("returned", "disagreeing", "carried"):
        life[name] = send(name)
        record(claim(life[name], policy))
    decide(life["returned"], "no_violation")
    batch = make_batch(PolicyVersion.objects.get(state="active"))
    ask_again(life["returned"], batch, category="spam")
    reopen_disagreements(batch_id=batch.pk, at_most=1, actor_name="test")
    ask_again(life["disagreeing"], batch, category="hate")
    job = Job.objects.get(report=life["disagreeing"], batch=batch)
    remote = ProviderBatch.objects.create(batch=batch, state="recorded", remote_id="b-1", lines=1)
    BatchLine.objects.create(provider_batch=remote, job=job, outcome="recorded")
    Job.objects.filter(pk=job.pk).update(claims=0, through="provider_batch")
    job = Job.objects.create(
        report=life["carried"], policy_version=batch.policy_version, lane="batch", batch=batch
    )
    carried = Classification.objects.get(report=life["carried"])
    carried.carried_from_id, carried.policy_version_id = carried.pk, batch.policy_version_id
    record_rows({job.pk: carried}, batch_id=batch.pk)
    Batch.objects.update(state="done", ended_at=Now())


def test_after_a_mixed_life_all_hold(life: dict[str, Report]) -> None:
    assert len({report.status for report in Report.objects.all()}) == 4
    assert broken_invariants() == []
    assert len(life) == Report.objects.count()


@pytest.mark.parametrize(
    "changes",
    [
        {"metadata": {"n": [1e22, -0.0, 1e-7, 0.1, 1.50, 5e-324, 1.7976931348623157e308, 10**99]}},
        {"metadata": {"": {"ö": [None, True, "1", "\u2028", "\U0001f600"]}}},
        {"reporter": None},
        {"reporter": {}},
        {"reporter": {"id": None}},
        {"reporter": {"id": " u-9 "}},
    ],
)
def test_whatever_was_sent_gives_its_fingerprint_again(
    client_of_sender: Client, changes: dict[str, Any]
) -> None:
    send_text(client_of_sender, **changes)

    assert broken_invariants() == []


def test_a_broken_one_is_named_and_no_other(
    life: dict[str, Report], subtests: pytest.Subtests
) -> None:
    for title, harm in HARMS.items():
        with subtests.test(title), undone():
            do(harm, life)
            assert_named(harm, life)


def do(harm: Harm, life: dict[str, Report]) -> None:
    sql = re.sub(r":(\w+)", lambda found: str(life[found[1]].pk), harm.sql)
    sql = re.sub(r"@(\w+)", lambda found: str(life[found[1]].item_id), sql)
    with unguarded() as cursor:
        cursor.execute(sql)


def assert_named(harm: Harm, life: dict[str, Report]) -> None:
    broken = broken_invariants()
    assert {each.invariant for each in broken} == {harm.invariant}, broken
    expected = {f"item of {name}": str(report.item_id) for name, report in life.items()}
    expected |= {name: str(report.public_id) for name, report in life.items()}
    names = [harm.names] if harm.names in expected else harm.names.split()
    assert {one for each in broken for one in each.ids} == {
        expected.get(each, each) for each in names
    }


@pytest.mark.parametrize(
    ("table", "trigger"),
    [
        ("reports_content", "content_is_immutable"),
        ("reports_auditentry", "audit_is_append_only"),
        ("classifier_classification", "verdict_stands"),
        ("classifier_policyversion", "policy_version_stands"),
        ("reviews_decision", "decision_stands"),
        ("reviews_decision", "decision_may_be_said"),
        ("reviews_decision", "report_status_agrees_with_undos"),
        ("reviews_decidedreport", "decided_report_stands"),
        ("reviews_action", "action_stands"),
        ("reports_invalidation", "report_status_agrees_after_revoking"),
        ("reports_invalidatedreport", "invalidated_report_stands"),
        ("reviews_draw", "draw_stands"),
        ("reviews_stratum", "stratum_stands"),
        ("reviews_blindaudit", "audit_only_gets_its_answer"),
        ("reviews_doublereview", "double_review_may_be_said"),
        ("reports_report", "report_status_agrees_on_update"),
        ("reports_report", "report_status_agrees_on_insert"),
        ("classifier_classification", "report_status_agrees_with_verdicts"),
    ],
)
@pytest.mark.parametrize("harm", ["DISABLE TRIGGER {}", "ENABLE REPLICA TRIGGER {}", "drop"])
def test_a_trigger_that_is_gone_or_asleep_is_named(table: str, trigger: str, harm: str) -> None:
    with connection.cursor() as cursor:
        if harm == "drop":
            cursor.execute(f"DROP TRIGGER {trigger} ON {table}")
        else:
            cursor.execute(f"ALTER TABLE {table} {harm.format(trigger)}")

    (broken,) = broken_invariants()

    assert (broken.invariant, broken.ids, broken.count) == ("V10", [trigger], 1)


def test_every_trigger_of_the_product_is_watched() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")
        (triggers,) = cursor.fetchone()

    assert triggers == 18


# --- What is not broken


def leave(report: Report, *, seconds_ago: int, nudged: str = "NULL") -> None:
    """The report's holder died with its lease so long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE classifier_job SET nudged_at = {nudged},"  # noqa: S608
            " lease_until = clock_timestamp() - make_interval(secs => %s) WHERE report_id = %s",
            [seconds_ago, report.pk],
        )


def test_the_sweep_has_its_grace_to_find_a_dead_holder(life: dict[str, Report]) -> None:
    leave(life["leased"], seconds_ago=200)

    assert broken_invariants() == []
    assert [each.invariant for each in broken_invariants(grace_seconds=100)] == ["V9"]


def test_a_dead_holder_whose_report_was_nudged_since_waits_for_a_worker(
    life: dict[str, Report],
) -> None:
    leave(life["leased"], seconds_ago=3600, nudged="clock_timestamp()")

    assert broken_invariants() == []


def test_a_backlog_beyond_the_bound_has_its_turns(
    life: dict[str, Report], settings: Settings
) -> None:
    leave(life["leased"], seconds_ago=3600)
    settings.QUEUE_BOUND = 3

    assert broken_invariants() == []


def test_without_an_active_version_nothing_is_broken(client_of_sender: Client) -> None:
    send_text(client_of_sender)

    assert not PolicyVersion.objects.exists()
    assert broken_invariants() == []


# --- Reading


def test_a_hundred_are_named_and_more_are_counted_as_more() -> None:
    lose_content()

    (broken,) = broken_invariants()

    assert (broken.invariant, len(broken.ids), broken.count) == ("V1", 100, 101)
    first = Report.objects.order_by("received_at", "pk").first()
    assert first is not None
    assert broken.ids[0] == str(first.public_id)


def test_bodies_are_read_in_pages_and_counted() -> None:
    make_many("crowd", 250)  # their fingerprints are empty, so all of them are wrong
    read: list[int] = []

    (broken,) = broken_invariants(on_read=read.append)

    assert read == [100, 200]  # by then enough of them are known
    assert (broken.invariant, broken.count) == ("V8", 101)
    assert broken_invariants(content=False) == []


@pytest.mark.django_db(transaction=True)
def test_it_reads_one_snapshot_and_cannot_write() -> None:
    with CaptureQueriesContext(connection) as captured:
        assert broken_invariants() == []

    statements = [each["sql"] for each in captured]
    begins = [n for n, sql in enumerate(statements) if sql == "BEGIN"]
    assert len(begins) == 2  # the rules; a page of content
    for begin in begins:
        assert statements[begin + 1] == (
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        )
