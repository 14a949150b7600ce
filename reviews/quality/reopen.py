"""What is like a found miss goes back to people: item by item, each with its own answer."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from classifier.disagreements import settle_open
from reports import lifecycle
from reports.audit import write_audit
from reports.models import Item, Report, Severity
from reports.peoples_hands import LIKE_A_MISS
from reviews.models import BlindAudit

SENT_BACK = "sent_back"


@dataclass(frozen=True)
class Outcome:
    """How many of an item's chosen reports went back; 0: none was judged safe any more."""

    item: Item
    sent_back: int


def send_back(*, audit: BlindAudit, report_ids: Collection[int], lead: User) -> list[Outcome]:
    """Send those back to review that are still judged safe; a transaction and an audit row an item.

    Their floor rises to the severity of what was found, so that they stand where it would stand and
    no later policy version takes them away from people. Sent twice it changes nothing more.
    """
    chosen: dict[int, list[int]] = defaultdict(list)
    named = Report.objects.filter(pk__any=report_ids).order_by("item", "pk")
    for item_id, report_id in named.values_list("item", "pk"):
        chosen[item_id].append(report_id)
    return [_send_back_of(item_id, pks, audit, lead) for item_id, pks in chosen.items()]


def _send_back_of(
    item_id: int, report_ids: Collection[int], audit: BlindAudit, lead: User
) -> Outcome:
    with transaction.atomic():
        item = lifecycle.lock_item(item_id)
        reports = [
            report
            for report in lifecycle.lock_reports(item_id, report_ids)
            if report.status == Report.Status.JUDGED_SAFE
        ]
        if reports:
            found = audit.decision
            severity = Severity((found and found.severity) or Severity.LOW)
            for report in reports:
                lifecycle.raise_floor(report=report, to=severity, rule=LIKE_A_MISS)
            settle_open([report.pk for report in reports])
            write_audit(
                action=SENT_BACK,
                of=item,
                actor=lead,
                detail={
                    "like_the_miss": audit.pk,
                    "found": found.category if found else "",
                    "reports": [str(report.public_id) for report in reports],
                },
            )
    return Outcome(item, len(reports))
