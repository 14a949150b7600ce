"""The state machine's ground: an empty installation, reports that arrive, and the rows as expected."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, ClassVar

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
from reports.models import Item, Report, Sender
from reports.submission import read_submission
from reports.tests.sending import body_saying, make_sender
from reviews.invariants import broken_invariants
from reviews.tests.expected import Expected, come_from_several, place

ITEMS = (("chat-app", "m-1"), ("chat-app", "m-2"), ("forum", "m-1"))
TEXTS = ("See you at lunch.", "I will kill you tomorrow.")
REPORTERS = ("u-9", "u-1", "u-2")
MOST_REPORTS = 5


class Intake(RuleBasedStateMachine):
    """The product on a real database, beside what is expected of it; reports arrive."""

    reached: ClassVar[Counter[str]] = Counter()

    sent = Bundle("sent")

    def __init__(self) -> None:
        super().__init__()
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE reports_sender, classifier_policyversion, auth_user CASCADE")
        self.senders = {name: make_sender(name).sender for name in ("chat-app", "forum")}
        Sender.objects.update(returns_from=2)
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
                report.pk,
                report.sender_id,
                report.item_id,
                report.floor,
                body["reporter"]["id"],
            )
            self.expect_it_to_come_back(report.item_id)
        return report

    def expect_it_to_come_back(self, item: int) -> None:
        settled = [r for r in self.of_item(item) if r.status in {"judged_safe", "resolved"}]
        if settled and self.several_bring_back(item, leaving=0):
            max(settled, key=lambda report: (report.rank, report.id)).be_brought_back()
            self.reached["brought back"] += 1

    def several_bring_back(self, item: int, *, leaving: int) -> bool:
        """Whether people bring the item back. `leaving`: so many of its reports would leave review."""
        reports = self.of_item(item)
        in_review = sum(report.status == "needs_review" for report in reports)
        is_back = in_review > leaving or any(report.brought_back for report in reports)
        return not is_back and come_from_several(reports, heard=self.heard(item))

    def heard(self, _item: int) -> int:
        """How many of the item's reports had come before the last decision that stands."""
        return 0

    def may_be_undone(self, _report: Expected) -> bool:
        """Whether a decision about it is not in effect yet."""
        return False

    def of_item(self, item: int) -> list[Expected]:
        return [each for each in self.reports.values() if each.item == item]

    def rules_for(self, report: Report, body: dict[str, Any]) -> dict[str, int]:
        """What the report itself raises, what people upheld before it came, and who reports."""
        message, reporter = body["messages"][0], body["reporter"]["id"]
        others = {each.reporter for each in self.of_item(report.item_id)} - {reporter}
        theirs = [
            each
            for each in self.reports.values()
            if (each.sender, each.reporter) == (report.sender_id, reporter)
            and (each.status == "resolved" or each.upheld)
            and not self.may_be_undone(each)
        ]
        # Of so few, one that was cleared leaves it open.
        reliable = len(theirs) >= 5 and all(each.upheld for each in theirs)
        upheld = [each for each in self.reports.values() if each.upheld]
        of_item = any(each.item == report.item_id for each in upheld)
        of_author = any(
            each.sender == report.sender_id
            and self.bodies[each.id][1]["messages"][0]["author_id"] == message["author_id"]
            for each in upheld
        )
        return {
            **({"threat_en": 4} if message["text"] == TEXTS[1] else {}),
            **({"several_reporters": 2} if len(others) >= 2 else {}),
            **({"item_upheld_before": 2} if of_item else {}),
            **({"author_upheld_before": 1} if of_author else {}),
            **({"reliable_reporter": 1} if reliable else {}),
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

    @precondition(lambda self: len(self.reports) < MOST_REPORTS)
    @rule(target=sent, report=sent)
    def two_others_report_its_item(self, report: int) -> Any:
        """They may have reported it before."""
        body, sender = self.bodies[report][1], self.sender_of(report)
        others = [who for who in REPORTERS if who != body["reporter"]["id"]]
        return multiple(
            *(
                self.accept(
                    f"key-{len(self.reports)}", {**body, "reporter": {"id": who}}, sender
                ).pk
                for who in others
            )
        )

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

    def grow_older(self, seconds: int) -> None:
        """So much time passes for all reports, and for what brought items back."""
        with connection.cursor() as cursor:
            for table, columns in (
                ("reports_report", ("received_at",)),
                ("reports_item", ("since",)),
                ("reports_return", ("since", "returned_at", "ended_at")),
            ):
                older = ", ".join(
                    f"{name} = {name} - make_interval(secs => %(by)s)" for name in columns
                )
                cursor.execute(f"UPDATE {table} SET {older}", {"by": seconds})  # noqa: S608
        for report, (received, due) in self.times.items():
            self.times[report] = received - timedelta(seconds=seconds), due

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
    def what_came_back_is_written_down(self) -> None:
        assert rows("SELECT item_id, report_id FROM reports_return WHERE ended_at IS NULL") == {
            (each.item, each.id) for each in self.reports.values() if each.brought_back
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
