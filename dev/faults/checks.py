"""What must hold when a case is quiet: V1-V11.

From the stored rows as `check_invariants` does it; from the client's log (V1, V8), the model's log
(V7) and what was seen while the case ran (V10, V11); and the reviewers' order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dev.faults import timing
from dev.faults.stack import fresh_connection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.faults.client import Sent
    from dev.faults.run import Run
    from dev.faults.stack import Stack

CONTENT = """
SELECT report.idempotency_key, report.public_id::text, report.fingerprint, content.body
FROM reports_report AS report LEFT JOIN reports_content AS content ON content.report_id = report.id
"""
# Items as reviewers see them, list by list.
ORDER = "SELECT list, external_id FROM reports_item ORDER BY list, rank DESC, since, id"

# What a script of the stand-in makes of an answer so that it is none, and may be asked for again.
NO_ANSWER = frozenset({"error", "hang", "drip", "cut", "content", "refusal", "wrong_ref"})

SWEEPS = 4  # may pass after a lease's end before it counts as unseen
LEFT_BEHIND = """
SELECT report.id, job.claims, job.reason FROM reports_report AS report
LEFT JOIN classifier_job AS job ON job.report_id = report.id AND NOT job.parked
WHERE report.status = 'pending' AND NOT EXISTS (
    SELECT FROM classifier_job WHERE report_id = report.id AND parked)
"""


def reviewers_order(stack: Stack) -> list[tuple[str, str]]:
    """(list, external id) of every item, in the order of the reviewers' lists."""
    return [(row[0], row[1]) for row in stack.query(ORDER)]


def broken_invariants(run: Run, *, expected_order: list[tuple[str, str]] | None) -> list[str]:
    """A line for each invariant that does not hold; empty when all do."""
    found = _by_the_rows()
    found += _acceptance(run)
    found += run.broken
    found += _calls(run)
    found += _errors_of_ours(run)
    found += [f"V10 a verdict was replaced: {each}" for each in run.replaced]
    found += [f"V10 a verdict vanished: {each}" for each in run.vanished()]
    if run.longest_queue > timing.QUEUE_BOUND:
        found.append(f"V11 the queue held {run.longest_queue}, its bound is {timing.QUEUE_BOUND}")
    if expected_order is not None and (order := reviewers_order(run.stack)) != expected_order:
        found.append(f"order: {order}, undisturbed {expected_order}")
    return found


def paid_calls(run: Run) -> Counter[tuple[str, str]]:
    """How often the model answered, or would have, for each text under each version."""
    calls = run.about_reports()
    return Counter((call["text"], call["model"]) for call in calls if call["step"] != "error")


def left_behind(run: Run) -> list[str]:
    """Without a sweep: pending reports that the queue itself should have brought back.

    What it may leave: a report that fails with a named reason, and one whose message the broker
    gave out and the worker did not note as taken when it died; that one was never claimed.
    """
    never_claimed, found = 0, []
    for report, claims, reason in run.stack.query(LEFT_BEHIND):
        if reason:
            continue
        if claims:
            found.append(f"V11 report {report} was claimed, and its message did not come back")
        else:
            never_claimed += 1
    if never_claimed > run.case.may_lose:
        found.append(f"V11 {never_claimed} messages were lost, at most {run.case.may_lose} may be")
    return found


def _by_the_rows() -> list[str]:
    """What `manage.py check_invariants` says."""
    from reviews.invariants import broken_invariants as broken_rows  # noqa: PLC0415  after setup

    with fresh_connection():
        found = broken_rows(grace_seconds=SWEEPS * timing.SWEEP_INTERVAL)
    return [f"{each.invariant} {each.sentence}: {each.ids}" for each in found]


def _acceptance(run: Run) -> Iterator[str]:
    """V1 and V8, and what the client may be answered."""
    rows = {key: (public_id, bytes(digest), body) for key, public_id, digest, body in _content(run)}
    for sent in run.client.log:
        number = sent.body["metadata"]["number"]
        if not sent.accepted:
            yield f"V1 body {number} was never accepted: {sent.statuses}"
            continue
        row = rows.pop(sent.key, None)
        if row is None or {row[0]} != set(sent.ids):
            yield f"V1 body {number} was accepted as {sent.ids} and stands as {row and row[0]}"
            continue
        yield from _content_differs(sent, row[1], row[2])
        allowed = {200, 202} | run.case.may_answer
        # A 200 says that the body came before: so it was sent before.
        if not set(sent.statuses) <= allowed or sent.statuses == [200]:
            yield f"answers: body {number} was answered {sent.statuses}"
        if sent.curt:
            yield f"answers: body {number} got a 503 without Retry-After"
    if rows:
        yield f"V1 reports that nobody was told of: {sorted(rows)}"


def _content(run: Run) -> list[tuple[Any, ...]]:
    return run.stack.query(CONTENT)


def _content_differs(sent: Sent, digest: bytes, body: Any) -> Iterator[str]:
    from reports.fingerprint import fingerprint  # noqa: PLC0415  after django.setup

    number = sent.body["metadata"]["number"]
    if body != {name: value for name, value in sent.body.items() if name != "reporter"}:
        yield f"V8 body {number} is not stored as it was sent"
    if digest != fingerprint(sent.body):
        yield f"V8 the fingerprint of body {number} is another one"


def _errors_of_ours(run: Run) -> Iterator[str]:
    """A step that fails by itself would be tried again and pass; only what a case raises may."""
    if run.case.layout.action in {"raise", "memory"}:
        return
    rows = run.stack.query("SELECT report_id FROM classifier_job WHERE reason = 'internal_error'")
    if rows:
        yield f"errors: our own code failed for reports {[row[0] for row in rows]}"


def _calls(run: Run) -> Iterator[str]:
    """V7: one call for each report and version, more only for what a fault or a refusal cost."""
    refused: Counter[tuple[str, str]] = Counter(
        (call["text"], call["model"]) for call in run.about_reports() if call["step"] in NO_ANSWER
    )
    asked = Counter((call["text"], call["model"]) for call in run.about_reports())
    for key, count in asked.items():
        allowed = 1 + run.faults + refused[key]
        if count > allowed:
            yield f"V7 {count} calls for {key[0]!r} under {key[1]}, at most {allowed} are explained"
