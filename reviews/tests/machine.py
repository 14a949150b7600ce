"""The state machine's ground: an empty installation, reports that arrive, and the rows as expected."""

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from classifier.tests.situations import load_version
from reports.intake import IdempotencyKeyReusedError, accept_report
from reports.models import Item, Report
from reports.submission import read_submission
from reports.tests.sending import body_saying, make_sender
from reviews.invariants import broken_invariants
from reviews.tests.expected import Expected, place

if TYPE_CHECKING:
    from datetime import datetime

ITEMS = (("chat-app", "m-1"), ("chat-app", "m-2"), ("forum", "m-1"))
TEXTS = ("See you at lunch.", "I will kill you tomorrow.")
MOST_REPORTS = 5


class Intake(RuleBasedStateMachine):
    """The product on a real database, beside what is expected of it; reports arrive."""

    sent = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE reports_sender, classifier_policyversion, auth_user CASCADE")
        self.senders = {name: make_sender(name).sender for name in ("chat-app", "forum")}
        self.versions = [load_version(prompt=f"Version {number}.") for number in (1, 2)]
        self.bodies: dict[int, tuple[str, dict[str, Any]]] = {}
        self.reports: dict[int, Expected] = {}
        self.times: dict[int, tuple[datetime, datetime]] = {}

    # --- Intake

    def accept(self, key: str, body: dict[str, Any], sender: str) -> Report:
        # The time to undo passes for what was upheld: only then does it raise a floor.
        with connection.cursor() as cursor:
            cursor.execute("UPDATE reports_report SET upheld_at = upheld_at - interval '1 minute'")
        accepted = accept_report(
            sender=self.senders[sender],
            idempotency_key=key,
            document=body,
            submission=read_submission(body),
        )
        report = accepted.report
        assert accepted.created == (report.pk not in self.reports)
        if accepted.created:
            rules = self.rules_for(report, body)
            assert (report.floor_rules, report.floor) == (
                list(rules),
                max(rules.values(), default=0),
            )
            self.bodies[report.pk] = key, body
            self.times[report.pk] = report.received_at, report.due_at
            self.reports[report.pk] = Expected(
                report.pk, report.sender_id, report.item_id, report.floor
            )
        return report

    def rules_for(self, report: Report, body: dict[str, Any]) -> dict[str, int]:
        """What the report itself raises, and what people upheld before it came."""
        message = body["messages"][0]
        upheld = [each for each in self.reports.values() if each.upheld]
        of_item = any(each.item == report.item_id for each in upheld)
        of_author = any(
            each.sender == report.sender_id
            and self.bodies[each.id][1]["messages"][0]["author_id"] == message["author_id"]
            for each in upheld
        )
        return {
            **({"threat_en": 4} if message["text"] == TEXTS[1] else {}),
            **({"item_upheld_before": 2} if of_item else {}),
            **({"author_upheld_before": 1} if of_author else {}),
        }

    @initialize(target=sent)
    def two_reports_of_an_item_are_there(self) -> Any:
        return multiple(*(self.a_report_arrives(ITEMS[0], TEXTS[0]) for _report in range(2)))

    @precondition(lambda self: len(self.reports) < MOST_REPORTS)
    @rule(target=sent, item=st.sampled_from(ITEMS), text=st.sampled_from(TEXTS))
    def a_report_arrives(self, item: tuple[str, str], text: str) -> int:
        sender, name = item
        body = body_saying(text, reason=None, item={"type": "message", "id": name})
        return self.accept(f"key-{len(self.reports)}", body, sender).pk

    @rule(target=sent, report=sent, fresh=st.booleans())
    def its_sender_tries_again(self, report: int, *, fresh: bool) -> Any:
        key, body = self.bodies[report]
        sender = self.sender_of(report)
        if fresh and len(self.reports) < MOST_REPORTS:
            again = self.accept(f"key-{len(self.reports)}", body, sender)
            assert again.likely_retry
            return again.pk
        assert self.accept(key, dict(reversed(body.items())), sender).pk == report
        with pytest.raises(IdempotencyKeyReusedError):
            self.accept(key, {**body, "comment": "another"}, sender)
        return multiple()

    def sender_of(self, report: int) -> str:
        return next(n for n, each in self.senders.items() if each.pk == self.reports[report].sender)

    # --- What must be true after each step

    @invariant()
    def the_rows_are_what_the_design_says(self) -> None:
        expected = self.reports.values()
        assert rows("SELECT id, status, floor, rank FROM reports_report") == {
            (each.id, each.status, each.floor, each.rank) for each in expected
        }
        assert rows(
            "SELECT report_id, policy_version_id, superseded, severity, safe, summary"
            " FROM classifier_classification"
        ) == {
            (each.id, version, version != each.current, *verdict)
            for each in expected
            for version, verdict in each.verdicts.items()
        }
        assert rows(JOBS) == {
            (each.id, version, *job) for each in expected for version, job in each.jobs.items()
        }

    @invariant()
    def each_item_stands_in_one_list_whose_order_no_retry_changes(self) -> None:
        places = {
            item: place([each for each in self.reports.values() if each.item == item])
            for item in {each.item for each in self.reports.values()}
        }
        order = sorted(places, key=lambda item: (-places[item].rank, places[item].oldest))
        standing = Item.objects.order_by("-rank", "since", "id")
        assert list(standing.values_list("pk", "list", "rank", "since", "due_at")) == [
            (item, name, rank, self.times[oldest][0], due and self.times[due][1])
            for item in order
            for name, rank, oldest, due in [places[item]]
        ]

    def teardown(self) -> None:
        assert broken_invariants() == []


JOBS = """
SELECT report_id, policy_version_id, attempts, claims, faults,
    CASE WHEN lease_until IS NULL THEN '' WHEN lease_until > clock_timestamp() THEN 'held' ELSE 'over' END,
    coalesce(not_before > clock_timestamp(), false), parked, done, reason, dropped
FROM classifier_job
"""


def rows(sql: str) -> set[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return set(cursor.fetchall())
