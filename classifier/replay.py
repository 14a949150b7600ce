"""Replay: a person gives waiting reports new attempts. The sweep's work, by hand and on purpose."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Max, Min
from django.db.models.functions import Now

from classifier.jobs import MAY_BE_ASKED, REFUSED
from classifier.models import Job, PolicyVersion
from reports.audit import write_audit
from reports.models import Report
from reports.waiting import Waiting

CHUNK = 500


@dataclass(frozen=True)
class Selection:
    """Which pending reports: received in [since, until), of a sender, waiting for a reason."""

    since: datetime | None = None
    until: datetime | None = None
    sender: str | None = None
    reason: str | None = None
    limit: int | None = None
    reports: tuple[int, ...] | None = None
    """These only, by their keys."""


@dataclass(frozen=True)
class Plan:
    """What an execution would do."""

    version: int
    model: str
    report_ids: list[int]
    oldest: datetime | None
    newest: datetime | None
    by_reason: dict[str, int]
    never: int
    """Further ones that a filter or the model refused: they wait for a person, not for a model."""


def plan_replay(selection: Selection, *, policy: PolicyVersion) -> Plan:
    """The pending reports of the selection, oldest first; changes nothing."""
    wanted = Report.objects.pending()
    if selection.since:
        wanted = wanted.filter(received_at__gte=selection.since)
    if selection.until:
        wanted = wanted.filter(received_at__lt=selection.until)
    if selection.reports is not None:
        wanted = wanted.filter(pk__in=selection.reports)
    if selection.sender:
        wanted = wanted.filter(sender__name=selection.sender)
    if selection.reason == Waiting.WAITING_FOR_WORKER:
        named = Job.objects.filter(policy_version=policy).exclude(reason="")
        wanted = wanted.exclude(pk__in=named.values("report"))
    elif selection.reason:
        waiting = Job.objects.filter(policy_version=policy, reason=selection.reason)
        wanted = wanted.filter(pk__in=waiting.values("report"))
    never = wanted.filter(floor_rules__has_any_keys=REFUSED).count()
    wanted = wanted.exclude(floor_rules__has_any_keys=REFUSED)
    ids = list(wanted.order_by("received_at", "id").values_list("pk", flat=True)[: selection.limit])
    chosen = Report.objects.filter(pk__in=ids)
    times = chosen.aggregate(oldest=Min("received_at"), newest=Max("received_at"))
    jobs = Job.objects.filter(policy_version=policy, report__in=ids)
    held = set(jobs.filter(lease_until__gt=Now()).values_list("report", flat=True))
    reasons = dict(jobs.values_list("report", "reason")) | dict.fromkeys(
        held, Waiting.BEING_CLASSIFIED.value
    )
    return Plan(
        version=policy.number,
        model=policy.model,
        report_ids=ids,
        by_reason=dict(
            Counter(reasons.get(each) or Waiting.WAITING_FOR_WORKER.value for each in ids)
        ),
        never=never,
        **times,
    )


def execute_replay(
    plan: Plan,
    *,
    selection: Selection,
    policy: PolicyVersion,
    actor: User | None = None,
    actor_name: str = "",
) -> Iterator[int]:
    """Give the plan's reports new attempts, chunk by chunk; yields how many each.

    They are due at once and wait for a worker, whatever they waited for: the sweep nudges them
    within its bound. A report that a worker holds or
    has finished meanwhile is left alone, and a worker whose lease had run out is fenced off.
    """
    if plan.report_ids:
        write_audit(
            action="replay",
            of=policy,
            actor=actor,
            actor_name=actor_name,
            detail={
                **{key: str(value) for key, value in asdict(selection).items() if value},
                "reports": len(plan.report_ids),
            },
        )
    for start in range(0, len(plan.report_ids), CHUNK):
        yield _renew(plan.report_ids[start : start + CHUNK], policy)


def _renew(report_ids: list[int], policy: PolicyVersion) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_RENEW, {"reports": report_ids, "version": policy.number})
        renewed: int = cursor.rowcount
    return renewed


_RENEW = f"""
INSERT INTO classifier_job AS job
    (report_id, policy_version_id, lane, attempts, claims, faults, reason, parked, done)
SELECT id, %(version)s, 'live', 0, 0, 0, '', false, false
FROM reports_report AS report
WHERE id = ANY(%(reports)s) AND status = 'pending' AND {MAY_BE_ASKED}
ORDER BY id
ON CONFLICT ON CONSTRAINT one_job_per_report_and_version DO UPDATE
SET attempts = 0, faults = 0, further_calls = 0, parked = false, ended_at = NULL,
    not_before = NULL, nudged_at = NULL,
    -- Like a new one: what the last try ended with is neither why it waits nor how it is asked.
    reason = '', claims = job.claims + 1, lease_until = NULL
WHERE NOT job.done AND (job.lease_until IS NULL OR job.lease_until < clock_timestamp())
"""  # noqa: S608 - our own constant
