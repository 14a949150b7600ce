"""How fast a batch is planned: its jobs, written set-wise from history."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dev.bench.history import activate_next_version, write_history
from dev.bench.memory import Watched
from dev.bench.prepared import say

if TYPE_CHECKING:
    from dev.processes import Interruption, Supervisor
    from dev.services import Services


def bench_planning(
    services: Services, supervisor: Supervisor, interruption: Interruption, *, rows: int
) -> dict[str, Any]:
    """Rows a second that `write_jobs` writes, and this process's memory at 1/5 and at the end."""
    write_history(services, supervisor, interruption, rows=rows)
    import django  # noqa: PLC0415  after the environment is set

    django.setup()
    from classifier.batches.plan import plan_batch  # noqa: PLC0415
    from classifier.batches.selection import Selection  # noqa: PLC0415
    from classifier.batches.start import start_batch  # noqa: PLC0415
    from classifier.batches.write_jobs import write_jobs  # noqa: PLC0415
    from classifier.models import Batch, Job  # noqa: PLC0415

    policy, selection = activate_next_version(), Selection()
    purpose = Batch.Purpose.POLICY_MIGRATION
    began = time.perf_counter()
    plan = plan_batch(purpose=purpose, policy=policy, selection=selection)
    planned = time.perf_counter() - began
    say(f"the plan of {plan.reports:,} reports: {planned:.1f} s")
    batch = start_batch(
        purpose=purpose, policy=policy, selection=selection, plan=plan, actor_name="bench"
    )
    began = time.perf_counter()
    with Watched() as memory:
        while not write_jobs(batch_id=batch.pk, through=Job.Through.PROVIDER_BATCH):
            interruption.check()
    seconds = time.perf_counter() - began
    written = Job.objects.filter(batch=batch).count()
    return {
        "rows": written,
        "plan_seconds": round(planned, 1),
        "seconds": round(seconds, 1),
        "rows_a_second": round(written / seconds),
        **memory.figures(),
    }
