"""The one way in: a checked body becomes an item, a report and its content, or a read of the row
that stands under the same key.
"""

from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Value
from django.db.models.functions import Now

from reports import lifecycle, triage
from reports.failpoints import Point, hit
from reports.fingerprint import FINGERPRINT_VERSION, fingerprint, pseudonym
from reports.models import Content, Report, Sender
from reports.nudge import Lane, nudge
from reports.placing import place_items
from reports.signals import author_of, read_signals
from reports.submission import Submission


class IdempotencyKeyReusedError(Exception):
    """The key stands for another body. The row under it is untouched."""


@dataclass(frozen=True)
class Accepted:
    """The row that stands, and whether this call wrote it."""

    report: Report
    created: bool


def accept_report(
    *, sender: Sender, idempotency_key: str, document: dict[str, Any], submission: Submission
) -> Accepted:
    """Store one report durably, then hand out a nudge; called outside any transaction.

    `document` is the body as it was sent, `submission` the same checked. A second call with the
    same key and body reads the standing row; another body raises `IdempotencyKeyReusedError`.
    """
    digest = fingerprint(document)
    standing = _standing(sender, idempotency_key)
    if standing is None:
        try:
            report = _store(sender, idempotency_key, digest, document, submission)
        except IntegrityError as error:
            if not _is_key_conflict(error):
                raise
            # Somebody else's identical request committed between the read and the insert.
            standing = _standing(sender, idempotency_key)
            if standing is None:
                raise
        else:
            nudge(report_id=report.pk, lane=Lane.LIVE)
            return Accepted(report, created=True)
    if bytes(standing.fingerprint) != digest:
        raise IdempotencyKeyReusedError
    return Accepted(standing, created=False)


def _standing(sender: Sender, idempotency_key: str) -> Report | None:
    return Report.objects.filter(sender=sender, idempotency_key=idempotency_key).first()


def _store(
    sender: Sender,
    idempotency_key: str,
    digest: bytes,
    document: dict[str, Any],
    submission: Submission,
) -> Report:
    found = triage.read_text(submission)
    author = author_of(submission, sender=sender)
    with transaction.atomic():
        item_id, stood_before = _lock_or_make_item(sender, submission)
        reporter = _remember_reporter(sender, submission)
        signals = read_signals(
            sender=sender,
            item_id=item_id,
            reporter=reporter,
            author=author,
            reason=submission.reason or "",
        )
        floor = triage.combine(found, signals)
        report = Report(
            sender=sender,
            item_id=item_id,
            idempotency_key=idempotency_key,
            fingerprint=digest,
            fingerprint_version=FINGERPRINT_VERSION,
            likely_retry=Report.objects.filter(sender=sender, fingerprint=digest).exists(),
            floor=floor.severity,
            rank=floor.severity,
            floor_rules=list(floor.rules),
            reason=submission.reason or "",
            reporter_pseudonym=reporter,
            author_pseudonym=author,
            language=submission.language_tag(),
            due_at=Now() + Value(sender.latency_budget),
        )
        report.save(force_insert=True)
        body = dict(document)
        if report.reporter_pseudonym:
            del body["reporter"]  # its id stands in ReporterIdentity only
        Content(report=report, body=body).save(force_insert=True)
        if stood_before:
            lifecycle.bring_back(item_id)
        place_items({item_id})
        hit(Point.INTAKE_AFTER_INSERT)
    hit(Point.INTAKE_AFTER_COMMIT)
    report.refresh_from_db(fields=["received_at", "due_at"])  # the database's own times
    return report


def _lock_or_make_item(sender: Sender, submission: Submission) -> tuple[int, bool]:
    """One statement that makes the item or locks the one that stands; whether it stood already."""
    with connection.cursor() as cursor:
        # The update changes nothing but locks the row, and no key column, which would lock it harder.
        cursor.execute(
            "INSERT INTO reports_item AS item (sender_id, type, external_id, list, rank)"
            " VALUES (%s, %s, %s, 'pending', 0)"
            " ON CONFLICT ON CONSTRAINT one_item_per_sender_type_and_id"
            # An item that was just made is due at no time, and in no other list.
            " DO UPDATE SET since = item.since RETURNING id, list <> 'pending' OR due_at IS NOT NULL",
            [sender.pk, submission.item.type, submission.item.id],
        )
        item_id, stood_before = cursor.fetchone()
    return item_id, stood_before


def _remember_reporter(sender: Sender, submission: Submission) -> str:
    """The reporter's pseudonym ("" where none was given); the identity is kept apart."""
    if submission.reporter is None or submission.reporter.id is None:
        return ""
    name = pseudonym(sender_id=sender.pk, reporter_id=submission.reporter.id)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO reports_reporteridentity (sender_id, pseudonym, external_id)"
            " VALUES (%s, %s, %s)"
            " ON CONFLICT ON CONSTRAINT one_identity_per_pseudonym DO NOTHING",
            [sender.pk, name, submission.reporter.id],
        )
    return name


def _is_key_conflict(error: DatabaseError) -> bool:
    diagnosis = getattr(error.__cause__, "diag", None)
    return getattr(diagnosis, "constraint_name", None) == "one_report_per_sender_and_key"
