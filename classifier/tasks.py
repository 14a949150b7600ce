"""What the workers run. Thin: the pipeline does the work and never raises to ask for a retry."""

from typing import Any

from celery import shared_task
from celery.signals import task_postrun

from classifier.pipeline import classify_report
from reports.failpoints import Point, hit
from reports.nudge import TASK, Lane


class WorkerExhaustedError(Exception):
    """Stands in for `MemoryError` and `RecursionError`, which would end the whole worker process."""


@task_postrun.connect
def before_acknowledging(**_signal: Any) -> None:
    """The last moment of a task: its outcome is committed and the broker does not know yet."""
    hit(Point.TASK_BEFORE_ACK)


@shared_task(name=TASK)
def classify(*, report_id: int, lane: str) -> str:
    """One nudge. Returns when the outcome is committed; then Celery acknowledges it."""
    try:
        return classify_report(report_id=report_id, lane=Lane(lane))
    except (MemoryError, RecursionError) as error:
        raise WorkerExhaustedError(type(error).__name__) from None
