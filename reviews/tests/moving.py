"""What tests of moving through a list share: the addresses, who has what, and what was audited."""

from django.contrib.auth.models import User
from django.test import Client as Browser

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
