"""How tests have people report one item, and time pass for what they sent."""

from typing import Any

from django.db import transaction

from reports.models import Report
from reports.tests.outcomes import judge
from reports.tests.sending import Client, body_saying
from reports.tests.unguarded import unguarded

ITEM = {"type": "message", "id": "m-1"}


def report_by(client: Client, reporter: str | None, **changes: Any) -> Report:
    """A harmless report of the one item, by this person."""
    fields = {"item": ITEM, "reason": None, "reporter": {"id": reporter}, **changes}
    return client.send(body_saying("See you at lunch.", **fields))


def report_by_each(client: Client, *reporters: str) -> list[Report]:
    return [report_by(client, each) for each in reporters]


def judge_safe(report: Report, policy: Any) -> None:
    with transaction.atomic():  # the verdict and what it makes of the report, together
        judge(report, policy, safe=True, category="none", confidence=0.95)


def judged_safe_by(client: Client, policy: Any, reporter: str) -> Report:
    report = report_by(client, reporter)
    judge_safe(report, policy)
    report.refresh_from_db()
    assert report.status == Report.Status.JUDGED_SAFE
    return report


def time_passes(*, hours: float) -> None:
    """For whatever was reported, decided and brought back so far."""
    with unguarded() as cursor:
        for table, columns in (
            ("reports_report", ("received_at", "upheld_at")),
            ("reviews_decision", ("created_at", "effective_at")),
            ("reports_return", ("since", "returned_at", "ended_at")),
        ):
            moved = ", ".join(
                f"{name} = {name} - make_interval(secs => %(by)s)" for name in columns
            )
            cursor.execute(f"UPDATE {table} SET {moved}", {"by": hours * 3600})  # noqa: S608


def standings() -> list[str]:
    """The status of each report, in the order in which they came."""
    return list(Report.objects.order_by("pk").values_list("status", flat=True))
