"""Going through a batch's open jobs costs what is still to go through, not what is done or left."""

from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from classifier.batches.carry import carry_over
from classifier.batches.ending import cancel_rest
from classifier.models import Batch, PolicyVersion
from classifier.tests.batches import add_jobs, make_batch
from classifier.tests.explaining import nodes_of
from classifier.tests.situations import load_version

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch(policy: PolicyVersion) -> Batch:
    """Under a version with an older one's content."""
    load_version(prompt="Judge anew.")
    batch = make_batch(load_version(prompt=policy.prompt), state="cancelling")
    add_jobs(batch, 600)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE classifier_job")
    return batch


@pytest.mark.parametrize(
    ("go_through", "statement"),
    [
        (lambda batch: carry_over(batch_id=batch.pk), "SELECT job."),
        (lambda batch: cancel_rest(batch, lambda: None), "UPDATE classifier_job"),
    ],
    ids=["carry over", "cancel"],
)
def test_open_jobs_are_taken_in_the_order_of_their_index(
    batch: Batch, go_through: Callable[[Batch], object], statement: str
) -> None:
    with CaptureQueriesContext(connection) as asked, transaction.atomic():
        go_through(batch)
        transaction.set_rollback(True)

    sql = next(query["sql"] for query in asked if query["sql"].strip().startswith(statement))
    nodes = nodes_of(sql, sorts=False)
    assert "job_to_do_of_batch" in [node.get("Index Name") for node in nodes]
    assert "Sort" not in [node["Node Type"] for node in nodes]
