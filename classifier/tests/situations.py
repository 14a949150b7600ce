"""Situations that the classifier's tests start from, and how they look at what came of them."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import psycopg
from celery import current_app
from django.db import DatabaseError, connection, connections

from classifier.asking import Asked, Call
from classifier.jobs import Claimed, claim_job
from classifier.models import Classification, Job, PolicyVersion, ProviderModel
from classifier.policies import FIRST_POLICY, load_policy, read_policy_file
from classifier.provider import Reply
from classifier.reader import Answer
from classifier.recording import Recorded, record_answer
from classifier.rules import judge
from classifier.verdict import Verdict
from classifier.windows import Piece, Window
from reports.models import Item, Report, Severity
from reports.nudge import Lane, nudge
from reports.senders import create_sender
from reports.tests.sending import DEFAULT_BUDGET_SECONDS, Client, body_saying

Result = TypeVar("Result")


# --- Policies, reports, jobs


def load_version(*, prompt: str, activate: bool = True) -> PolicyVersion:
    """A further policy version that differs from the first by its prompt."""
    title, content = read_policy_file(FIRST_POLICY, model="stand-in-not-a-model")
    version, _changed = load_policy(
        title=title,
        content=replace(content, prompt=prompt),
        activate=activate,
        actor_name="test",
    )
    return version


def send_text(client: Client, text: str = "See you at lunch.", **changes: Any) -> Report:
    """A pending report through the API, about an item of its own."""
    return client.send(body_saying(text, **{"reason": None, **changes}))


def job_of(report: Report) -> Job:
    return Job.objects.get(report=report)


def claim(report: Report, policy: PolicyVersion) -> Claimed:
    """The claim of a job that must be free."""
    claimed = claim_job(report_id=report.pk, policy=policy, lane=Lane.LIVE)
    assert claimed is not None
    return claimed


def end_lease(report: Report) -> None:
    """Time passes: the lease of the report's jobs ran out a second ago."""
    _move(report, "lease_until")


def end_wait(report: Report) -> None:
    """Time passes: the report's jobs have been due for a second."""
    _move(report, "not_before")


def end_rest() -> None:
    """Time passes: every model may be asked again since a second ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE classifier_providermodel"
            " SET rests_until = clock_timestamp() - interval '1 second'"
            " WHERE rests_until IS NOT NULL"
        )


def rest_left(model: ProviderModel) -> float:
    """Seconds until the model may be asked again, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM rests_until - clock_timestamp())::float"
            " FROM classifier_providermodel WHERE id = %s",
            [model.pk],
        )
        return float(cursor.fetchone()[0])


# A row before its provider was asked for a limit.
NO_LIMIT: dict[str, Any] = {"context_limit": None, "context_source": ""}


def know_model(base_url: str, **fields: Any) -> ProviderModel:
    """The row of the stand-in's model at this address, as after a probe."""
    row = {
        "name": "stand-in-not-a-model",
        "mode": ProviderModel.Mode.JSON_SCHEMA,
        "context_limit": 32_768,
        "context_source": "max_model_len",
        # Four bytes a token, whatever the script.
        "token_ratios": dict.fromkeys(("latin", "arabic", "formal_arabic"), 0.25),
        "frame_tokens": 8,
        **fields,
    }
    return ProviderModel.objects.create(base_url=base_url, **row)


def _move(report: Report, column: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE classifier_job SET {column} = clock_timestamp() - interval '1 second'"  # noqa: S608
            f" WHERE report_id = %s AND {column} IS NOT NULL",
            [report.pk],
        )


def seconds_until_due(report: Report) -> float:
    """How long the report's job still waits, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM not_before - clock_timestamp())::float"
            " FROM classifier_job WHERE report_id = %s",
            [report.pk],
        )
        return float(cursor.fetchone()[0])


def make_many(sender_name: str, count: int, *, floor: int = 0, age_seconds: float = 60) -> None:
    """Pending reports in bulk, one item each, received `age_seconds` ago; no nudge is handed out."""
    made = create_sender(
        name=sender_name,
        latency_budget=timedelta(seconds=DEFAULT_BUDGET_SECONDS),
        actor_name="test",
    )
    with connection.cursor() as cursor:
        cursor.execute(
            _MANY,
            {
                "sender": made.api_key.sender_id,
                "count": count,
                "floor": floor,
                "age": age_seconds,
                "body": json.dumps(body_saying("See you at lunch.", reason=None)),
            },
        )


_MANY = """
WITH item AS (
    INSERT INTO reports_item (sender_id, type, external_id, list, rank, since, due_at)
    SELECT %(sender)s, 'message', 'm-' || number, 'pending', %(floor)s, moment,
        moment + interval '5 minutes'
    FROM (SELECT number, clock_timestamp() - make_interval(secs => %(age)s) AS moment
        FROM generate_series(1, %(count)s) AS number) AS wanted
    RETURNING id, external_id, since, due_at
), report AS (
    INSERT INTO reports_report (public_id, sender_id, item_id, idempotency_key, fingerprint,
        fingerprint_version, likely_retry, status, floor, floor_rules, rank, reason,
        reporter_pseudonym, language, received_at, due_at)
    SELECT gen_random_uuid(), %(sender)s, id, external_id, '', 1, false, 'pending', %(floor)s,
        '[]', %(floor)s, '', '', 'en', since, due_at
    FROM item ORDER BY id RETURNING id
)
INSERT INTO reports_content (report_id, body) SELECT id, %(body)s::jsonb FROM report
"""


# --- Answers


def verdict_fields(**changes: Any) -> dict[str, Any]:
    """What a model says of a harmless report; keyword arguments replace its fields."""
    return {
        "ref": "r-17",
        "summary": "Two people arrange to meet.",
        "category": "none",
        "confidence": 0.93,
        "quotes": [],
        **changes,
    }


def make_answer(**changes: Any) -> Answer:
    """A checked answer with these fields of the verdict."""
    return Answer(
        verdict=Verdict(
            **{name: v for name, v in verdict_fields(**changes).items() if name != "ref"}
        ),
        served_model="stand-in-not-a-model",
        prompt_tokens=700,
        completion_tokens=40,
    )


def make_asked(**changes: Any) -> Asked:
    """One call about one message, with these fields of the verdict."""
    answer = make_answer(**changes)
    reply = Reply(body=answer.verdict.summary.encode(), seconds=0.25)
    window = Window((Piece(0, "See you at lunch."),))
    return Asked(answer.verdict, [Call(window, answer, reply)], messages=1)


def completion(content: Any, **changes: Any) -> dict[str, Any]:
    """A whole 200 reply; `changes` replace fields of the envelope."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_761_955_200,
        "model": "stand-in-not-a-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": None},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 2_500, "completion_tokens": 40, "total_tokens": 2_540},
        **changes,
    }


