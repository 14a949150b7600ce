"""How far a batch is: one number, and all that stands behind it. Reads only.

A million jobs are counted in two indexes: `job_to_do_of_batch` holds what is open,
`job_ended_of_batch` the rest.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, Now
from django.utils import timezone

from classifier.batches.cost import price_of, spent
from classifier.models import (
    Batch,
    BatchFlow,
    Disagreement,
    Job,
    ProviderBatch,
    ProviderModel,
    WaitingReason,
)
from reports.counting import COUNTED_AT_MOST
from reports.models import Report

# Long enough to smooth what is recorded slice by slice.
RATE_OVER = timedelta(minutes=10)
EXAMPLES = 20


@dataclass(frozen=True)
class AtProvider:
    """The batches at the provider that stand in one state."""

    batches: int
    lines: int


@dataclass(frozen=True)
class Progress:
    """All that is known of a batch at one moment. Counts are of reports unless they say otherwise."""

    batch: Batch
    wanted: int
    carried: int
    done: int
    """Jobs that ended with an answer, one that came second included."""
    parked: dict[WaitingReason, int]
    """Jobs that ended without one; the most frequent reason first."""
    open: dict[Job.Through, int]
    """Jobs still to be asked, by how they are asked."""
    unplanned: int
    """Reports that the planning has not come to; at most so many more jobs are written."""
    at_provider: int
    """Lines that the provider has, or is about to get, and has not answered."""
    per_minute: float
    """Jobs that ended a minute, of late; of a batch that ended, over its whole life."""
    estimated_end: datetime | None
    """None where nothing is left, where nothing moves, and before all of it is planned."""
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None
    """Of the tokens used, by the recorded price; None without one."""
    flows: list[BatchFlow]
    """Reports by category before and after; the largest first."""
    disagreements: dict[Disagreement.State, int]
    """Exact up to `COUNTED_AT_MOST`, that bound plus one beyond it."""
    provider_batches: dict[ProviderBatch.State, AtProvider]
    slowest: list[ProviderBatch]
    """Those out at the provider, the one that has been there longest first; at most `EXAMPLES`."""
    failed: list[ProviderBatch]
    """Those that an error is known of, the newest first; at most `EXAMPLES`."""
    failures: list[Job]
    """The jobs that were parked last, with their reports; at most `EXAMPLES`."""

    @property
    def parked_in_all(self) -> int:
        return sum(self.parked.values())

    @property
    def ended(self) -> int:
        return self.done + self.parked_in_all

    @property
    def left(self) -> int:
        """What is still to be asked, planned or not."""
        return sum(self.open.values()) + self.unplanned

    @property
    def percent(self) -> float:
        """How much of it has ended, to a tenth, rounded down: 100 only when nothing is left.

        0 before its first job is written.
        """
        if not self.left:
            return 100.0 if self.ended or self.batch.ended_at else 0.0
        return self.ended * 1000 // (self.ended + self.left) / 10

    @property
    def outcomes(self) -> dict[str, int]:
        """Reports by the category that they have now; the most frequent first."""
        counted: Counter[str] = Counter()
        for flow in self.flows:
            counted[flow.after] += flow.reports
        return dict(counted.most_common())


def read_progress(batch: Batch) -> Progress:
    """How far the batch is, by some ten queries that may differ by what ended between them.

    The row is taken as it is; who watches reads it again first.
    """
    now = timezone.now()
    done, parked, lately = _ended(batch)
    ended = done + sum(parked.values())
    still = _to_do(batch)
    unplanned = _unplanned(batch)
    left = sum(still.values())
    per_minute = _rate(batch, now=now, ended=ended, lately=lately)
    at_work = batch.state in {Batch.State.PLANNING, Batch.State.RUNNING} and not unplanned
    moves = left and per_minute and at_work
    return Progress(
        batch=batch,
        wanted=batch.wanted,
        carried=batch.carried,
        done=done,
        parked=parked,
        open=still,
        unplanned=unplanned,
        at_provider=batch.provider_batches.out().aggregate(n=Coalesce(Sum("lines"), 0))["n"],
        per_minute=per_minute,
        estimated_end=now + timedelta(minutes=left / per_minute) if moves else None,
        prompt_tokens=batch.prompt_tokens,
        completion_tokens=batch.completion_tokens,
        cost=_cost(batch),
        flows=list(batch.flows.order_by("-reports", "before", "after")),
        disagreements=_disagreements(batch),
        provider_batches=_at_provider(batch),
        slowest=list(batch.provider_batches.out().order_by("submitted_at", "id")[:EXAMPLES]),
        failed=list(batch.provider_batches.exclude(error="").order_by("-id")[:EXAMPLES]),
        failures=_last_parked(batch) if parked else [],
    )


def _ended(batch: Batch) -> tuple[int, dict[WaitingReason, int], int]:
    """How many jobs are done, how many parked by reason, and how many of both ended lately."""
    ended = batch.jobs.filter(ended_at__isnull=False)
    # Not grouped all at once: a million rows of a table that grew fast are sorted for that, on disk.
    counts = ended.aggregate(
        all=Count("*"),
        done=Count("ended_at", filter=Q(done=True)),
        lately=Count("ended_at", filter=Q(ended_at__gt=Now() - RATE_OVER)),
    )
    parked = {}
    if counts["all"] > counts["done"]:
        rows = ended.filter(done=False).values_list("reason").annotate(jobs=Count("*"))
        parked = {WaitingReason(reason): jobs for reason, jobs in rows.order_by("-jobs", "reason")}
    return counts["done"], parked, counts["lately"]


def _to_do(batch: Batch) -> dict[Job.Through, int]:
    rows = (
        batch.jobs.filter(done=False, parked=False)
        .values_list("through")
        .annotate(jobs=Count("*"))
        .order_by("through")
    )
    return {Job.Through(through): jobs for through, jobs in rows}


def _unplanned(batch: Batch) -> int:
    """How many it wants of them is known once its jobs are written."""
    if batch.state != Batch.State.PLANNING:
        return 0
    ids = Report.objects.filter(pk__gt=batch.planned_up_to, pk__lte=batch.last_report)
    limit = batch.selection.get("limit")
    return (ids if limit is None else ids[: max(limit - batch.wanted, 0)]).count()


def _rate(batch: Batch, *, now: datetime, ended: int, lately: int) -> float:
    if batch.ended_at is not None:
        jobs, took = ended, batch.ended_at - batch.created_at
    else:
        jobs, took = lately, min(now - batch.created_at, RATE_OVER)
    return jobs / max(took / timedelta(minutes=1), 1 / 60)


def _at_provider(batch: Batch) -> dict[ProviderBatch.State, AtProvider]:
    rows = batch.provider_batches.values_list("state").annotate(
        batches=Count("*"), lines=Sum("lines")
    )
    found = {state: AtProvider(batches, lines) for state, batches, lines in rows}
    return {state: found[state] for state in ProviderBatch.State if state in found}


def _cost(batch: Batch) -> Decimal | None:
    """By the price that held when the batch was made."""
    model = ProviderModel.objects.filter(
        base_url=settings.OPENAI_BASE_URL, name=batch.policy_version.model
    ).first()
    price = price_of(model, today=batch.created_at.date())
    return None if price is None else spent(batch, price)


def _disagreements(batch: Batch) -> dict[Disagreement.State, int]:
    return {
        state: batch.disagreements.filter(state=state)[: COUNTED_AT_MOST + 1].count()
        for state in Disagreement.State
    }


def _last_parked(batch: Batch) -> list[Job]:
    """The jobs that were parked last.

    Their times come first, from the index alone: it does not hold the ids, and most of what ended
    was answered.
    """
    ended = batch.jobs.filter(ended_at__isnull=False, done=False)
    times = ended.order_by("-ended_at").values_list("ended_at", flat=True)[:EXAMPLES]
    jobs = ended.filter(ended_at__in=list(times)).select_related("report")
    return list(jobs.order_by("-ended_at", "id")[:EXAMPLES])
