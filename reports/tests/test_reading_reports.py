"""What a sender reads of its reports: one by its id, many by pages, never another sender's."""

import base64
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from reports.models import Item, Report, Severity
from reports.tests.outcomes import decision_on, judge, resolve
from reports.tests.sending import REPORTS, Client, assert_problem, body_saying, make_sender

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
QUERIES = 5  # the key, the page, and three lists of what belongs to its rows


def read(client: Client, report: Report) -> dict[str, Any]:
    answer = client.get(f"{REPORTS}{report.public_id}/")
    assert answer.status_code == 200
    result: dict[str, Any] = answer.json()
    return result


def as_json(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def test_a_pending_report_has_no_verdict_and_a_reason(client_of_sender: Client) -> None:
    report = client_of_sender.send()

    assert read(client_of_sender, report) == {
        "id": str(report.public_id),
        "status": "pending",
        "received_at": as_json(report.received_at),
        "due_at": as_json(report.received_at + timedelta(seconds=300)),
        "overdue": False,
        "pending_reason": "waiting_for_worker",
        "classification": None,
        "decision": None,
    }


def test_a_judged_report_shows_its_verdict(client_of_sender: Client, policy: Any) -> None:
    report = client_of_sender.send()
    row = judge(report, policy, safe=False, severity=Severity.LOW)

    answer = read(client_of_sender, report)

    assert (answer["status"], answer["pending_reason"]) == ("needs_review", None)
    assert answer["classification"] == {
        "policy_version": policy.number,
        "category": "spam",
        "confidence": 0.75,
        "summary": "An advertisement.",
        "classified_at": as_json(row.created_at),
    }


def test_a_superseded_verdict_is_not_shown(client_of_sender: Client, policy: Any) -> None:
    report = client_of_sender.send()
    judge(report, policy, safe=False)
    newer = type(policy).objects.create(number=policy.number + 1, state="draft", title="t",
        model="m", prompt="p", categories=[], safe_threshold=1)  # fmt: skip
    report.classifications.update(superseded=True)
    judge(report, newer, safe=False, category="scam")

    assert read(client_of_sender, report)["classification"]["category"] == "scam"


def test_a_decision_shows_when_it_is_in_effect_and_never_who_made_it(
    client_of_sender: Client,
) -> None:
    report = client_of_sender.send()
    decision = resolve(report)

    answer = read(client_of_sender, report)

    assert (answer["status"], answer["classification"]) == ("resolved", None)
    assert answer["decision"] == {
        "action": "remove",
        "category": "spam",
        "effective_at": as_json(decision.effective_at),
    }
    assert decision.reviewer.username not in str(answer)


def test_a_decision_that_may_still_be_undone_is_not_shown(client_of_sender: Client) -> None:
    report = client_of_sender.send()
    earlier = resolve(report, action="warn", category="")
    decision_on(report, effective_at=timezone.now() + timedelta(minutes=1))

    decision = read(client_of_sender, report)["decision"]

    assert decision == {
        "action": "warn",
        "category": None,
        "effective_at": as_json(earlier.effective_at),
    }


@pytest.mark.parametrize("before", ["pending", "resolved"])
def test_until_a_decision_is_in_effect_a_report_has_the_status_that_it_had_before(
    client_of_sender: Client, before: str
) -> None:
    report = client_of_sender.send()
    if before == "resolved":
        resolve(report, action="warn")
    untold = read(client_of_sender, report)
    assert untold["status"] == before
    resolve(report, action="no_violation", effective_at=timezone.now() + timedelta(minutes=1))

    assert read(client_of_sender, report) == untold
    for status in Report.Status.values:
        listed = client_of_sender.get(f"{REPORTS}?status={status}").json()["results"]
        assert listed == ([untold] if status == before else [])


def test_what_overrides_a_decision_before_it_is_in_effect_shows_no_more_than_that(
    client_of_sender: Client,
) -> None:
    report = client_of_sender.send()
    untold = read(client_of_sender, report)
    for action in ("no_violation", "remove"):
        resolve(report, action=action, effective_at=timezone.now() + timedelta(minutes=1))

    assert read(client_of_sender, report) == untold
    listed = client_of_sender.get(f"{REPORTS}?status=pending").json()["results"]
    assert listed == [untold]


def test_a_verdict_of_the_meantime_shows_beside_the_status_that_it_gives(
    client_of_sender: Client, policy: Any
) -> None:
    report = client_of_sender.send()
    resolve(report, effective_at=timezone.now() + timedelta(minutes=1))
    judge(report, policy, safe=True)

    answer = read(client_of_sender, report)

    assert (answer["status"], answer["decision"]) == ("judged_safe", None)
    assert answer["classification"] is not None
    listed = client_of_sender.get(f"{REPORTS}?status=judged_safe").json()["results"]
    assert listed == [answer]


def test_a_decision_that_was_taken_back_never_shows(client_of_sender: Client) -> None:
    report = client_of_sender.send()
    untold = read(client_of_sender, report)
    decision = decision_on(report, effective_at=timezone.now() + timedelta(minutes=1))
    report.item.decisions.create(
        kind="undo", reviewer=decision.reviewer, overrides=decision, note="", reason=""
    )

    assert read(client_of_sender, report) == untold


def test_a_proposal_never_shows(client_of_sender: Client) -> None:
    report = client_of_sender.send()
    untold = read(client_of_sender, report)
    proposal = report.item.decisions.create(
        kind="proposal",
        reviewer=User.objects.create_user("dana"),
        action_id="suspend",
        note="",
        reason="",
    )
    report.decided.create(decision=proposal, status_before="pending")

    assert read(client_of_sender, report) == untold


def test_a_later_decision_overrides_an_earlier_one(client_of_sender: Client) -> None:
    report = client_of_sender.send()
    resolve(report)
    decision_on(report, action="no_violation", effective_at=timezone.now())

    assert read(client_of_sender, report)["decision"]["action"] == "no_violation"


@pytest.mark.parametrize(
    ("minutes", "status", "action"),
    [(6, "pending", None), (12, "pending", None), (16, "resolved", "no_violation")],
)
def test_a_decision_that_was_overridden_before_its_time_never_shows(
    client_of_sender: Client, minutes: int, status: str, action: str | None
) -> None:
    """Ten minutes to undo: decided at 0, corrected at 5, looked at so many minutes after the first."""
    report = client_of_sender.send()
    first = timezone.now() - timedelta(minutes=minutes)
    for taken, decided in ((0, "remove"), (5, "no_violation")):
        created_at = first + timedelta(minutes=taken)
        effective_at = created_at + timedelta(minutes=10)
        resolve(report, action=decided, created_at=created_at, effective_at=effective_at)

    seen = read(client_of_sender, report)

    assert (seen["status"], seen["decision"] and seen["decision"]["action"]) == (status, action)
    for each in Report.Status.values:
        shown = client_of_sender.get(f"{REPORTS}?status={each}").json()["results"]
        assert shown == ([seen] if each == status else [])


def test_a_report_is_overdue_when_its_budget_ran_out_without_a_verdict(
    client_of_sender: Client, policy: Any
) -> None:
    report = client_of_sender.send()
    Report.objects.filter(pk=report.pk).update(due_at=timezone.now() - timedelta(seconds=1))
    assert read(client_of_sender, report)["overdue"] is True

    judge(report, policy, safe=False)

    assert read(client_of_sender, report)["overdue"] is False


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        ({}, "waiting_for_worker"),
        ({"lease_until": timedelta(minutes=1)}, "being_classified"),
        ({"lease_until": -timedelta(minutes=1)}, "waiting_for_worker"),
        ({"reason": "provider_rate_limited"}, "provider_rate_limited"),
        ({"reason": "answer_invalid", "parked": True}, "answer_invalid"),
        ({"reason": "answer_invalid", "lease_until": timedelta(minutes=1)}, "being_classified"),
    ],
)
def test_a_pending_report_says_why(
    client_of_sender: Client, policy: Any, job: dict[str, Any], reason: str
) -> None:
    report = client_of_sender.send()
    lease = job.pop("lease_until", None)
    report.jobs.create(policy_version=policy, lease_until=lease and timezone.now() + lease, **job)

    assert read(client_of_sender, report)["pending_reason"] == reason


