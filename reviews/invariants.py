"""What must hold whatever died: V1-V11 of the design, as far as the stored rows can tell."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import OuterRef, Subquery

from classifier.models import Job
from classifier.provider_errors import LONGEST_RETRY_AFTER_SECONDS
from reports.fingerprint import FINGERPRINT_VERSION, fingerprint, pseudonym
from reports.models import Content, Report, ReporterIdentity
from reports.nudge import Lane, queue_bound, queue_length
from reviews.history_invariants import HISTORY_RULES
from reviews.invariant_queries import RULES

GRACE_SECONDS = 300.0
NAMED_AT_MOST = 100
# Bodies read at once. One may have a megabyte, so the page is short.
PAGE = 100


INVARIANTS = {
    "V1": "every report has its item, its content and its reporter, and its key but once",
    "V2": "every report is pending, has a current verdict, or a person decided about it",
    "V3": "no report has two current verdicts",
    "V4": "no report has two verdicts or two jobs under one policy version",
    "V5": "the current verdict is that of the highest version that answered",
    "V6": "status, list, rank and time agree with verdicts and decisions",
    "V7": "claims, attempts, faults and batches add up (calls are in the provider's log alone)",
    "V8": "stored content and its fingerprint are what was sent",
    "V9": "attempts are within bounds and no lease outlives its time unseen",
    "V10": "every answer has its hash and the triggers that keep rows as they are stand",
    "V11": "the queues are within their bound and nothing pending waits without a reason",
}


@dataclass(frozen=True)
class Broken:
    """One rule that does not hold, and what breaks it."""

    invariant: str
    """`V1` to `V11`."""
    sentence: str
    ids: list[str]
    """At most 100: public ids of reports; of items, keys and triggers where the sentence says so."""
    count: int
    """Exact up to 100; 101 means more than 100."""


def broken_invariants(
    *,
    grace_seconds: float = GRACE_SECONDS,
    content: bool = True,
    on_read: Callable[[int], None] = lambda _count: None,
) -> list[Broken]:
    """Every rule that the rows break; empty where all hold. Reads only, from one snapshot.

    `grace_seconds`: how long after a lease's end the sweep may take to find it. `content` reads
    every stored body for V8, page by page, and calls `on_read` with the count so far. Called
    inside a transaction it sees what that transaction sees.
    """
    found = _by_the_rules(grace_seconds)
    if content and (wrong := _changed_content(on_read)):
        sentence = "reports whose content, item or reporter is not what was sent"
        found.append(_broken("V8", sentence, wrong))
    return found


def overlong_queues() -> list[Broken]:
    """V11's other half, which only the broker knows; raises what the broker's client raises."""
    over = [lane.value for lane in Lane if queue_length(lane) > queue_bound(lane)]
    return [_broken("V11", "queues that hold more nudges than their bound", over)] if over else []


def _by_the_rules(grace_seconds: float) -> list[Broken]:
    found = []
    bounds = {
        "attempts": Job.MAX_ATTEMPTS,
        "bound": settings.QUEUE_BOUND,
        "grace": grace_seconds,
        "lease": settings.LEASE_SECONDS,
        "longest": LONGEST_RETRY_AFTER_SECONDS,
        "most": NAMED_AT_MOST + 1,
    }
    with _reading_only(), connection.cursor() as cursor:
        for rule in (*RULES, *HISTORY_RULES):
            cursor.execute(f"{rule.sql} LIMIT %(most)s", bounds)
            if ids := [row[0] for row in cursor.fetchall()]:
                named = _public_ids(ids) if rule.of_reports else ids
                found.append(_broken(rule.invariant, rule.sentence, named))
    return found


def _public_ids(ids: list[int]) -> list[UUID]:
    rows = Report.objects.filter(pk__in=ids).order_by("received_at", "pk")
    return list(rows.values_list("public_id", flat=True))


def _broken(invariant: str, sentence: str, ids: Sequence[object]) -> Broken:
    return Broken(invariant, sentence, [str(each) for each in ids[:NAMED_AT_MOST]], len(ids))


@contextmanager
def _reading_only() -> Iterator[None]:
    outermost = not connection.in_atomic_block
    with transaction.atomic(), connection.cursor() as cursor:
        # A snapshot can only be asked for before the first query of a transaction.
        snapshot = "ISOLATION LEVEL REPEATABLE READ, " if outermost else ""
        cursor.execute(f"SET TRANSACTION {snapshot}READ ONLY")
        yield


def _changed_content(on_read: Callable[[int], None]) -> list[str]:
    """The public ids of reports whose body no longer gives their fingerprint; one more than named.

    A page is a statement of its own: bodies never change, and a snapshot as long as this takes
    would keep the vacuum from its work.
    """
    reporter = ReporterIdentity.objects.filter(
        sender=OuterRef("report__sender"), pseudonym=OuterRef("report__reporter_pseudonym")
    )
    contents = (
        Content.objects.select_related("report__item")
        .annotate(reporter_id=Subquery(reporter.values("external_id")))
        .order_by("pk")
    )
    wrong: list[str] = []
    after, count = 0, 0
    while len(wrong) <= NAMED_AT_MOST:
        with _reading_only():
            page = list(contents.filter(pk__gt=after)[:PAGE])
        if not page:
            break
        wrong += [str(each.report) for each in page if not _is_as_sent(each, each.reporter_id)]
        after, count = page[-1].pk, count + len(page)
        on_read(count)
    return wrong[: NAMED_AT_MOST + 1]


def _is_as_sent(content: Content, reporter_id: str | None) -> bool:
    report, body = content.report, content.body
    if report.fingerprint_version != FINGERPRINT_VERSION or not isinstance(body, dict):
        return False
    if report.reporter_pseudonym:
        if reporter_id is None:
            return True  # V1 names it; without the identity nothing can be said
        if report.reporter_pseudonym != pseudonym(
            sender_id=report.sender_id, reporter_id=reporter_id
        ):
            return False
        body = {**body, "reporter": {"id": reporter_id}}
    # The fingerprint first: a body that gives it has the shape that intake checked.
    return fingerprint(body) == bytes(report.fingerprint) and (
        (body["item"]["type"], body["item"]["id"]) == (report.item.type, report.item.external_id)
    )
