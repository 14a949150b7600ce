"""A batch as facts and as lines of words, for whoever looks at it from a terminal."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from classifier.batches.progress import Progress
from classifier.models import Batch, ProviderBatch

_MOMENT = "%Y-%m-%d %H:%M:%S UTC"


def row_facts(batch: Batch) -> dict[str, Any]:
    """What stands in the batch's row."""
    return {
        "batch": batch.pk,
        "state": batch.state,
        "purpose": batch.purpose,
        "version": batch.policy_version_id,
        "words": batch.words,
        "selection": batch.selection,
        "wanted": batch.wanted,
        "carried": batch.carried,
        "prompt_tokens": batch.prompt_tokens,
        "completion_tokens": batch.completion_tokens,
        "max_cost": batch.max_cost,
        "created_at": batch.created_at,
        "ended_at": batch.ended_at,
        "actor": batch.actor_name,
        "note": batch.note,
    }


def row_in_words(batch: Batch) -> str:
    """One line of a list."""
    return (
        f"{batch.pk:>6}  {batch.state:<10}  {batch.purpose:<16}  version {batch.policy_version_id}  "
        f"{batch.wanted:>9,} reports  {batch.created_at:%Y-%m-%d %H:%M} UTC  {batch.words}"
    )


def moving_facts(progress: Progress) -> dict[str, Any]:
    """What changes while the batch is at work."""
    return {
        "batch": progress.batch.pk,
        "state": progress.batch.state,
        "done": progress.done,
        "parked": progress.parked_in_all,
        "left": progress.left,
        "at_provider": progress.at_provider,
        "percent": progress.percent,
        "per_minute": round(progress.per_minute, 1),
        "estimated_end": progress.estimated_end,
    }


def _pace(progress: Progress) -> str:
    """How fast it is and when it may end."""
    words = f"{progress.per_minute:,.0f} a minute"
    if progress.estimated_end:
        words += f", ends about {progress.estimated_end.strftime(_MOMENT)}"
    return words


def pace_in_short(progress: Progress, *, now: datetime) -> str:
    """The same for eighty columns of a terminal, with the state where it is not the usual one."""
    words = f"{progress.per_minute:,.0f}/min"
    if end := progress.estimated_end:
        soon = end - now < timedelta(hours=20)
        words += f", ends {end:%H:%M} UTC" if soon else f", ends {end:%d %b %H:%M} UTC"
    running = progress.batch.state == Batch.State.RUNNING
    return words if running else f"{progress.batch.state}, {words}"


def moving_in_words(progress: Progress) -> str:
    """The same in one line."""
    return (
        f"{progress.batch.state}, {progress.percent:.1f}%: {progress.done:,} answered, "
        f"{progress.parked_in_all:,} without an answer, {progress.left:,} to ask "
        f"({progress.at_provider:,} at the provider); {_pace(progress)}"
    )


def all_facts(progress: Progress) -> dict[str, Any]:
    """Everything that is known of it; lists are bounded."""
    return {
        **row_facts(progress.batch),
        **moving_facts(progress),
        "open": progress.open,
        "unplanned": progress.unplanned,
        "by_reason": progress.parked,
        "cost": progress.cost,
        "outcomes": progress.outcomes,
        "flows": [
            {"before": flow.before, "after": flow.after, "reports": flow.reports}
            for flow in progress.flows
        ],
        "disagreements": progress.disagreements,
        "provider_batches": {
            state: asdict(counted) for state, counted in progress.provider_batches.items()
        },
        "slowest": [_remote_facts(each) for each in progress.slowest],
        "failed": [_remote_facts(each) for each in progress.failed],
        "failures": [
            {"report": job.report.public_id, "reason": job.reason, "ended_at": job.ended_at}
            for job in progress.failures
        ],
    }


def all_in_words(progress: Progress) -> Iterator[str]:
    """The same in lines."""
    yield from _head(progress)
    for flow in progress.flows:
        yield f"    {flow.reports:>9,}  {flow.before or '(none)'} -> {flow.after}"
    if any(progress.disagreements.values()):
        yield f"  disagreements: {_counts(progress.disagreements)}"
    for state, counted in progress.provider_batches.items():
        yield f"  at the provider, {state}: {counted.batches:,} with {counted.lines:,} lines"
    for name, some in (("slowest", progress.slowest), ("failed", progress.failed)):
        yield from (f"    {name}: {_remote_in_words(each)}" for each in some)
    for reason, jobs in progress.parked.items():
        yield f"  without an answer: {jobs:,}  {reason}  {reason.for_operations}"
    for job in progress.failures:
        yield f"    report {job.report.public_id}: {job.reason}"


def _head(progress: Progress) -> Iterator[str]:
    batch = progress.batch
    yield f"Batch {batch}: {batch.get_purpose_display()} under policy version {batch.policy_version_id}"
    yield f"  {batch.words}"
    yield f"  started {batch.created_at.strftime(_MOMENT)} by {batch.actor_name}"
    if batch.ended_at:
        yield f"  ended {batch.ended_at.strftime(_MOMENT)}"
    if batch.note:
        yield f"  {batch.note}"
    yield f"  {moving_in_words(progress)}"
    if progress.carried:
        yield f"  carried over without a call: {progress.carried:,}"
    cost = "not known" if progress.cost is None else f"{progress.cost:,.4f}"
    limit = "" if batch.max_cost is None else f" of at most {batch.max_cost:,}"
    yield (
        f"  tokens: {progress.prompt_tokens:,} read, {progress.completion_tokens:,} written; "
        f"cost: {cost}{limit}"
    )


def _remote_facts(remote: ProviderBatch) -> dict[str, Any]:
    return {
        "key": remote.key,
        "remote_id": remote.remote_id,
        "state": remote.state,
        "remote_status": remote.remote_status,
        "lines": remote.lines,
        "submitted_at": remote.submitted_at,
        "error": remote.error,
    }


def _remote_in_words(remote: ProviderBatch) -> str:
    since = f" since {remote.submitted_at.strftime(_MOMENT)}" if remote.submitted_at else ""
    said = " ".join(each for each in (remote.remote_status, remote.error) if each)
    return f"{remote.key}, {remote.lines:,} lines, {remote.state}{since}; {said}".rstrip("; ")


def _counts(counted: Mapping[Any, int]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counted.items() if number)
