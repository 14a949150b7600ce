"""Taking a decision or a proposal back, before anything has come of it: a second row says so."""

from datetime import timedelta

import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from classifier.disagreements import (
    dispute_again,
    dispute_what_came,
    returned_to_people,
    settle_what_is_moot,
)
from classifier.models import Classification
from reports import lifecycle
from reports.audit import write_audit
from reports.returns import restore_return
from reviews.blind import read_blindness
from reviews.claims import take
from reviews.decisions import StaleDecisionError
from reviews.models import DecidedReport, Decision, Hold
from reviews.quality.answers import refresh_answers

Kind = Decision.Kind


class TooLateError(Exception):
    """The time to undo is over: the decision is in effect."""


class NotTheirsError(Exception):
    """Only who decided takes it back."""


def undo_decision(*, decision_id: int, reviewer: User) -> Decision:
    """Bring the item back to how it stood before, and into the reviewer's hands; answers with the row.

    What came meanwhile counts: a verdict, a raised floor. What was decided blind is in hand blind
    again. The same request twice is one row. Raises `Decision.DoesNotExist` for what is no decision or
    proposal, `NotTheirsError`, `TooLateError`, and `StaleDecisionError` where another row came since.
    """
    every = Decision.objects.exclude(kind=Kind.UNDO)
    decision = every.select_related("item").get(pk=decision_id)
    if decision.reviewer_id != reviewer.pk:
        raise NotTheirsError
    with transaction.atomic():
        lifecycle.lock_item(decision.item_id)
        newest = Decision.objects.filter(item=decision.item_id).latest("id")
        if newest.kind == Kind.UNDO and newest.overrides_id == decision.pk:
            return newest
        if newest.pk != decision.pk:
            raise StaleDecisionError(newest)
        _refuse_an_old_proposal(decision)
        blind = read_blindness(item_id=decision.item_id, reader=reviewer)
        undo = _write(decision)
        _restore_hold(decision)
        restore_return(decision.item_id, since=decision.created_at)
        _restore_reports(decision)
        take(
            item_id=decision.item_id,
            reviewer=reviewer,
            kept_by=(),
            audit=False,
            blind=blind is not None,
        )
        write_audit(
            action="undone",
            of=decision.item,
            actor=reviewer,
            detail={"decision": undo.pk, "overrides": decision.pk},
        )
    return undo


def _refuse_an_old_proposal(decision: Decision) -> None:
    """A proposal has no time of effect that the database could go by."""
    lately = Now() - timedelta(seconds=settings.UNDO_SECONDS)
    fresh = Decision.objects.filter(pk=decision.pk, created_at__gt=lately)
    if decision.kind == Kind.PROPOSAL and not fresh.exists():
        raise TooLateError


def _write(decision: Decision) -> Decision:
    try:
        return Decision.objects.create(
            item=decision.item,
            reviewer=decision.reviewer,
            kind=Kind.UNDO,
            overrides=decision,
            note="",
            reason="",
        )
    except IntegrityError as error:
        cause = error.__cause__
        # The database's clock alone tells, at the moment of writing.
        if isinstance(cause, psycopg.Error) and cause.diag.constraint_name == "undo_comes_in_time":
            raise TooLateError from error
        raise


def _restore_hold(decision: Decision) -> None:
    """What the decision ended waits again, and what was placed since waits no longer."""
    holds = Hold.objects.filter(item=decision.item_id)
    holds.filter(ended_at=None).update(ended_at=Now())
    ended = holds.filter(
        placed_at__lt=decision.created_at, ended_at__gte=decision.created_at
    ).order_by("-id")
    holds.filter(pk__in=ended.values("pk")[:1]).update(ended_at=None)


def _restore_reports(decision: Decision) -> None:
    rows = DecidedReport.objects.filter(decision=decision)
    before = {
        row.report_id: lifecycle.Before(row.status_before or "", row.upheld_before) for row in rows
    }
    reports = lifecycle.lock_reports(decision.item_id, before)
    verdicts = Classification.objects.filter(report__any=before, superseded=False)
    lifecycle.take_back(
        reports=reports,
        before=before,
        safe=dict(verdicts.values_list("report", "safe")),
        disputed=dispute_again(before, since=decision.created_at),
        returned=returned_to_people(before, since=decision.created_at),
    )
    dispute_what_came(before, since=decision.created_at)
    settle_what_is_moot(before)
    refresh_answers(before)
