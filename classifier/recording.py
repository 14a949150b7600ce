"""Write before acknowledge: one transaction that makes a verdict the report's outcome."""

import hashlib
import logging
import time
from enum import StrEnum

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F

from classifier.jobs import Claimed
from classifier.models import Classification, Job
from classifier.reader import Answer
from classifier.rules import Judgement
from reports import lifecycle
from reports.failpoints import Point, hit
from reports.models import Severity

log = logging.getLogger(__name__)

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0


class Recorded(StrEnum):
    """What became of the answer."""

    CURRENT = "current"
    SUPERSEDED = "superseded"  # a newer policy version had answered before
    DUPLICATE = "duplicate"  # another answer under the same version stands


def record_answer(
    *, claimed: Claimed, answer: Answer, judgement: Judgement, body: bytes, seconds: float
) -> Recorded:
    """Store the answer once, whatever the connection does, for as long as the lease lasts.

    A commit whose confirmation was lost is found as a duplicate by the next try, which is right:
    the first recorded answer stands. Raises `OperationalError` when the lease ends first.
    """
    row = Classification(
        report_id=claimed.report_id,
        policy_version=claimed.policy,
        category=answer.verdict.category,
        confidence=answer.verdict.confidence,
        summary=answer.verdict.summary,
        quotes=answer.verdict.quotes,
        severity=claimed.policy.category(answer.verdict.category)["severity"],
        safe=judgement.safe,
        rules=list(judgement.rules),
        served_model=answer.served_model,
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        model_seconds=seconds,
        answer_hash=hashlib.sha256(body).hexdigest(),
    )
    wait = FIRST_WAIT_SECONDS
    while True:
        try:
            return _record(row, claimed)
        except (OperationalError, InterfaceError) as error:
            connection.close()
            if time.monotonic() + wait > claimed.expires:
                raise
            log.warning(
                "report %s: the verdict is not written yet (%s), trying again",
                claimed.report_id,
                type(error).__name__,
            )
            time.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)


def _record(row: Classification, claimed: Claimed) -> Recorded:
    with transaction.atomic():
        report = lifecycle.lock(claimed.report_id)
        mine = Classification.objects.filter(report=report)
        # Every writer holds the report's lock, so what is read here stands until the commit; the
        # unique key would refuse a second row all the same.
        if mine.filter(policy_version=claimed.policy).exists():
            recorded = Recorded.DUPLICATE
        else:
            mine.filter(superseded=False, policy_version__lt=claimed.policy.number).update(
                superseded=True
            )
            hit(Point.RECORD_AFTER_SUPERSEDE)
            row.pk, row.superseded = None, mine.filter(superseded=False).exists()
            if row.safe and report.floor > Severity.NONE:
                # Raised since the verdict was judged, by a refusal under another version.
                row.safe, row.rules = False, [*row.rules, "floor"]
            row.save(force_insert=True)
            hit(Point.RECORD_AFTER_INSERT)
            recorded = Recorded.SUPERSEDED if row.superseded else Recorded.CURRENT
        if recorded is Recorded.CURRENT:
            lifecycle.apply_verdict(report=report, safe=row.safe, severity=Severity(row.severity))
        Job.objects.filter(pk=claimed.job_id).update(
            done=True,
            parked=False,
            reason="",
            lease_until=None,
            not_before=None,
            dropped=F("dropped") + int(recorded is Recorded.DUPLICATE),
        )
    return recorded
