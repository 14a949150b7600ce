"""A provider's output file recorded, beside a bare INSERT of as many rows."""

from __future__ import annotations

import json
import os
import tempfile
import time
from typing import TYPE_CHECKING, Any

import psycopg

from dev.bench.history import activate_next_version, write_history
from dev.bench.memory import Watched
from dev.bench.prepared import say
from dev.errors import DevError

if TYPE_CHECKING:
    from pathlib import Path

    from dev.processes import Interruption, Supervisor
    from dev.services import Services


JSON_COLUMNS = ("quotes", "rules", "calls")


def bench_recording(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """Lines a second that are read, judged and recorded, and what an executemany INSERT makes."""
    write_history(services, supervisor, interruption, rows=rows)
    with tempfile.TemporaryDirectory() as directory:
        os.environ["BATCH_DIRECTORY"] = directory
        import django  # noqa: PLC0415  after the environment is set

        django.setup()
        provider_batch, path = _answered(rows)
        say(f"{path.stat().st_size / 1e6:.1f} MB of output written")
        recorded, memory = _record(provider_batch, path)
    bare = _insert(services.database_url, constrained=True)
    barer = _insert(services.database_url, constrained=False)
    return {
        "rows": rows,
        "recorded_a_second": round(rows / recorded),
        "bare_insert_a_second": round(rows / bare),
        "share": round(bare / recorded, 2),
        "insert_without_foreign_keys_a_second": round(rows / barer),
        "share_of_that": round(barer / recorded, 2),
        **memory.figures(),
    }


def _answered(rows: int) -> tuple[Any, Path]:
    """A batch whose lines were all answered, and the file that says so."""
    from classifier.batches import files  # noqa: PLC0415
    from classifier.batches.cut import choose_lines  # noqa: PLC0415
    from classifier.batches.lines import marks_of  # noqa: PLC0415
    from classifier.batches.plan import plan_batch  # noqa: PLC0415
    from classifier.batches.selection import Selection  # noqa: PLC0415
    from classifier.batches.start import start_batch  # noqa: PLC0415
    from classifier.batches.write_jobs import write_jobs  # noqa: PLC0415
    from classifier.models import Batch, Job, ProviderModel  # noqa: PLC0415

    policy, selection, purpose = activate_next_version(), Selection(), Batch.Purpose.NIGHTLY
    ProviderModel.objects.of_policy(policy)
    plan = plan_batch(purpose=purpose, policy=policy, selection=selection)
    batch = start_batch(
        purpose=purpose, policy=policy, selection=selection, plan=plan, actor_name="bench"
    )
    while not write_jobs(batch_id=batch.pk, through=Job.Through.PROVIDER_BATCH):
        pass
    Batch.objects.filter(pk=batch.pk).update(state=Batch.State.RUNNING)
    provider_batch = choose_lines(batch_id=batch.pk, at_most=rows)
    if provider_batch is None:
        raise DevError("no line was chosen")
    path = files.path_of(provider_batch, files.OUTPUT)
    with path.open("w", encoding="utf-8") as file:
        ids = provider_batch.all_lines.order_by("custom_id").values_list("custom_id", flat=True)
        for number, custom_id in enumerate(ids.iterator()):
            file.write(_answer(custom_id, marks_of(custom_id).ref, number, policy.model))
    return provider_batch, path


def _answer(custom_id: Any, ref: str, number: int, model: str) -> str:
    """One in fifty finds something, as after a change of policy."""
    found = number % 50 == 0
    verdict: dict[str, Any] = {
        "ref": ref,
        "summary": "The author arranges to meet somebody and says nothing else of note.",
        "category": "harassment" if found else "none",
        "confidence": 0.93,
        "quotes": [],
    }
    body = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": json.dumps(verdict)},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 950, "completion_tokens": 60, "total_tokens": 1010},
    }
    line = {
        "id": f"batch_req_{number}",
        "custom_id": str(custom_id),
        "response": {"status_code": 200, "request_id": f"req_{number}", "body": body},
        "error": None,
    }
    return json.dumps(line) + "\n"


def _record(provider_batch: Any, path: Path) -> tuple[float, Watched]:
    from classifier.batches.record import record_file  # noqa: PLC0415
    from classifier.models import ProviderModel  # noqa: PLC0415

    policy = provider_batch.batch.policy_version
    began = time.perf_counter()
    with Watched() as memory:
        counted = record_file(
            provider_batch=provider_batch,
            path=path,
            policy=policy,
            model=ProviderModel.objects.of_policy(policy),
        )
    seconds = time.perf_counter() - began
    say(f"{counted.recorded:,} of {counted.read:,} lines recorded in {seconds:.1f} s")
    return seconds, memory


def _insert(database_url: str, *, constrained: bool) -> float:
    """Seconds of one executemany of the same rows, in one transaction.

    `constrained`: into the table itself, as verdicts of one version more; else into a copy without
    its foreign keys and triggers.
    """
    with psycopg.connect(database_url) as database:
        cursor = database.execute(
            "SELECT * FROM classifier_classification WHERE NOT superseded ORDER BY id"
        )
        names = [column.name for column in cursor.description or []]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        table = "classifier_classification" if constrained else "bare"
        if constrained:
            database.execute(
                "INSERT INTO classifier_policyversion SELECT (json_populate_record(version,"
                " json_build_object('number', number + 1, 'state', 'candidate'))).*"
                " FROM classifier_policyversion AS version ORDER BY number DESC LIMIT 1"
            )
        else:
            database.execute("CREATE TABLE bare (LIKE classifier_classification INCLUDING ALL)")
        database.commit()
        del names[names.index("id")]
        for row in rows:
            row["policy_version_id"] += 1
            row["superseded"] = constrained
            row |= {name: json.dumps(row[name]) for name in JSON_COLUMNS}
        places = ", ".join(f"%({name})s" for name in names)
        began = time.perf_counter()
        with database.cursor() as inserting:
            inserting.executemany(
                f"INSERT INTO {table} ({', '.join(names)}) VALUES ({places})",  # noqa: S608
                rows,
            )
        database.commit()
        seconds = time.perf_counter() - began
    say(f"{len(rows):,} rows inserted into {table} in {seconds:.1f} s")
    return seconds