def listed(client: Client, **query: Any) -> list[str]:
    answer = client.get(**query)
    assert answer.status_code == 200, answer.content
    return [each["id"] for each in answer.json()["results"]]


def id_of(*reports: Report) -> list[str]:
    return [str(report.public_id) for report in reports]


def test_the_list_is_oldest_first_and_shows_what_the_single_report_shows(
    client_of_sender: Client,
) -> None:
    first, second = (client_of_sender.send(body_saying(text)) for text in ("one", "two"))

    answer = client_of_sender.get().json()

    assert (answer["next"], answer["previous"]) == (None, None)
    assert answer["results"] == [read(client_of_sender, first), read(client_of_sender, second)]


def test_the_list_is_narrowed_by_status_type_and_time(
    client_of_sender: Client, policy: Any
) -> None:
    safe, post, late = (
        client_of_sender.send(body_saying("safe")),
        client_of_sender.send(body_saying("x", item={"type": "post", "id": "p-1"})),
        client_of_sender.send(body_saying("late")),
    )
    judge(safe, policy, safe=True)

    assert listed(client_of_sender, status="judged_safe") == id_of(safe)
    assert listed(client_of_sender, status="pending") == id_of(post, late)
    assert listed(client_of_sender, item_type="post") == id_of(post)
    assert listed(client_of_sender, item_type="nothing") == []
    assert listed(client_of_sender, received_after=as_json(post.received_at)) == id_of(late)
    assert listed(client_of_sender, status="pending", item_type="post") == id_of(post)