def record(claimed: Claimed, *, floor: Severity = Severity.NONE, **fields: Any) -> Recorded:
    """Record an answer with these fields, as the pipeline does."""
    asked = make_asked(**fields)
    return record_answer(
        claimed=claimed,
        asked=asked,
        judgement=judge(verdict=asked.verdict, policy=claimed.policy, floor=floor, texts=[]),
    )


def versions_of(report: Report) -> dict[int, bool]:
    """Each version that answered, and whether its answer is superseded."""
    rows = Classification.objects.filter(report=report)
    return dict(rows.values_list("policy_version", "superseded"))


def assert_rows_agree(report: Report) -> None:
    """One current verdict, of the highest version; status, rank and list follow from it (V3-V6)."""
    report.refresh_from_db()
    current = Classification.objects.get(report=report, superseded=False)
    assert current.policy_version_id == max(versions_of(report))
    assert report.status in (
        {Report.Status.NEEDS_REVIEW} if not current.safe else set(Report.Status) - {"pending"}
    )
    assert report.rank == max(report.floor, current.severity)
    item = Item.objects.get(pk=report.item_id)
    reports = Report.objects.filter(item=item)
    statuses = set(reports.values_list("status", flat=True))
    assert item.list == next(
        status for status in ("needs_review", "pending", "judged_safe") if status in statuses
    )
    open_ones = [each for each in reports if each.status in {"needs_review", "pending"}]
    assert item.rank == max(each.rank for each in open_ones or reports)
    assert item.since == min(each.received_at for each in open_ones or reports)


# --- Watching


def violated(error: DatabaseError) -> str | None:
    """The name of the constraint or trigger that refused."""
    diagnosis = getattr(error.__cause__, "diag", None)
    name: str | None = getattr(diagnosis, "constraint_name", None)
    return name


def wait_until(holds: Callable[[], bool], *, seconds: float = 10) -> None:
    """Return as soon as it holds; fail when it does not within the time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def at_once(calls: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run all calls at one moment, each in a thread with a connection of its own."""
    barrier = threading.Barrier(len(calls))
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def run(number: int, call: Callable[[], Result]) -> None:
        try:
            with connection.cursor() as cursor:  # connected before the start
                cursor.execute("SELECT 1")
            barrier.wait(10)
            results[number] = call()
        except BaseException as error:  # noqa: BLE001 - raised again by the caller
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in errors:
        raise error
    return [results[number] for number in range(len(calls))]


@contextmanager
def other_connection() -> Iterator[psycopg.Connection[Any]]:
    """A second connection to the same database, outside Django."""
    parameters = connection.get_connection_params()
    parameters.pop("cursor_factory", None)
    parameters.pop("context", None)
    with psycopg.connect(**parameters) as other:
        yield other


def open_transactions() -> int:
    """How many transactions of this database stand open while somebody does something else."""
    with other_connection() as other:
        found = other.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND state = 'idle in transaction' AND pid <> pg_backend_pid()"
        ).fetchone()
    return int(found[0]) if found else 0


# --- The queue in the broker


def queued(lane: Lane = Lane.LIVE) -> list[int]:
    """The report ids of the nudges that lie in the lane's queue, the next one first."""
    with current_app.connection_for_read() as broker:
        waiting = broker.default_channel.client.lrange(lane.value, 0, -1)  # type: ignore[attr-defined]
    return [_report_id(message) for message in reversed(waiting)]


def _report_id(message: bytes) -> int:
    _args, kwargs, _embed = json.loads(base64.b64decode(json.loads(message)["body"]))
    return int(kwargs["report_id"])


def empty_queue() -> None:
    """Nothing in the queues, nothing on its way: earlier tests' nudges have arrived and are gone."""
    # The nudges leave in order through one thread, so behind this one there is none.
    nudge(report_id=0, lane=Lane.BATCH)
    wait_until(lambda: 0 in queued(Lane.BATCH))
    with current_app.connection_for_write() as broker:
        broker.default_channel.client.delete(*Lane.values)  # type: ignore[attr-defined]
