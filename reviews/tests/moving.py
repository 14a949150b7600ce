"""What tests of moving through a list share: the addresses, who has what, and what was audited."""

from collections.abc import Callable
from threading import Thread

from django.contrib.auth.models import User
from django.db import connections, transaction
from django.test import Client as Browser

from classifier.tests.situations import other_connection, wait_until
from reports.models import AuditEntry, Report
from reviews.models import Claim, Hold

START = "/review/pending/start/"
NONE_LEFT = "/review/pending/"


def go(browser: Browser, address: str, **values: str) -> str:
    """Where a move leads."""
    answer = browser.post(address, values)
    assert answer.status_code == 302, (address, answer.status_code)
    return str(answer["Location"])


def item_of(report: Report) -> str:
    return f"/review/items/{report.item_id}/?from=pending"


def move(report: Report, name: str) -> str:
    return f"/review/items/{report.item_id}/{name}/?from=pending"


def audited() -> list[str]:
    """What people did, in order."""
    people = AuditEntry.objects.filter(actor__isnull=False).order_by("id")
    return [f"{each.actor_name} {each.action}" for each in people]


def holders() -> dict[int, str]:
    claims = Claim.objects.in_force().select_related("reviewer")
    return {each.item_id: each.reviewer.username for each in claims}


def pk(name: str) -> int:
    return User.objects.get(username=name).pk


def hold(report: Report, by: str, kind: Hold.Kind) -> None:
    placed_by, _made = User.objects.get_or_create(username=by)
    Hold.objects.create(item_id=report.item_id, kind=kind, placed_by=placed_by)


def somebody_waits() -> bool:
    with other_connection() as other:
        found = other.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ).fetchone()
    return bool(found and found[0])


def meanwhile(first: Callable[[], object], second: Callable[[], object]) -> None:
    """`second` begins while the transaction of `first` stands open, and ends after its commit."""

    def run() -> None:
        second()
        connections.close_all()

    thread = Thread(target=run)
    with transaction.atomic():
        first()
        thread.start()
        wait_until(somebody_waits)
    thread.join(10)
    assert not thread.is_alive()
