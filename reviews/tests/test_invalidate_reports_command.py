"""`invalidate_reports`: the plan first, one reporter, exit codes, and the way back."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from classifier.management.operation import Exit, alone
from reports.models import AuditEntry, Invalidation, Report, Severity
from reports.tests.outcomes import judge, resolve
from reports.tests.reporting_again import report_by, report_by_each, standings
from reports.tests.sending import Client

pytestmark = pytest.mark.django_db(transaction=True)
BAD = ("--sender", "chat-app", "--reporter", "u-wrong")
DO = (*BAD, "--execute", "--reason", "a campaign")


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("invalidate_reports", *arguments, stdout=out)
    return out.getvalue()


def told(*arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run(*arguments, "--json").splitlines()]


def refusal(*arguments: str) -> CommandError:
    with pytest.raises(CommandError) as refused:
        run(*arguments)
    return refused.value


@pytest.fixture
def reports(client_of_sender: Client, policy: Any) -> list[Report]:
    """Two by the one in bad faith, one by somebody else, in review."""
    reports = report_by_each(client_of_sender, "u-wrong", "u-wrong", "u-right")
    with transaction.atomic():
        for each in reports:
            judge(each, policy, safe=False, severity=Severity.LOW)
    return reports


@pytest.mark.usefixtures("reports")
def test_without_execute_it_tells_the_plan_and_changes_nothing() -> None:
    said = run(*BAD)

    assert "2 reports of" in said
    assert "to chat-app, about 1 items" in said
    assert "2  would be closed" in said
    assert "0  stay pending" in said
    assert "Nothing was changed." in said
    assert "u-wrong" not in said
    assert standings() == ["needs_review"] * 3


def test_it_does_what_it_planned_and_twice_changes_nothing(reports: list[Report]) -> None:
    plan, done = told("--report", str(reports[1].public_id), "--execute", "--reason", "a campaign")

    assert (plan["event"], plan["closed"], done["event"], done["reports"]) == ("plan", 2, "done", 2)
    assert standings() == ["resolved", "resolved", "needs_review"]
    assert told(*DO)[1] == {"event": "done", "invalidation": None, "reports": 0}
    entry = AuditEntry.objects.get(object_type="invalidation")
    assert (entry.actor_name, entry.detail["reports"]) == ("command invalidate_reports", 2)


@pytest.mark.usefixtures("reports")
def test_the_scope_and_the_limit_narrow_it(client_of_sender: Client) -> None:
    report_by(client_of_sender, "u-wrong", item={"type": "post", "id": "p-1"})

    assert told(*BAD)[0]["reports"] == 3
    assert told(*BAD, "--where", "item_type=post")[0]["reports"] == 1
    assert told(*BAD, "--until", "2020-01-01T00:00:00Z")[0]["reports"] == 0
    assert told(*DO, "--limit", "1")[1]["reports"] == 1
    assert standings() == ["resolved", *["needs_review"] * 2, "pending"]


@pytest.mark.usefixtures("reports")
def test_it_is_put_back_by_its_number() -> None:
    number = str(told(*DO)[1]["invalidation"])
    assert "2 reports would count again: a campaign" in run("--revoke", number)
    assert standings()[0] == "resolved"

    assert "2 reports count again." in run("--revoke", number, "--execute")

    assert standings() == ["needs_review"] * 3
    assert told("--revoke", number, "--execute")[1]["reports"] == 0


def test_what_may_still_be_taken_back_is_left_for_another_run(reports: list[Report]) -> None:
    number = str(told(*DO)[1]["invalidation"])
    resolve(reports[0], effective_at=timezone.now() + timedelta(seconds=30))

    assert refusal("--revoke", number, "--execute").returncode == Exit.SOME_FAILED
    assert Invalidation.objects.get().revoked_at is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "--report, or by --sender and --reporter"),
        (("--sender", "chat-app"), "--report, or by --sender and --reporter"),
        (("--sender", "nobody", "--reporter", "u-wrong"), "No sender is named nobody"),
        (("--report", "00000000-0000-0000-0000-000000000000"), "There is no such report"),
        ((*BAD, "--where", "language=en"), "item_type"),
        ((*BAD, "--execute"), "--reason"),
        (("--revoke", "7"), "There is no invalidation 7"),
    ],
)
@pytest.mark.usefixtures("reports")
def test_a_wrong_call_says_what_is_wrong(arguments: tuple[str, ...], says: str) -> None:
    refused = refusal(*arguments)

    assert says in str(refused)
    assert refused.returncode == Exit.USAGE
    assert not Invalidation.objects.exists()


@pytest.mark.usefixtures("reports")
def test_a_second_one_beside_it_is_refused() -> None:
    with alone("invalidate_reports"):
        assert refusal(*DO).returncode == Exit.LOCKED


@pytest.mark.usefixtures("reports")
def test_a_mistyped_reporter_is_told_that_there_is_nothing_before_a_reason_is_asked_for() -> None:
    typo = ("--sender", "chat-app", "--reporter", "baad")

    plan, done = told(*typo, "--execute")

    assert (plan["reports"], done["reports"]) == (0, 0)
    assert "There was nothing to do." in run(*typo, "--execute")