def test_a_zone_s_plus_may_have_become_a_space(client_of_sender: Client) -> None:
    report = client_of_sender.send()
    east = report.received_at - timedelta(seconds=1) + timedelta(hours=3)
    after = f"{east.replace(tzinfo=None).isoformat()} 03:00"

    assert listed(client_of_sender, received_after=after) == id_of(report)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", "pending"),
        ("page", "2"),
        ("status", "safe"),
        ("status", ""),
        ("item_type", "\0"),
        ("received_after", "yesterday"),
        ("received_after", "2026-11-01T10:00:00"),
        ("received_after", "2026-11-01"),
        ("received_after", ""),
        ("received_after", "9999-12-31T23:59:59-23:59"),
        ("received_after", "0001-01-01T00:00:00+23:59"),
        ("cursor", "abc"),
        ("cursor", base64.b64encode(b"p=yesterday").decode()),
        ("cursor", base64.b64encode(b"p=%00").decode()),
        ("cursor", base64.b64encode(b"p=10000-01-01").decode()),
        ("cursor", base64.b64encode(b"o=-1").decode()),
        ("cursor", base64.b64encode(b"\xff").decode()),
    ],
)
def test_a_parameter_that_says_nothing_is_400_and_named(
    client_of_sender: Client, field: str, value: str
) -> None:
    client_of_sender.send()

    problem = assert_problem(client_of_sender.get(**{field: value}), 400, "invalid")

    assert [error["field"] for error in problem["errors"]] == [field]


def test_a_sender_reads_its_own_reports_only(client_of_sender: Client) -> None:
    mine, foreign = client_of_sender.send(), make_sender("forum").send()

    assert listed(client_of_sender) == id_of(mine)
    answer = client_of_sender.get(f"{REPORTS}{foreign.public_id}/")
    assert_problem(answer, 404, "not_found")


def arrived(client: Client, count: int, *, each_moment: int) -> list[str]:
    """So many reports on one item, so many of them in each moment; their ids in the order of rows."""
    item = Item.objects.create(sender=client.sender, type="message", external_id="m")
    rows = Report.objects.bulk_create(
        Report(
            sender=client.sender,
            item=item,
            idempotency_key=uuid.uuid4().hex,
            fingerprint=b"x",
            fingerprint_version=1,
            language="en",
            received_at=NOON + timedelta(seconds=number // each_moment),
            due_at=NOON,
        )
        for number in range(count)
    )
    return id_of(*rows)


def pages(client: Client, start: str) -> list[list[str]]:
    """Follow `next` from an address to the end."""
    found, address = [], start
    while address:
        parts = urlsplit(address)
        answer = client.get(parts.path, **dict(parse_qsl(parts.query))).json()
        found.append([each["id"] for each in answer["results"]])
        address = answer["next"]
        assert len(found) < 20
    return found


@pytest.mark.parametrize("each_moment", [1, 7, 100, 350])
def test_pages_hold_each_report_once_also_when_many_came_in_one_moment(
    client_of_sender: Client, each_moment: int
) -> None:
    ids = arrived(client_of_sender, 350, each_moment=each_moment)

    found = pages(client_of_sender, REPORTS)

    assert [len(page) for page in found] == [100, 100, 100, 50]
    assert [each for page in found for each in page] == ids


def test_what_arrives_meanwhile_comes_at_the_end(client_of_sender: Client) -> None:
    ids = arrived(client_of_sender, 150, each_moment=1)
    first = client_of_sender.get().json()
    new = client_of_sender.send()

    rest = pages(client_of_sender, first["next"])

    assert [each for page in rest for each in page] == [*ids[100:], *id_of(new)]


def test_the_filters_stay_on_the_following_pages(client_of_sender: Client) -> None:
    ids = arrived(client_of_sender, 150, each_moment=1)
    client_of_sender.send(body_saying("x", item={"type": "post", "id": "p-1"}))

    found = pages(client_of_sender, f"{REPORTS}?item_type=message")

    assert [each for page in found for each in page] == ids


@pytest.mark.parametrize("count", [1, 50])
def test_a_page_costs_the_same_queries_however_long_it_is(
    client_of_sender: Client,
    policy: Any,
    count: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(count):
        report = client_of_sender.send(body_saying(f"text {number}"))
        judge(report, policy, safe=False)

    with django_assert_num_queries(QUERIES):
        assert len(listed(client_of_sender)) == count
