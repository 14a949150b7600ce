"""History through aimock's batches, driven by the product: however a batch ends, each report ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db.models.functions import Now

from classifier.batches import remote
from classifier.batches.control import cancel_batch
from classifier.batches.drive import drive
from classifier.batches.plan import plan_batch
from classifier.batches.selection import Selection
from classifier.batches.start import start_batch
from classifier.models import (
    Batch,
    BatchLine,
    Classification,
    Job,
    ProviderBatch,
    ProviderModel,
)
from classifier.pipeline import classify_report
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from dev.interop.aimock_faults import CONTEXT
from dev.interop.tally import say
from reports.nudge import Lane

if TYPE_CHECKING:
    from collections.abc import Callable

    from dev.interop.ending import Endings
    from dev.interop.questions import Client
    from dev.interop.tally import Tally

MODEL = "aimock-history"
REPORTS = 20
MOST_ROUNDS = 60
ACTOR = "interop"


@dataclass(frozen=True)
class End:
    """How aimock ends each file, and the outcome of each line then.

    `asked_for`: it ends because the batch was cancelled here.
    """

    name: str
    end: str
    outcome: BatchLine.Outcome
    asked_for: bool = False


HISTORY_ENDS = (
    # Its answers are prose, always the same.
    End("completed", "completed", BatchLine.Outcome.REFUSED),
    End("failed", "failed", BatchLine.Outcome.FAILED),
    End("expired", "expired", BatchLine.Outcome.EXPIRED),
    End("cancelled", "cancelled", BatchLine.Outcome.EXPIRED),
    End("cancelled by us", "completed", BatchLine.Outcome.EXPIRED, asked_for=True),
)


def try_history(
    tally: Tally, client: Client, endings: Endings, *, check: Callable[[], None]
) -> None:
    """The same reports once for each end, each time under a newer version."""
    judged = _judge(client, endings)
    say(f"aimock's batches asked about history: {judged} of {REPORTS} reports judged before")
    for end in HISTORY_ENDS:
        endings.end = end.end
        batch = _start(client, end)
        _drive(batch, cancelled=end.asked_for, check=check)
        came, wrong = _what_came(batch, end)
        tally.record(
            f"aimock: history by files, each {end.name}",
            passed=not wrong,
            came="; ".join((came, *wrong)),
        )


def _judge(client: Client, endings: Endings) -> int:
    """Make history of so many reports; how many were judged."""
    client.use(base_url=endings.base_url, model=MODEL)
    client.record_limit(CONTEXT)
    reports = [
        client.send(
            {
                "item": {"type": "post", "id": f"{MODEL}-{number}"},
                "messages": [{"id": "m-1", "text": f"See you at {number}.", "reported": True}],
            }
        )
        for number in range(REPORTS)
    ]
    client.ask(reports[0])  # which has the model probed
    # aimock's answer is the same for everybody, and holds nobody's reference.
    ProviderModel.objects.filter(pk=client.row().pk).update(echoes_ref=False)
    return sum(client.ask(report).recorded for report in reports)


def _start(client: Client, end: End) -> Batch:
    """A migration of that history to a version of its own."""
    title, content = read_policy_file(FIRST_POLICY, model=MODEL)
    policy, _changed = load_policy(
        title=title,
        content=replace(content, prompt=f"{content.prompt}\n\n{end.name}"),
        activate=True,
        actor_name=ACTOR,
    )
    client.put_arrivals_off()
    purpose, selection = Batch.Purpose.POLICY_MIGRATION, Selection()
    return start_batch(
        purpose=purpose,
        policy=policy,
        selection=selection,
        plan=plan_batch(purpose=purpose, policy=policy, selection=selection),
        actor_name=ACTOR,
    )


def _drive(batch: Batch, *, cancelled: bool, check: Callable[[], None]) -> None:
    """Round after round to its end; what goes through calls is asked as the batch lane does."""
    for _round in range(MOST_ROUNDS):
        check()
        # Nothing waits for its time here.
        ProviderBatch.objects.unfinished().update(next_step_at=Now())
        drive(between=check)
        if cancelled and batch.provider_batches.exclude(remote_id="").exists():
            cancel_batch(batch_id=batch.pk, actor_name=ACTOR)
        for job in batch.jobs.filter(through=Job.Through.CALLS, done=False, parked=False):
            Job.objects.filter(pk=job.pk).update(not_before=None)
            classify_report(report_id=job.report_id, lane=Lane.BATCH)
        batch.refresh_from_db()
        if batch.ended_at is not None:
            return


def _what_came(batch: Batch, end: End) -> tuple[str, list[str]]:
    """What came of it, and what of that was not as expected."""
    jobs = list(batch.jobs.all())
    reasons = Counter(job.reason for job in jobs if job.parked)
    current = Classification.objects.filter(
        superseded=False, report__in=[job.report_id for job in jobs]
    )
    by_report = Counter(current.values_list("report_id", flat=True))
    verdicts = current.filter(policy_version=batch.policy_version_id).count()
    lines = BatchLine.objects.filter(provider_batch__batch=batch)
    outcomes = Counter(lines.values_list("outcome", flat=True))
    left = _left_at_the_provider(batch)
    expected = Batch.State.CANCELLED if end.asked_for else Batch.State.DONE
    wrong = []
    if batch.state != expected:
        wrong.append(f"expected the batch to be {expected}")
    if len(jobs) != REPORTS or verdicts + reasons.total() != REPORTS or "" in reasons:
        wrong.append("expected one verdict or a named reason for each report")
    if any(by_report[job.report_id] != 1 for job in jobs):
        wrong.append("expected one current verdict of each report")
    if set(outcomes) != {end.outcome}:
        wrong.append(f"expected each line to be {end.outcome}")
    if left:
        wrong.append("expected no file to be left at the provider")
    parked = "".join(f", {count} {reason}" for reason, count in sorted(reasons.items()))
    told = ", ".join(f"{count} {outcome or 'open'}" for outcome, count in sorted(outcomes.items()))
    files = batch.provider_batches.count()
    return (
        f"batch {batch.state}, {verdicts} verdicts{parked}; {files} files, lines: {told}; "
        f"{left} left at the provider"
    ), wrong


def _left_at_the_provider(batch: Batch) -> int:
    """How many of its files are there still; they go by this."""
    files = batch.provider_batches.values_list("input_file_id", "output_file_id", "error_file_id")
    return sum(remote.delete_file(each) for row in files for each in row if each)
